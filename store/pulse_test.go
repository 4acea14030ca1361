package store_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// The pulse rises with what changes a count, and with the end of a session.
func TestPulse(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	last := int64(0)
	rises := func(after string, want bool) {
		t.Helper()
		now, err := d.Pulse(d.ctx)
		if err != nil {
			t.Fatal(err)
		}
		if got := now > last; got != want {
			t.Errorf("after %s the pulse went from %d to %d", after, last, now)
		}
		last = now
	}
	rises("an import", true)
	rises("nothing", false)
	d.claim(d.ann, id)
	rises("a claim", true)
	if _, err := d.RenewClaim(d.ctx, d.ann, id); err != nil {
		t.Fatal(err)
	}
	rises("a renewal", false)
	d.first(d.ann, id, judge.Pass)
	rises("a first answer", true)
	d.decide(d.ann, id, store.DecisionInput{Action: store.Adopt})
	rises("a decision", true)
	if err := d.EndSessions(d.ctx, d.ann); err != nil {
		t.Fatal(err)
	}
	rises("a sign-out", true)
}

// A claim is told to its holder, to others and to an auditor, from free to
// decided, and by a number of ids that no single query takes.
func TestClaims(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	ids := []string{"nothing"}
	for i := range 1200 {
		ids = append(ids, fmt.Sprint("no such review ", i))
	}
	ids = append(ids, id)
	tell := func(when string, want map[string]store.ClaimState, holder string, until time.Time) {
		t.Helper()
		claims, err := d.Claims(d.ctx, d.ann, ids)
		if err != nil || len(claims) != 1 {
			t.Fatalf("%s: %d claims, %v; want one", when, len(claims), err)
		}
		c := claims[id]
		got := map[string]store.ClaimState{"ann": c.For(d.ann), "ben": c.For(d.ben), "auditor": c.For(d.auditor)}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", when, diff)
		}
		if c.HolderName != holder || !c.Until.Equal(until) {
			t.Errorf("%s: held by %q until %v, want %q until %v", when, c.HolderName, c.Until, holder, until)
		}
		if all := fmt.Sprintf("%+v", c); strings.Contains(all, "SECRET") || strings.Contains(all, "fail") {
			t.Errorf("%s: the claim tells what was judged: %s", when, all)
		}
		// The desk's own item says the same.
		for _, a := range []store.Actor{d.ann, d.ben, d.auditor} {
			r, err := d.GetReview(d.ctx, a, id)
			if err != nil {
				t.Fatal(err)
			}
			if page := r.Claim(d.clock.Now()).For(a); page != c.For(a) {
				t.Errorf("%s: the desk tells %s %q, the claim %q", when, a.Name, page, c.For(a))
			}
		}
	}
	everybody := func(s store.ClaimState) map[string]store.ClaimState {
		return map[string]store.ClaimState{"ann": s, "ben": s, "auditor": s}
	}
	anns := map[string]store.ClaimState{"ann": store.ClaimYours, "ben": store.ClaimTaken, "auditor": store.ClaimTaken}

	tell("free", everybody(store.ClaimFree), "", time.Time{})
	d.claim(d.ann, id)
	until := d.clock.Now().Add(30 * time.Minute)
	tell("claimed", anns, "ann", until)
	d.clock.add(10 * time.Minute)
	if _, err := d.RenewClaim(d.ctx, d.ann, id); err != nil {
		t.Fatal(err)
	}
	until = d.clock.Now().Add(30 * time.Minute)
	tell("renewed", anns, "ann", until)
	d.clock.add(31 * time.Minute)
	tell("run out", map[string]store.ClaimState{"ann": store.ClaimLapsed, "ben": store.ClaimFree, "auditor": store.ClaimFree}, "ann", until)
	d.claim(d.ben, id)
	d.first(d.ben, id, judge.Pass)
	d.decide(d.ben, id, store.DecisionInput{Action: store.Escalate, ReasonCode: "other", Comment: "c"})
	tell("escalated", everybody(store.ClaimAdjudication), "", time.Time{})
	d.claim(d.lea, id)
	d.first(d.lea, id, judge.Pass)
	d.decide(d.lea, id, store.DecisionInput{Action: store.Adopt})
	tell("decided", everybody(store.ClaimDecided), "", time.Time{})
}

func TestUsersByID(t *testing.T) {
	d := openDesk(t)
	if err := d.EndSessions(d.ctx, d.ben); err != nil {
		t.Fatal(err)
	}
	users, err := d.UsersByID(d.ctx, []string{d.ann.UserID, d.ben.UserID, "nobody"})
	if err != nil || len(users) != 2 {
		t.Fatalf("%d users, %v; want two", len(users), err)
	}
	if users[d.ann.UserID].SessionEpoch != 0 || users[d.ben.UserID].SessionEpoch != 1 || users[d.ben.UserID].Actor() != d.ben {
		t.Errorf("users = %+v", users)
	}
}
