package store

import (
	"context"
	"maps"
)

// owed is what a write transaction writes last of all, just before its commit:
// the kept counts, the tallies, and the events of the audit chain. All
// transactions want the same few rows of these, so nobody holds them for long,
// and those who share a commit write them once.
type owed struct {
	counts  *deltas
	tallies map[tallyKey]int
	events  []event
}

func newOwed() owed { return owed{counts: newDeltas(), tallies: map[tallyKey]int{}} }

// add takes over what another transaction owes.
func (o *owed) add(other owed) {
	o.counts.add(other.counts)
	for k, n := range other.tallies {
		o.tallies[k] += n
	}
	o.events = append(o.events, other.events...)
}

// pay writes what the transaction owes.
func (t *tx) pay(ctx context.Context) error {
	if err := t.counts.write(ctx, t); err != nil {
		return err
	}
	if err := t.writeTallies(ctx); err != nil {
		return err
	}
	return t.writeEvents(ctx)
}

// add sums two sets of changes.
func (d *deltas) add(other *deltas) {
	for id, c := range other.cells {
		sum := d.cell(id)
		if sum.n += c.n; sum.key == nil {
			sum.key = c.key
		}
	}
	for k, n := range other.slices {
		d.slices[k] += n
	}
	for id, c := range other.clusters {
		sum := d.clusters[id]
		if sum == nil {
			sum = &clusterDelta{group: c.group}
			d.clusters[id] = sum
		}
		sum.free, sum.waiting = sum.free+c.free, sum.waiting+c.waiting
	}
	for k, n := range other.pairs {
		d.pairs[k] += n
	}
	for k, n := range other.runs {
		d.runs[k] += n
	}
	d.addCosts(other.costs)
	for k, n := range other.days {
		d.days[k] += n
	}
	for k, n := range other.drift {
		d.drift[k] = d.drift[k].plus(n, 1)
	}
	for k, n := range other.reasons {
		d.reasons[k] += n
	}
	maps.Copy(d.trust, other.trust)
}
