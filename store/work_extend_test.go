package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store/storetest"
)

func ids(work []judge.Work) []string {
	var all []string
	for _, w := range work {
		all = append(all, w.EvaluationID)
	}
	return all
}

// TestClaimsAreExtended: what is extended is nobody else's when the first lease
// would have ended; what was overtaken or stored is given back as lost.
func TestClaimsAreExtended(t *testing.T) {
	ctx, clock := context.Background(), storetest.NewClock()
	s := storetest.Open(t, clock)
	storetest.Import(t, s, storetest.Items(0, 3))
	held := claim(t, s, "first", 3, time.Minute)
	clock.Advance(50 * time.Second)
	lost, err := s.ExtendWork(ctx, held[:2], time.Minute)
	if err != nil || len(lost) != 0 {
		t.Fatalf("while held: lost %v, %v", ids(lost), err)
	}
	clock.Advance(50 * time.Second) // the third claim is over, the others are not
	taken := claim(t, s, "second", 3, time.Minute)
	if diff := cmp.Diff(ids(held[2:]), ids(taken)); diff != "" {
		t.Errorf("the second worker took (-want +got):\n%s", diff)
	}
	finish(t, s, storetest.Accepted(held[0]))
	if lost, err = s.ExtendWork(ctx, held, time.Minute); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{held[0].EvaluationID, held[2].EvaluationID}, ids(lost)); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	if lost, err = s.ExtendWork(ctx, taken, time.Minute); err != nil || len(lost) != 0 {
		t.Errorf("the second worker lost %v, %v", ids(lost), err)
	}
	// Late, and not overtaken: the claim goes on.
	clock.Advance(time.Hour)
	if lost, err = s.ExtendWork(ctx, held[1:2], time.Minute); err != nil || len(lost) != 0 {
		t.Errorf("late but not overtaken: lost %v, %v", ids(lost), err)
	}
	if got := claim(t, s, "third", 3, time.Minute); len(got) != 1 || got[0].EvaluationID != held[2].EvaluationID {
		t.Errorf("a third worker took %v, want only what nobody extended", ids(got))
	}
	if _, err := s.ExtendWork(ctx, held, 0); err == nil {
		t.Error("a lease of nothing is no error")
	}
}
