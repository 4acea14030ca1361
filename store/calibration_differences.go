package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"slices"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
)

// Difference is an evaluation whose judge said something else than people.
type Difference struct {
	EvaluationID   string
	TraceID        string // the file's id
	Domain, Stakes string
	Judge, Human   calibration.Answer
	Score          *float64
	At             time.Time // of the newest label
}

// Differences are the evaluations of one judge, model and version whose blind or
// imported label differs from the judge's answer: first what the judge passed and
// people failed, high stakes first, then the newest; limit in 1 to 100. What waits
// blind is left out. Roles: those of CalibrationCounts.
//
// It reads the newest of each cell, by its part of an index, not all labels.
func (s *Store) Differences(ctx context.Context, a Actor, project, judgeName, model, version string, limit int) (found []Difference, err error) {
	defer wrap(&err, "read where judge %q and people differ", judgeName)
	if err := s.authorise(ctx, a, readers, "calibration.read", "judge:"+judgeName); err != nil {
		return nil, err
	}
	if limit < 1 || limit > 100 {
		return nil, invalid("limit", "is %d: it lies between 1 and 100", limit)
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return nil, err
	}
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	cells, err := keptCells(ctx, read, p.ID, judgeName)
	if err != nil {
		return nil, err
	}
	byGravity := map[int][]keptCell{}
	for _, c := range cells {
		if c.model == model && c.version == version && c.labelled && !c.waiting && differs(c.cell) {
			byGravity[gravity(c.cell)] = append(byGravity[gravity(c.cell)], c)
		}
	}
	for g := mostGrave; g >= 0 && len(found) < limit; g-- {
		var same []Difference
		for _, c := range byGravity[g] {
			some, err := newestOf(ctx, read, c, limit)
			if err != nil {
				return nil, err
			}
			same = append(same, some...)
		}
		slices.SortStableFunc(same, func(a, b Difference) int {
			return cmp.Or(oneIf(b.Stakes == string(judge.HighStakes))-oneIf(a.Stakes == string(judge.HighStakes)), b.At.Compare(a.At), cmp.Compare(a.EvaluationID, b.EvaluationID))
		})
		found = append(found, same[:min(len(same), limit-len(found))]...)
	}
	return found, nil
}

// differs says whether a cell is of the headline and its two answers are not the
// same: by label where both have one, else by verdict.
func differs(c calibration.Cell) bool {
	switch {
	case c.Visible || c.Human.Abstained:
		return false
	case c.Human.Label != "" && c.Judge.Label != "":
		return c.Human.Label != c.Judge.Label
	}
	return c.Human.Verdict != c.Judge.Verdict
}

// mostGrave is the gravity of a judge that passes what people fail.
const mostGrave = 3

// gravity orders differences by what they cost: a pass that should be a fail, a
// fail that should be a pass, one step between, another label of one verdict.
func gravity(c calibration.Cell) int {
	switch {
	case c.Judge.Verdict == judge.Pass && c.Human.Verdict == judge.Fail:
		return mostGrave
	case c.Judge.Verdict == judge.Fail && c.Human.Verdict == judge.Pass:
		return 2
	case c.Judge.Verdict != c.Human.Verdict:
		return 1
	}
	return 0
}

func newestOf(ctx context.Context, q querier, c keptCell, limit int) ([]Difference, error) {
	return collect(ctx, q, func(r *sql.Rows, d *Difference) error {
		var score sql.NullFloat64
		var at sql.NullInt64
		err := r.Scan(&d.EvaluationID, &d.TraceID, &d.Domain, &d.Stakes, &score, &at)
		if score.Valid {
			d.Score = &score.Float64
		}
		d.Judge, d.Human, d.At = c.cell.Judge, c.cell.Human, labelledAt(at)
		return err
	}, `
SELECT e.id, t.external_id, t.domain, t.stakes, e.score, e.labelled_us FROM evaluations e JOIN traces t ON t.id = e.trace_id
WHERE e.cell = ? AND e.labelled_us IS NOT NULL ORDER BY e.labelled_us DESC, e.id LIMIT ?`, c.id, limit)
}
