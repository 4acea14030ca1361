package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// Fifty people claim from two hundred items at once: everybody gets items and
// no item is held by two.
func TestFiftyClaimAtOnce(t *testing.T) {
	d := openDesk(t)
	d.put(numbered("t", 200)...)
	var people []store.Actor
	for i := range 50 {
		people = append(people, d.person(fmt.Sprintf("p%02d", i), store.Reviewer))
	}
	var mu sync.Mutex
	heldBy := map[string]string{}
	var wg sync.WaitGroup
	for _, a := range people {
		wg.Go(func() {
			for range 4 {
				r, err := d.ClaimNext(context.WithoutCancel(d.ctx), a, "default", store.ClaimFilter{})
				if err != nil {
					t.Errorf("%s: %v", a.Name, err)
					return
				}
				mu.Lock()
				if other := heldBy[r.ReviewID]; other != "" {
					t.Errorf("%s is held by %s and %s", r.ReviewID, other, a.Name)
				}
				heldBy[r.ReviewID] = a.Name
				mu.Unlock()
				if !r.Mine || r.HolderID != a.UserID {
					t.Errorf("%s got %s held by %s", a.Name, r.ReviewID, r.HolderName)
				}
			}
		})
	}
	wg.Wait()
	if len(heldBy) != 200 {
		t.Errorf("%d items are held, want 200", len(heldBy))
	}
	_, err := d.ClaimNext(d.ctx, d.ann, "default", store.ClaimFilter{})
	wantErr(t, "claim when all are held", err, store.ErrNotFound)
	if v, err := d.VerifyAudit(d.ctx, d.auditor); err != nil || v.Problem != "" {
		t.Errorf("audit chain: %+v, %v", v, err)
	}
}

func TestLease(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	got := d.claim(d.ann, id)
	if want := d.clock.Now().Add(30 * time.Minute); got.LeaseExpiresAt == nil || !got.LeaseExpiresAt.Equal(want) {
		t.Fatalf("the lease ends at %v, want %v", got.LeaseExpiresAt, want)
	}
	held := func(what string, err error) {
		t.Helper()
		var h *store.HeldError
		if !errors.As(err, &h) || !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: %v, want HeldError", what, err)
		}
	}
	_, err := d.ClaimReview(d.ctx, d.ben, id)
	held("claim of a held item", err)
	_, err = d.RenewClaim(d.ctx, d.ben, id)
	held("renewal of another's claim", err)
	held("release of another's claim", d.ReleaseClaim(d.ctx, d.ben, id))

	d.clock.add(20 * time.Minute)
	until, err := d.RenewClaim(d.ctx, d.ann, id)
	if want := d.clock.Now().Add(30 * time.Minute); err != nil || !until.Equal(want) {
		t.Fatalf("renewed until %v, %v; want %v", until, err, want)
	}
	// Run out, and nobody took it: to others it looks free, the holder goes on.
	d.clock.add(31 * time.Minute)
	seen, err := d.GetReview(d.ctx, d.ben, id)
	if err != nil || seen.State != "open" || seen.HolderName != "" {
		t.Errorf("a claim that ran out shows as %s of %q (%v)", seen.State, seen.HolderName, err)
	}
	if _, err := d.RenewClaim(d.ctx, d.ann, id); err != nil {
		t.Errorf("renew a claim that ran out: %v", err)
	}
	d.clock.add(31 * time.Minute)
	d.first(d.ann, id, judge.Pass)

	// Taken over: the late one is refused and told who holds it, then who decided.
	taken, err := d.ClaimNext(d.ctx, d.ben, "default", store.ClaimFilter{})
	if err != nil || taken.ReviewID != id {
		t.Fatalf("take over: %v, %v", taken.ReviewID, err)
	}
	keep := store.DecisionInput{Action: store.Keep, ReasonCode: "other", Comment: "c"}
	_, err = d.Decide(d.ctx, d.ann, id, keep)
	held("late decision", err)
	_, err = d.RenewClaim(d.ctx, d.ann, id)
	held("late renewal", err)
	d.first(d.ben, id, judge.Fail)
	won := d.decide(d.ben, id, store.DecisionInput{Action: store.Keep})
	_, err = d.Decide(d.ctx, d.ann, id, keep)
	var decided *store.DecidedError
	if !errors.As(err, &decided) {
		t.Fatalf("later decision: %v, want DecidedError", err)
	}
	if diff := cmp.Diff(won, decided.Decision); diff != "" {
		t.Errorf("the winner's decision (-made +told):\n%s", diff)
	}
	_, err = d.ClaimReview(d.ctx, d.ann, id)
	if decided = nil; !errors.As(err, &decided) {
		t.Errorf("claim of a decided item: %v, want DecidedError", err)
	}
	if n := d.number(`SELECT count(*) FROM audit_events WHERE action = 'review.claimed' AND data LIKE '%lapsed_claim_of%'`); n != 1 {
		t.Errorf("%d takeovers are in the log, want 1", n)
	}
}

