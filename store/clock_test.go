package store_test

import (
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// TestAClockThatJumps: whatever the clock does, nothing is lost, nothing is
// stored twice, nobody is locked out, and the chain holds.
func TestAClockThatJumps(t *testing.T) {
	for _, test := range []struct {
		name string
		jump time.Duration
		// A clock put forward ends every lease; one put back must not make the
		// claims from before last for years.
		free bool
	}{
		{"an hour forward", time.Hour, true},
		{"ten years forward", 10 * 365 * 24 * time.Hour, true},
		{"back by a minute", -time.Minute, false},
		{"back by ten years", -10 * 365 * 24 * time.Hour, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := openDesk(t)
			d.blind("never")
			id := d.put(judged{id: "one"})["one"]
			d.claim(d.ann, id)
			storetest.Import(t, d.Store, storetest.Items(0, 1)) // its judge is not known here: it stays queued
			work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "early", N: 10, Lease: 15 * time.Minute})
			if err != nil || len(work) != 1 {
				t.Fatalf("%d evaluations claimed, error %v", len(work), err)
			}
			d.clock.add(test.jump)

			_, err = d.ClaimReview(d.ctx, d.ben, id)
			if free := err == nil; free != test.free {
				t.Errorf("the item is free: %t (%v), want %t", free, err, test.free)
			}
			again, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "late", N: 10, Lease: 15 * time.Minute})
			if free := len(again) == 1; err != nil || free != test.free {
				t.Errorf("the work is free: %t (%v), want %t", free, err, test.free)
			}
			holder, other := d.ann, d.ben
			if test.free {
				holder, other = d.ben, d.ann
				work = again
			}
			if _, err := d.Decide(d.ctx, other, id, store.DecisionInput{Action: store.Confirm}); err == nil {
				t.Error("who does not hold the item decided it")
			}
			d.decide(holder, id, store.DecisionInput{Action: store.Confirm})
			for range 2 { // the second time its fence is stale
				if err := d.FinishWork(d.ctx, []judge.Finished{storetest.Accepted(work[0])}); err != nil {
					t.Fatal(err)
				}
			}
			if n := d.number(`SELECT count(*) FROM attempts WHERE evaluation_id = ?`, work[0].EvaluationID); n != 1 {
				t.Errorf("%d attempts stored, want 1", n)
			}
			if v, err := d.VerifyAudit(d.ctx, store.Operator("test")); err != nil || v.Problem != "" {
				t.Errorf("audit chain: %q, %v", v.Problem, err)
			}
		})
	}
}

// TestTheDatabasesClockCounts: on PostgreSQL two servers whose own clocks
// differ agree on who holds what, because they ask the database.
func TestTheDatabasesClockCounts(t *testing.T) {
	if !storetest.OnPostgres() {
		t.Skip("on SQLite every process runs on the machine that has the file")
	}
	address := storetest.Address(t)
	s, err := store.Open(t.Context(), store.Options{URL: address})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.EnsureProject(t.Context(), storetest.Operator, store.DefaultProject); err != nil {
		t.Fatal(err)
	}
	var written, now time.Time
	if err := storetest.Raw(t, address).QueryRow(`SELECT max(at), now() AT TIME ZONE 'UTC' FROM audit_events`).Scan(&written, &now); err != nil {
		t.Fatal(err)
	}
	if d := now.Sub(written); d < 0 || d > time.Minute {
		t.Errorf("an event was written at %s by the store, and the database says %s", written, now)
	}
}
