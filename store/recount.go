package store

import (
	"context"
	"maps"
	"slices"

	"github.com/countersign/countersign/judge"
)

// Kept counts are changed in the transaction that changes what they count.
// Whatever changes a verdict, a status, a label, a run, or whether an evaluation
// waits blind notes the trace here. Just before the commit the traces noted are
// read once more, and what each of their evaluations counts as now is compared
// with what its row says it is counted as.

// recounts is what a transaction has noted.
type recounts struct {
	traces map[string]bool
	made   map[string]bool               // traces made here: all about them is in this value
	fresh  map[string]*countedEvaluation // evaluations made here: nothing counts them yet
	labels map[string]bool               // labels that count from here on
	ended  map[string]bool               // labels that counted until here
	// thinned are the traces of ended labels, as their pairs were counted.
	thinned map[tracedJudge]several
	given   map[string]int    // how many, by trace
	joined  map[runTrace]bool // traces added to runs here
	held    map[string]bool   // traces that this transaction has locked
	all     bool              // nothing at all is counted yet
}

type runTrace struct{ run, trace string }

func newRecounts() recounts {
	return recounts{traces: map[string]bool{}, made: map[string]bool{}, fresh: map[string]*countedEvaluation{},
		labels: map[string]bool{}, ended: map[string]bool{}, thinned: map[tracedJudge]several{}, given: map[string]int{}, joined: map[runTrace]bool{}, held: map[string]bool{}}
}

// recount notes that something changed about a trace.
func (t *tx) recount(traceID string) { t.recounts.traces[traceID] = true }

// recountNew notes a new evaluation, queued or refused.
func (t *tx) recountNew(projectID, traceID, evaluationID, judgeName string, status judge.Status) {
	t.recount(traceID)
	t.recounts.fresh[evaluationID] = &countedEvaluation{id: evaluationID, traceID: traceID,
		group: agreementGroup{projectID: projectID, judge: judgeName}, status: status, stored: countedAs{standing: standingPending}}
}

// recountLabel notes a new label.
func (t *tx) recountLabel(traceID, labelID string) {
	t.recount(traceID)
	t.recounts.labels[labelID] = true
	t.recounts.given[traceID]++
}

// recountRun notes a trace that was added to a run.
func (t *tx) recountRun(runID, traceID string) {
	t.recount(traceID)
	t.recounts.joined[runTrace{runID, traceID}] = true
}

// holdNew notes a trace that this transaction makes: nobody else sees it, so it
// need be neither locked nor read once more.
func (t *tx) holdNew(traceID string) {
	t.recounts.held[traceID], t.recounts.made[traceID] = true, true
}

// lockRecounted holds every trace that was noted.
func (t *tx) lockRecounted(ctx context.Context) error {
	return t.lockTraces(ctx, slices.Collect(maps.Keys(t.recounts.traces)))
}

// writeRecounts says of every evaluation of the traces noted what it counts as,
// and by how much that changes the kept counts. The
// order of locks is that of all transactions: traces, evaluations, then counts
// in the order of their keys.
func (t *tx) writeRecounts(ctx context.Context) error {
	if len(t.recounts.traces) == 0 {
		return nil
	}
	if err := t.lockRecounted(ctx); err != nil {
		return err
	}
	traces := slices.Sorted(maps.Keys(t.recounts.traces))
	if err := inBatches(traces, func(batch []string) error {
		known := slices.DeleteFunc(slices.Clone(batch), func(id string) bool { return t.made[id] })
		evaluations, err := t.readCounted(ctx, known)
		if err != nil {
			return err
		}
		evaluations = append(evaluations, t.madeCounted(batch)...)
		for _, e := range evaluations {
			t.counts.addCell(e)
			t.counts.addSlices(e)
			t.counts.addCluster(e)
			t.counts.noteTrust(e)
		}
		if err := t.addRuns(ctx, known, evaluations); err != nil {
			return err
		}
		if err := t.addPairs(ctx, batch, evaluations); err != nil {
			return err
		}
		return t.writeCounted(ctx, evaluations)
	}); err != nil {
		return err
	}
	t.addTraces()
	return nil
}

// deltas are the changes to counts that one transaction makes.
type deltas struct {
	cells    map[int64]*cellDelta
	slices   map[sliceKey]int
	clusters map[int64]*clusterDelta
	pairs    map[pairKey]int
	runs     map[runKey]int
	reasons  map[reasonKey]int
	days     map[dayMeasure]int64
	costs    map[costKey]costSum
	trust    map[projectJudge]bool
	drift    map[driftDay]driftSum
}

func newDeltas() *deltas {
	return &deltas{cells: map[int64]*cellDelta{}, slices: map[sliceKey]int{}, clusters: map[int64]*clusterDelta{}, pairs: map[pairKey]int{}, runs: map[runKey]int{},
		reasons: map[reasonKey]int{}, days: map[dayMeasure]int64{}, costs: map[costKey]costSum{}, trust: map[projectJudge]bool{},
		drift: map[driftDay]driftSum{}}
}

func (d *deltas) write(ctx context.Context, t *tx) error {
	if err := d.writeCells(ctx, t); err != nil {
		return err
	}
	if err := d.writeSlices(ctx, t); err != nil {
		return err
	}
	if err := d.writeClusters(ctx, t); err != nil {
		return err
	}
	if err := d.writePairs(ctx, t); err != nil {
		return err
	}
	if err := d.writeRuns(ctx, t); err != nil {
		return err
	}
	if err := d.writeReasons(ctx, t); err != nil {
		return err
	}
	if err := d.writeDrift(ctx, t); err != nil {
		return err
	}
	if err := d.writeDays(ctx, t); err != nil {
		return err
	}
	if err := d.writeCosts(ctx, t); err != nil {
		return err
	}
	return d.writeTrust(ctx, t)
}