func TestReleaseAndSkipOrder(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(judged{id: "a"}, judged{id: "b"}, judged{id: "c"})
	next := func(a store.Actor) string {
		t.Helper()
		r, err := d.ClaimNext(d.ctx, a, "default", store.ClaimFilter{})
		if err != nil {
			t.Fatal(err)
		}
		return r.TraceID
	}
	if got := next(d.ann); got != "a" {
		t.Fatalf("first item is %s, want a", got)
	}
	if err := d.ReleaseClaim(d.ctx, d.ann, reviews["a"]); err != nil {
		t.Fatal(err)
	}
	var free *store.ExpiredError
	if err := d.ReleaseClaim(d.ctx, d.ann, reviews["a"]); !errors.As(err, &free) {
		t.Errorf("release twice: %v, want ExpiredError", err)
	}
	// ann skips all three: none comes back to her today, but she can open each.
	for _, trace := range []string{"b", "a", "c"} {
		d.claim(d.ann, reviews[trace])
		d.clock.add(time.Second)
		if err := d.SkipReview(d.ctx, d.ann, reviews[trace], "later"); err != nil {
			t.Fatal(err)
		}
	}
	if n := d.number(`SELECT count(*) FROM reviews WHERE state = 'open' AND holder_id IS NULL`); n != 3 {
		t.Fatalf("%d items are free after skipping, want 3", n)
	}
	if _, err := d.ClaimNext(d.ctx, d.ann, "default", store.ClaimFilter{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("claim after skipping all: %v, want ErrNotFound", err)
	}
	skipped, _, err := d.ListQueue(d.ctx, d.ann, store.QueueFilter{State: store.QueueSkipped})
	if diff := cmp.Diff([]string{"a", "b", "c"}, traceIDs(skipped)); err != nil || diff != "" {
		t.Errorf("what ann skipped (-want +got):\n%s%v", diff, err)
	}
	d.claim(d.ann, reviews["c"])
	d.clock.add(15*time.Hour - 4*time.Second) // 23:59:59
	if _, err := d.ClaimNext(d.ctx, d.ann, "default", store.ClaimFilter{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("claim before midnight: %v, want ErrNotFound", err)
	}
	d.clock.add(time.Second)
	for _, want := range []string{"a", "b", "c"} { // her claim of c has run out
		if got := next(d.ann); got != want {
			t.Errorf("on the next day the item is %s, want %s", got, want)
		}
	}
	wantField(t, "a long comment", d.SkipReview(d.ctx, d.ann, reviews["a"], string(make([]rune, 4001))), "comment")
	for trace, id := range reviews {
		if err := d.ReleaseClaim(d.ctx, d.ann, id); err != nil {
			t.Fatalf("release %s: %v", trace, err)
		}
	}
	if got := next(d.ben); got != "a" {
		t.Errorf("what ann skipped changes ben's order: he gets %s, want a", got)
	}
	// Somebody else's claim is left alone.
	if err := d.SkipReview(d.ctx, d.ann, reviews["a"], ""); err != nil {
		t.Fatal(err)
	}
	if h := d.text(`SELECT holder_id FROM reviews WHERE id = ?`, reviews["a"]); h != d.ben.UserID {
		t.Errorf("skipping released another's claim")
	}
}

func TestClaimNextFollowsTheQueue(t *testing.T) {
	d := openDesk(t)
	as := func(codes ...string) func(*judge.Evaluation) {
		return func(e *judge.Evaluation) {
			e.Reasons = nil
			for _, c := range codes {
				e.Reasons = append(e.Reasons, judge.Reason{Code: c})
			}
		}
	}
	d.put(
		judged{id: "audit", report: as(judge.ReasonRandomAudit)},
		judged{id: "score", report: as(judge.ReasonAmbiguousScore)},
		judged{id: "score high", domain: "medical", report: as(judge.ReasonAmbiguousScore)},
		judged{id: "failed", report: as(judge.ReasonJudgeFailed)},
		judged{id: "critical", report: as(judge.ReasonUncitedClaims, judge.ReasonCriticalError)},
	)
	want := []string{"failed", "critical", "score high", "score", "audit"}
	items, next, err := d.ListQueue(d.ctx, d.auditor, store.QueueFilter{})
	if err != nil || next != "" {
		t.Fatalf("next %q, %v", next, err)
	}
	if diff := cmp.Diff(want, traceIDs(items)); diff != "" {
		t.Errorf("queue order (-want +got):\n%s", diff)
	}
	var paged []string
	for after := ""; ; {
		page, next, err := d.ListQueue(d.ctx, d.auditor, store.QueueFilter{After: after, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		paged = append(paged, traceIDs(page)...)
		if after = next; after == "" {
			break
		}
	}
	if diff := cmp.Diff(want, paged); diff != "" {
		t.Errorf("queue by pages of two (-want +got):\n%s", diff)
	}
	if r, err := d.ClaimNext(d.ctx, d.ann, "default", store.ClaimFilter{Domain: "medical"}); err != nil || r.TraceID != "score high" {
		t.Errorf("next medical item is %q, %v", r.TraceID, err)
	}
	_, err = d.ClaimNext(d.ctx, d.ann, "default", store.ClaimFilter{Judge: "none"})
	wantErr(t, "next of an unknown judge", err, store.ErrNotFound)
	for _, trace := range []string{"failed", "critical", "score", "audit"} {
		if r, err := d.ClaimNext(d.ctx, d.ann, "default", store.ClaimFilter{Judge: "equivalence"}); err != nil || r.TraceID != trace {
			t.Errorf("next item is %q, want %s (%v)", r.TraceID, trace, err)
		}
	}
}

func TestListQueueFilters(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(
		judged{id: "a", domain: "medical", run: "nightly"},
		judged{id: "b", domain: "math", run: "nightly"},
		judged{id: "c", domain: "math"},
	)
	d.claim(d.ann, reviews["b"])
	d.claim(d.ben, reviews["c"])
	d.decide(d.ben, reviews["c"], store.DecisionInput{Action: store.Escalate, Comment: "hard"})
	for name, c := range map[string]struct {
		by   store.Actor
		f    store.QueueFilter
		want []string
	}{
		"all":               {d.ann, store.QueueFilter{Project: "default"}, []string{"a", "b", "c"}},
		"waiting":           {d.ann, store.QueueFilter{State: store.QueueWaiting}, []string{"a", "b", "c"}},
		"mine":              {d.ann, store.QueueFilter{State: store.QueueMine}, []string{"b"}},
		"nobody's":          {d.auditor, store.QueueFilter{State: store.QueueMine}, nil},
		"adjudication":      {d.ann, store.QueueFilter{State: store.QueueAdjudication}, []string{"c"}},
		"judge":             {d.ann, store.QueueFilter{Judge: "equivalence"}, []string{"a", "b", "c"}},
		"another judge":     {d.ann, store.QueueFilter{Judge: "logic"}, nil},
		"domain":            {d.ann, store.QueueFilter{Domain: "math"}, []string{"b", "c"}},
		"stakes":            {d.ann, store.QueueFilter{Stakes: "high"}, []string{"a"}},
		"run":               {d.ann, store.QueueFilter{Run: "nightly"}, []string{"a", "b"}},
		"open reason":       {d.ann, store.QueueFilter{Reason: judge.ReasonUntrustedJudge}, []string{"a", "b", "c"}},
		"sealed reason":     {d.ann, store.QueueFilter{Reason: judge.ReasonCriticalError}, nil},
		"reason to auditor": {d.auditor, store.QueueFilter{Reason: judge.ReasonCriticalError}, []string{"a", "b", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			items, _, err := d.ListQueue(d.ctx, c.by, c.f)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, traceIDs(items)); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
	_, _, err := d.ListQueue(d.ctx, d.ann, store.QueueFilter{State: "lost"})
	wantField(t, "unknown state", err, "state")
	_, _, err = d.ListQueue(d.ctx, d.ann, store.QueueFilter{After: "bm90IG9uZQ"})
	wantField(t, "bad cursor", err, "after")
	_, _, err = d.ListQueue(d.ctx, d.ann, store.QueueFilter{Project: "nowhere"})
	wantErr(t, "unknown project", err, store.ErrNotFound)
	// Once answered blind, the item is found by its reason, by its holder only.
	d.first(d.ann, reviews["b"], judge.Pass)
	items, _, err := d.ListQueue(d.ctx, d.ann, store.QueueFilter{Reason: judge.ReasonCriticalError})
	if err != nil || len(items) != 1 || items[0].Sealed || len(items[0].Reasons) != 2 {
		t.Errorf("after the first answer: %+v, %v", items, err)
	}
	counts, err := d.QueueCounts(d.ctx, d.ann, "default")
	if want := (store.QueueCounts{Total: 3, Mine: 1, Adjudication: 1, Blind: 3, ByReason: []store.ReasonCount{{Code: "", N: 3}}}); err != nil || !cmp.Equal(want, counts) {
		t.Errorf("counts %+v, %v; want %+v", counts, err, want)
	}
}

func TestAtMostTwentyClaims(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(numbered("t", store.MaxLiveClaims+1)...)
	for range store.MaxLiveClaims {
		if _, err := d.ClaimNext(d.ctx, d.ann, "default", store.ClaimFilter{}); err != nil {
			t.Fatal(err)
		}
	}
	_, err := d.ClaimNext(d.ctx, d.ann, "default", store.ClaimFilter{})
	wantErr(t, "claim number 21", err, store.ErrConflict)
	_, err = d.ClaimReview(d.ctx, d.ann, reviews[fmt.Sprintf("t%03d", store.MaxLiveClaims)])
	wantErr(t, "claim number 21 by id", err, store.ErrConflict)
	if _, err := d.ClaimReview(d.ctx, d.ann, reviews["t000"]); err != nil {
		t.Errorf("renew one of twenty: %v", err)
	}
	d.clock.add(time.Hour) // all ran out: there is room again
	if _, err := d.ClaimNext(d.ctx, d.ann, "default", store.ClaimFilter{}); err != nil {
		t.Errorf("claim after the leases ran out: %v", err)
	}
}

func TestUnknownReview(t *testing.T) {
	d := openDesk(t)
	_, err := d.GetReview(d.ctx, d.ann, "nothing")
	wantErr(t, "read", err, store.ErrNotFound)
	_, err = d.ClaimReview(d.ctx, d.ann, "nothing")
	wantErr(t, "claim", err, store.ErrNotFound)
	_, err = d.Decide(d.ctx, d.ann, "nothing", store.DecisionInput{Action: store.Confirm})
	wantErr(t, "decide", err, store.ErrNotFound)
	wantErr(t, "reopen", d.Reopen(d.ctx, d.ann, "nothing", "why"), store.ErrNotFound)
	wantErr(t, "skip", d.SkipReview(d.ctx, d.ann, "nothing", ""), store.ErrNotFound)
}
