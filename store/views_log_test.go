package store_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign/countersign/store"
)

func TestWhoLooked(t *testing.T) {
	d := openDesk(t)
	e := d.evaluation(d.one())
	start := d.clock.Now().Truncate(10 * time.Minute)
	d.Look(store.Operator("nobody"), e, store.SawDesk, false)
	for range 3 { // the same person, page and ten minutes are one row
		d.Look(d.ann, e, store.SawDesk, true)
		d.must(d.WriteLooks(d.ctx))
	}
	d.Look(d.ann, e, store.SawDesk, false) // it was revealed
	d.Look(d.lea, e, store.SawEvaluation, true)
	d.clock.add(10 * time.Minute)
	d.Look(d.ann, e, store.SawDesk, false)
	d.must(d.WriteLooks(d.ctx))
	d.must(d.WriteLooks(d.ctx)) // nothing waits
	got, err := d.Seen(d.ctx, d.auditor, e, 0, store.MaxSeen)
	if err != nil {
		t.Fatal(err)
	}
	ann := store.Glance{EvaluationID: e, UserID: d.ann.UserID, UserName: "ann", What: store.SawDesk}
	later, sealed, open, lea := ann, ann, ann, ann
	later.At, sealed.At, open.At, lea.At = start.Add(10*time.Minute), start, start, start
	sealed.Sealed, lea.Sealed = true, true
	lea.UserID, lea.UserName, lea.What = d.lea.UserID, "lea", store.SawEvaluation
	byAll := cmpopts.SortSlices(func(x, y store.Glance) bool {
		return x.UserName < y.UserName || x.UserName == y.UserName && !x.Sealed && y.Sealed
	})
	if diff := cmp.Diff([]store.Glance{later, sealed, open, lea}, got, byAll); diff != "" {
		t.Errorf("seen (-want +got):\n%s", diff)
	}
	if got[0].At != later.At {
		t.Errorf("the newest is not first: %+v", got)
	}
	_, err = d.Seen(d.ctx, d.ann, e, 0, store.MaxSeen)
	wantErr(t, "asked by a reviewer", err, store.ErrForbidden)
	d.clock.add(401 * 24 * time.Hour)
	if _, err := d.DropLeftovers(d.ctx); err != nil {
		t.Fatal(err)
	}
	if n := d.number(`SELECT count(*) FROM views_log`); n != 0 {
		t.Errorf("%d rows are left after 401 days", n)
	}
}

// TestLooksRace: nothing is lost or written twice when pages are shown while it is
// written.
func TestLooksRace(t *testing.T) {
	d := openDesk(t)
	var evaluations []string
	for _, id := range d.put(numbered("t", 20)...) {
		evaluations = append(evaluations, d.evaluation(id))
	}
	var wg sync.WaitGroup
	for _, a := range []store.Actor{d.ann, d.ben, d.lea, d.luis} {
		wg.Go(func() {
			for _, e := range evaluations {
				d.Look(a, e, store.SawDesk, true)
			}
		})
		wg.Go(func() {
			if err := d.WriteLooks(context.WithoutCancel(d.ctx)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	d.must(d.WriteLooks(d.ctx))
	if n := d.number(`SELECT count(*) FROM views_log`); n != 80 {
		t.Errorf("%d rows, want 80", n)
	}
}
