package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/judge/calibration/threshold"
)

// MostScoredLabels is how many labels are looked at one by one. Of more, a random part
// is taken that stays the same: by the ends of the ids of traces, which are random.
const MostScoredLabels = 10_000

// ScoredLabels are the blind and imported labels of one judge, model and version
// beside the judge's score, with the counts that they are part of.
type ScoredLabels struct {
	Counts calibration.Counts
	Labels []threshold.Label
	// Judged are evaluations by verdict, in the order of threshold.Label.Verdict.
	Judged []int
	// All is how many labels there are; more than Labels where a part was taken.
	All int
	// Unsure answers of people were neither pass nor fail, or none. They are left out.
	Unsure int
	// UnknownChance is how many labels do not say with which chance they were drawn.
	UnknownChance int
}

// scoredVerdicts is the order of ScoredLabels.Judged.
var scoredVerdicts = []judge.Verdict{judge.Pass, judge.Borderline, judge.Fail}

// ScoredLabels reads the labels of one judge, model and prompt version beside the
// scores. What waits blind is left out for who may decide. The chance of a label is
// as calibration counts it, later draws included. ErrNotFound: nobody labelled
// anything of this judge, model and version. Roles: those of CalibrationCounts.
func (s *Store) ScoredLabels(ctx context.Context, a Actor, project, judgeName, model, version string) (l ScoredLabels, err error) {
	defer wrap(&err, "read the labels of judge %q beside its scores", judgeName)
	p, scales, err := s.calibrated(ctx, a, project, judgeName)
	if err != nil {
		return l, err
	}
	if len(scales) != 1 {
		return l, fmt.Errorf("project %s has no judge %q: %w", p.Name, judgeName, ErrNotFound)
	}
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	found, err := keptAgreement(ctx, read, a, p.ID, judgeName)
	if err != nil {
		return l, err
	}
	counts := found.counts(scales[0], nil)
	i := slices.IndexFunc(counts, func(c calibration.Counts) bool { return c.Model == model && c.PromptVersion == version })
	if i < 0 {
		return l, fmt.Errorf("judge %s has nothing of model %q and version %q: %w", judgeName, model, version, ErrNotFound)
	}
	l.Counts = counts[i]
	for _, v := range scoredVerdicts {
		n := 0
		for _, j := range l.Counts.Judged {
			if j.Verdict == v {
				n += j.N
			}
		}
		l.Judged = append(l.Judged, n)
	}
	cells, err := keptCells(ctx, read, p.ID, judgeName)
	if err != nil {
		return l, err
	}
	return l, l.read(ctx, read, a, cells)
}

// read reads the rows of the cells that count.
func (l *ScoredLabels) read(ctx context.Context, q querier, a Actor, cells []keptCell) error {
	type way struct {
		stratum     string
		probability float64
	}
	strata, of := map[way]int{}, map[int64]threshold.Label{}
	var ids []any
	slices.SortFunc(cells, func(x, y keptCell) int { return compareCounted(x.countedGroup, y.countedGroup) })
	for _, c := range cells {
		if c.model != l.Counts.Model || c.version != l.Counts.PromptVersion || !c.labelled || c.cell.Visible || c.waiting && a.MayDecide() {
			continue
		}
		verdict := slices.Index(scoredVerdicts, c.cell.Judge.Verdict)
		if c.cell.Human.Abstained || verdict < 0 || c.cell.Human.Verdict != judge.Pass && c.cell.Human.Verdict != judge.Fail {
			l.Unsure += c.cell.N
			continue
		}
		w := way{c.stratum, c.probability.Float64}
		if _, known := strata[w]; !known {
			strata[w] = len(strata)
		}
		if w.probability <= 0 {
			l.UnknownChance += c.cell.N
		}
		of[c.id] = threshold.Label{Pass: c.cell.Human.Verdict == judge.Pass, Probability: w.probability, Stratum: strata[w], Verdict: verdict}
		ids = append(ids, c.id)
		l.All += c.cell.N
	}
	part, args := partOfTraces("e.trace_id", MostScoredLabels, l.All)
	for batch := range slices.Chunk(ids, batchSize) {
		rows, err := collect(ctx, q, func(r *sql.Rows, v *threshold.Label) error {
			var cell, cluster int64
			var trace string
			var score sql.NullFloat64
			var critical bool
			if err := r.Scan(&cell, &score, &critical, &cluster, &trace); err != nil {
				return err
			}
			*v = of[cell]
			v.Score, v.Fixed, v.Cluster = score.Float64, critical || !score.Valid, uint64(cluster)
			if cluster == 0 {
				h := fnv.New64a()
				h.Write([]byte(trace))
				v.Cluster = h.Sum64()
			}
			return nil
		}, `
SELECT e.cell, e.score, e.critical, e.cluster_key, e.trace_id FROM evaluations e
WHERE e.cell IN (`+placeholders(len(batch))+`) AND e.labelled_us IS NOT NULL`+part, append(slices.Clone(batch), args...)...)
		if err != nil {
			return err
		}
		l.Labels = append(l.Labels, rows...)
	}
	return nil
}

// idDigits are the last characters of ids, in their order (Crockford's base 32).
const idDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// partOfTraces is a condition that leaves about most of all rows: those whose trace's
// id ends below a bound. It is empty where all fit.
func partOfTraces(traceID string, most, all int) (sql string, args []any) {
	if all <= most {
		return "", nil
	}
	n := len(idDigits)
	bound := int(math.Ceil(float64(n*n) * float64(most) / float64(all)))
	var below []string
	for _, end := range []int{bound / n, bound % n} {
		below = append(below, string(idDigits[min(end, n-1)]))
	}
	return ` AND substr(` + traceID + `, length(` + traceID + `) - 1, 2) < ?`, []any{strings.Join(below, "")}
}

// Usable gives the labels with the chances that figures of all work weigh them by, or
// says why there are no such figures: as calibration does.
func (l ScoredLabels) Usable() (labels []threshold.Label, refused string, err error) {
	report, err := calibration.Compose(l.Counts)
	if err != nil {
		return nil, "", err
	}
	if refused := report.Population.Refused; refused != "" {
		return nil, refused, nil
	}
	labels = slices.Clone(l.Labels)
	if l.UnknownChance > 0 { // everything that was judged has an answer: no chance was left out
		for i := range labels {
			labels[i].Probability = 1
		}
	}
	return labels, "", nil
}
