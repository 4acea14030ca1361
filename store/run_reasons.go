package store

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"

	"github.com/countersign/countersign/judge"
)

// reasonBits gives each reason its bit in evaluations.reasons: the first is 1,
// the next 2. The order is that of stored rows: new ones are added at the end.
var reasonBits = []string{
	judge.ReasonCriticalError, judge.ReasonJudgeFailed, judge.ReasonInvalidOutput, judge.ReasonMisattribution,
	judge.ReasonSubstantiveDifference, judge.ReasonIncompleteReport, judge.ReasonInconsistentOutput,
	judge.ReasonBelowThreshold, judge.ReasonAmbiguousScore, judge.ReasonUncitedClaims, judge.ReasonJudgeDisagreement,
	judge.ReasonUntrustedJudge, judge.ReasonRequested, judge.ReasonBoundaryAudit, judge.ReasonRandomAudit,
}

// reasonMask is the bits of reasons.
func reasonMask(reasons []judge.Reason) (mask int) {
	for _, r := range reasons {
		if i := slices.Index(reasonBits, r.Code); i >= 0 {
			mask |= 1 << i
		}
	}
	return mask
}

// reasonCodes are the codes of bits.
func reasonCodes(mask int) (codes []string) {
	for i, code := range reasonBits {
		if mask&(1<<i) != 0 {
			codes = append(codes, code)
		}
	}
	return codes
}

// reasonKey is one number of a run's reasons. Code is waitingBlind for the
// evaluations themselves that wait blind.
type reasonKey struct {
	run, judge, code string
	sealed           bool
}

// waitingBlind stands where a code stands, and counts an evaluation once.
const waitingBlind = ""

// addReasonsOf moves an evaluation from the reasons that a run counts it for to
// those it has.
func (d *deltas) addReasonsOf(run string, e *countedEvaluation, countedBefore bool) {
	if countedBefore {
		for _, code := range e.was.reasonCodes() {
			d.reasons[reasonKey{run, e.group.judge, code, e.was.sealed}]--
		}
	}
	for _, code := range e.is.reasonCodes() {
		d.reasons[reasonKey{run, e.group.judge, code, e.is.sealed}]++
	}
}

// reasonCodes are what a run counts the evaluation for.
func (c countedAs) reasonCodes() []string {
	codes := reasonCodes(c.reasons)
	if c.sealed {
		codes = append(codes, waitingBlind)
	}
	return codes
}

func (d *deltas) writeReasons(ctx context.Context, t *tx) error {
	for _, k := range slices.SortedFunc(maps.Keys(d.reasons), func(a, b reasonKey) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.judge, b.judge), cmp.Compare(a.code, b.code), compareBool(a.sealed, b.sealed))
	}) {
		if d.reasons[k] == 0 {
			continue
		}
		if _, err := t.exec(ctx, `
INSERT INTO run_reasons (run_id, judge, code, sealed, n) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (run_id, judge, code, sealed) DO UPDATE SET n = run_reasons.n + excluded.n`, k.run, k.judge, k.code, k.sealed, d.reasons[k]); err != nil {
			return err
		}
	}
	return nil
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// RunReason counts the evaluations of a judge in a run that have a reason. Code
// is empty for those that wait blind: each is counted once, and in no other line.
type RunReason struct {
	Judge, Code string
	N           int
}

// RunReasons counts a run's evaluations by reason, also of those that people
// have settled: by judge, then the most urgent reason first. An evaluation counts
// once for each of its reasons. To somebody who may decide, what waits blind has
// no reasons, as how many an evaluation has tells of its verdict: it is counted
// once, with no code, also where they have answered it. Roles: all.
func (s *Store) RunReasons(ctx context.Context, a Actor, project, run string) (_ []RunReason, err error) {
	defer wrap(&err, "count the reasons of run %q of project %q", run, project)
	if err := s.authorise(ctx, a, everyone, "run.read", "project:"+project); err != nil {
		return nil, err
	}
	id, err := s.runID(ctx, project, run)
	if err != nil {
		return nil, err
	}
	told := `code <> ''`
	if a.MayDecide() {
		told = `(code = '' OR NOT sealed)`
	}
	reasons, err := collect(ctx, s.reader, func(r *sql.Rows, v *RunReason) error { return r.Scan(&v.Judge, &v.Code, &v.N) },
		`SELECT judge, code, sum(n) FROM run_reasons WHERE run_id = ? AND `+told+` GROUP BY judge, code HAVING sum(n) <> 0`, id)
	slices.SortFunc(reasons, func(a, b RunReason) int {
		return cmp.Or(cmp.Compare(a.Judge, b.Judge), compareBool(a.Code == "", b.Code == ""),
			cmp.Compare(judge.ReasonRank(a.Code), judge.ReasonRank(b.Code)), cmp.Compare(a.Code, b.Code))
	})
	return reasons, err
}

// runID finds a run by the names of its project and its own.
func (s *Store) runID(ctx context.Context, project, run string) (id string, err error) {
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return "", err
	}
	err = s.reader.QueryRowContext(ctx, `SELECT id FROM runs WHERE project_id = ? AND name = ?`, p.ID, run).Scan(&id)
	return id, notFound(err, "run %q", run)
}
