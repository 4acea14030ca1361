package store

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
)

// Standings: as what an evaluation counts in its runs.
const (
	standingPending  = "pending" // queued or being judged
	standingRefused  = "refused"
	standingInReview = "in_review"
	standingFailed   = "failed"  // in review, because its judge failed for good
	standingResult   = "result:" // and the verdict of the result
	standingOther    = "other"
	standingTraces   = "traces"  // of judge "": the traces of a run
	standingPlanned  = "planned" // of judge "": those of them that have an evaluation
)

type runKey struct{ run, judge, standing string }

// addRuns moves evaluations from the standing they had in their runs to the one
// they have. traces are those that were there before.
func (t *tx) addRuns(ctx context.Context, traces []string, evaluations []*countedEvaluation) error {
	evaluations = slices.DeleteFunc(slices.Clone(evaluations), func(e *countedEvaluation) bool { return e.shadowOf != "" }) // they are in no run's counts
	moved := map[string]bool{}
	for _, e := range evaluations {
		if e.was.standing != e.is.standing || e.was.reasons != e.is.reasons || e.was.sealed != e.is.sealed {
			moved[e.traceID] = true
		}
	}
	for j := range t.recounts.joined {
		moved[j.trace] = true
	}
	traces = slices.DeleteFunc(slices.Clone(traces), func(id string) bool { return !moved[id] && !t.recounts.all })
	runs, err := t.runsOfKnown(ctx, traces)
	if err != nil {
		return err
	}
	for v := range t.recounts.joined {
		if t.made[v.trace] {
			runs[v.trace] = append(runs[v.trace], v)
		}
	}
	planned := map[string]bool{} // traces with an evaluation; true: with one that was counted before
	for _, e := range evaluations {
		counted := e.was.standing != ""
		planned[e.traceID] = planned[e.traceID] || counted
		for _, v := range runs[e.traceID] {
			before := counted && !t.recounts.joined[v]
			if before {
				t.counts.runs[runKey{v.run, e.group.judge, e.was.standing}]--
			}
			t.counts.runs[runKey{v.run, e.group.judge, e.is.standing}]++
			t.counts.addReasonsOf(v.run, e, before)
		}
	}
	for trace, counted := range planned {
		for _, v := range runs[trace] {
			if !counted || t.recounts.joined[v] {
				t.counts.runs[runKey{v.run, "", standingPlanned}]++
			}
		}
	}
	return nil
}

// addTraces counts the traces that were added to runs.
func (t *tx) addTraces() {
	for v := range t.recounts.joined {
		t.counts.runs[runKey{v.run, "", standingTraces}]++
	}
}

// runsOfKnown reads the runs that hold the traces.
func (t *tx) runsOfKnown(ctx context.Context, traces []string) (map[string][]runTrace, error) {
	runs := map[string][]runTrace{}
	if len(traces) == 0 {
		return runs, nil
	}
	found, err := collect(ctx, t, func(r *sql.Rows, v *runTrace) error { return r.Scan(&v.run, &v.trace) }, `
SELECT run_id, trace_id FROM run_traces WHERE trace_id IN (`+placeholders(len(traces))+`)`, anys(traces)...)
	for _, v := range found {
		runs[v.trace] = append(runs[v.trace], v)
		if t.recounts.all {
			t.recounts.joined[v] = true
		}
	}
	return runs, err
}

func (d *deltas) writeRuns(ctx context.Context, t *tx) error {
	for _, k := range slices.SortedFunc(maps.Keys(d.runs), func(a, b runKey) int {
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.judge, b.judge), cmp.Compare(a.standing, b.standing))
	}) {
		if d.runs[k] == 0 {
			continue
		}
		if _, err := t.exec(ctx, `
INSERT INTO run_counts (run_id, judge, standing, n) VALUES (?, ?, ?, ?)
ON CONFLICT (run_id, judge, standing) DO UPDATE SET n = run_counts.n + excluded.n`, k.run, k.judge, k.standing, d.runs[k]); err != nil {
			return err
		}
	}
	return nil
}
