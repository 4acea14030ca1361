package store

import (
	"context"
	"maps"
	"slices"
)

// Kept counts are changed in the transaction that changes what they count.
// Whatever changes a verdict, a status, a label, a run, or whether an evaluation
// waits blind notes the trace here. Just before the commit the traces noted are
// read once more, and what each of their evaluations counts as now is compared
// with what its row says it is counted as.

// recounts is what a transaction has noted.
type recounts struct {
	traces map[string]bool
	fresh  map[string]bool   // evaluations made here: nothing counts them yet
	labels map[string]bool   // labels added here
	joined map[runTrace]bool // traces added to runs here
	held   map[string]bool   // traces that this transaction has locked
	all    bool              // nothing at all is counted yet
}

type runTrace struct{ run, trace string }

func newRecounts() recounts {
	return recounts{traces: map[string]bool{}, fresh: map[string]bool{}, labels: map[string]bool{},
		joined: map[runTrace]bool{}, held: map[string]bool{}}
}

// recount notes that something changed about a trace.
func (t *tx) recount(traceID string) { t.recounts.traces[traceID] = true }

// recountNew notes a new evaluation.
func (t *tx) recountNew(traceID, evaluationID string) {
	t.recount(traceID)
	t.recounts.fresh[evaluationID] = true
}

// recountLabel notes a new label.
func (t *tx) recountLabel(traceID, labelID string) {
	t.recount(traceID)
	t.recounts.labels[labelID] = true
}

// recountRun notes a trace that was added to a run.
func (t *tx) recountRun(runID, traceID string) {
	t.recount(traceID)
	t.recounts.joined[runTrace{runID, traceID}] = true
}

// holdNew notes a trace that this transaction made: nobody else sees it, so it
// need not be locked.
func (t *tx) holdNew(traceID string) { t.recounts.held[traceID] = true }

// lockRecounted holds every trace that was noted.
func (t *tx) lockRecounted(ctx context.Context) error {
	return t.lockTraces(ctx, slices.Collect(maps.Keys(t.recounts.traces)))
}

// writeRecounts brings every kept count in step with the traces noted. The
// order of locks is that of all transactions: traces, evaluations, then counts
// in the order of their keys.
func (t *tx) writeRecounts(ctx context.Context) error {
	if len(t.recounts.traces) == 0 {
		return nil
	}
	if err := t.lockRecounted(ctx); err != nil {
		return err
	}
	d := newDeltas()
	traces := slices.Sorted(maps.Keys(t.recounts.traces))
	if err := inBatches(traces, func(batch []string) error {
		evaluations, err := t.readCounted(ctx, batch)
		if err != nil {
			return err
		}
		for _, e := range evaluations {
			d.addCell(e)
			d.addCluster(e)
		}
		if err := t.addRuns(ctx, d, batch, evaluations); err != nil {
			return err
		}
		if err := t.addPairs(ctx, d, batch, evaluations); err != nil {
			return err
		}
		return t.writeCounted(ctx, evaluations)
	}); err != nil {
		return err
	}
	return d.write(ctx, t)
}

// deltas are the changes to counts that one transaction makes.
type deltas struct {
	cells    map[int64]*cellDelta
	clusters map[int64]*clusterDelta
	pairs    map[pairKey]int
	runs     map[runKey]int
}

func newDeltas() *deltas {
	return &deltas{cells: map[int64]*cellDelta{}, clusters: map[int64]*clusterDelta{}, pairs: map[pairKey]int{}, runs: map[runKey]int{}}
}

func (d *deltas) write(ctx context.Context, t *tx) error {
	if err := d.writeCells(ctx, t); err != nil {
		return err
	}
	if err := d.writeClusters(ctx, t); err != nil {
		return err
	}
	if err := d.writePairs(ctx, t); err != nil {
		return err
	}
	return d.writeRuns(ctx, t)
}
