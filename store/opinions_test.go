package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// opine lets somebody take an item and answer it, blind or not.
func (d *desk) opine(a store.Actor, review string, v judge.Verdict) store.Decision {
	d.t.Helper()
	return d.opineAs(a, review, store.Answer{Verdict: v}, "PEER-COMMENT of "+a.Name)
}

func (d *desk) opineAs(a store.Actor, review string, x store.Answer, comment string) store.Decision {
	d.t.Helper()
	in := store.DecisionInput{Action: store.Override, Verdict: x.Verdict, Label: x.Label, Rulings: x.Rulings, ReasonCode: "missed_error", Comment: comment}
	if r := d.claim(a, review); r.Sealed {
		if _, err := d.CommitFirstAnswer(d.ctx, a, review, x); err != nil {
			d.t.Fatalf("first answer by %s: %v", a.Name, err)
		}
		in.Action, in.Verdict, in.Label = store.Keep, "", ""
	}
	d.clock.add(time.Minute)
	return d.decide(a, review, in)
}

func (d *desk) opinions(n int) {
	d.t.Helper()
	d.policy(func(p *judge.Policy) { p.Opinions = &judge.Opinions{Default: n} })
}

func (d *desk) state() string {
	d.t.Helper()
	return d.text(`SELECT r.state || ' ' || e.status || ' ' || e.result_verdict || '/' || e.result_label || ' ' || e.result_source
FROM reviews r JOIN evaluations e ON e.id = r.evaluation_id`)
}

// TestOpinions: an item is settled when as many people agree as it needs, and
// goes to adjudication when they do not.
func TestOpinions(t *testing.T) {
	labelled := func(name string) store.Answer { return store.Answer{Label: name} }
	pass, fail := store.Answer{Verdict: judge.Pass}, store.Answer{Verdict: judge.Fail}
	for name, c := range map[string]struct {
		needs int
		said  []store.Answer
		after []string // the state after each
	}{
		"one":       {1, []store.Answer{pass}, []string{"decided final pass/ human"}},
		"two agree": {2, []store.Answer{pass, pass}, []string{"open in_review / ", "decided final pass/ human"}},
		"two agree, one with a label": {2, []store.Answer{labelled("same-thing"), pass},
			[]string{"open in_review / ", "decided final pass/same-thing human"}},
		"two differ": {2, []store.Answer{pass, fail}, []string{"open in_review / ", "adjudication in_review / "}},
		"three, the last differs": {3, []store.Answer{fail, fail, pass},
			[]string{"open in_review / ", "open in_review / ", "adjudication in_review / "}},
		"three, the first differs": {3, []store.Answer{pass, fail, fail},
			[]string{"open in_review / ", "open in_review / ", "adjudication in_review / "}},
		"an abstaining label against a verdict": {2, []store.Answer{labelled("undetermined"), pass}, []string{"open in_review / ", "adjudication in_review / "}},
	} {
		for _, blind := range []string{"always", "never"} {
			t.Run(name+", blind "+blind, func(t *testing.T) {
				d := openDesk(t)
				d.blind(blind)
				d.opinions(c.needs)
				// A judge that failed has no label that an answer could take over.
				id := d.put(judged{id: "t1", report: func(e *judge.Evaluation) {
					*e = judge.Evaluation{Status: judge.InReview, Reasons: []judge.Reason{{Code: judge.ReasonInvalidOutput}}}
				}})["t1"]
				for i, a := range []store.Actor{d.ann, d.lea, d.ben}[:len(c.said)] {
					d.opineAs(a, id, c.said[i], "c")
					if got := d.state(); got != c.after[i] {
						t.Errorf("after %d opinions %q, want %q", i+1, got, c.after[i])
					}
					labels := d.number(`SELECT count(*) FROM consensus`)
					if settled := strings.HasPrefix(c.after[i], "decided"); settled != (labels == 1) {
						t.Errorf("after %d opinions there are %d consensus labels", i+1, labels)
					}
					d.holds()
				}
			})
		}
	}
}

// TestOpinionsAreOfDifferentPeople: who answered is not given the item again, by
// whatever way; a claim and its end change nothing about that.
func TestOpinionsAreOfDifferentPeople(t *testing.T) {
	d := openDesk(t)
	d.opinions(2)
	id := d.one()
	d.opine(d.ann, id, judge.Pass)
	_, err := d.ClaimReview(d.ctx, d.ann, id)
	wantErr(t, "a second claim", err, store.ErrConflict)
	if !strings.Contains(fmt.Sprint(err), "another person") {
		t.Errorf("a second claim says %v", err)
	}
	_, err = d.ClaimNext(d.ctx, d.ann, "default", store.ClaimFilter{})
	wantErr(t, "the next item", err, store.ErrNotFound)
	_, err = d.Decide(d.ctx, d.ann, id, store.DecisionInput{Action: store.Confirm})
	wantErr(t, "a second answer", err, store.ErrConflict)
	if r, err := d.ClaimNext(d.ctx, d.ben, "default", store.ClaimFilter{}); err != nil || r.Opinions != 1 || r.OpinionsRequired != 2 {
		t.Fatalf("for another: %+v, %v", r.QueueItem, err)
	}
	d.clock.add(time.Hour) // ben went home
	_, err = d.ClaimReview(d.ctx, d.ann, id)
	wantErr(t, "a claim after another's ran out", err, store.ErrConflict)
	if _, err := d.ClaimNext(d.ctx, d.lea, "default", store.ClaimFilter{}); err != nil {
		t.Errorf("a stale lease hides the item: %v", err)
	}
	if n := d.number(`SELECT count(DISTINCT user_id) FROM decisions`); n != 1 {
		t.Errorf("%d people have decided", n)
	}
}

// everythingOf is all that an actor can read of an item, as text.
func (d *desk) everythingOf(a store.Actor, review string) string {
	d.t.Helper()
	var all []any
	r, err := d.GetReview(d.ctx, a, review)
	if err != nil {
		d.t.Fatal(err)
	}
	e, err := d.GetEvaluation(d.ctx, a, r.EvaluationID)
	if err != nil {
		d.t.Fatal(err)
	}
	tr, err := d.GetTrace(d.ctx, a, "default", r.TraceID, 0)
	if err != nil {
		d.t.Fatal(err)
	}
	items, _, err := d.ListQueue(d.ctx, a, store.QueueFilter{})
	if err != nil {
		d.t.Fatal(err)
	}
	r.Labels, r.ReasonCodes = nil, nil // the scale and the list, which name everything
	all = append(all, r, e, tr, items)
	if a.Role != store.Reviewer {
		audit, _, err := d.ListAudit(d.ctx, a, store.AuditFilter{Limit: 500})
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, audit)
		for _, err := range []error{
			d.EachDecision(d.ctx, a, store.EvaluationFilter{}, func(x store.Decision) error { all = append(all, x); return nil }),
			d.EachLabel(d.ctx, a, store.EvaluationFilter{}, func(x store.LabelRow) error { all = append(all, x); return nil }),
		} {
			if err != nil {
				d.t.Fatal(err)
			}
		}
		kept, _, err := d.Agreement(d.ctx, a, "default", "equivalence")
		if err != nil {
			d.t.Fatal(err)
		}
		all = append(all, kept)
	}
	body, err := json.Marshal(all)
	if err != nil {
		d.t.Fatal(err)
	}
	return string(body)
}

// TestPeersAnswersAreWithheld: whoever may still answer and has not learns
// nothing of what others said, from whatever they read; whoever has answered, and
// who decides nothing, does.
func TestPeersAnswersAreWithheld(t *testing.T) {
	secret := []judge.Ruling{{Part: "label", Value: "PEER-RULING", Note: "PEER-NOTE"}}
	for _, blind := range []string{"always", "never"} {
		t.Run("blind "+blind, func(t *testing.T) {
			d := openDesk(t)
			d.blind(blind)
			d.opinions(3)
			d.policy(func(p *judge.Policy) { p.CannotJudge = 5 })
			id := d.one()
			// "borderline" is a verdict that nothing else here has.
			d.opineAs(d.ann, id, store.Answer{Verdict: judge.Borderline, Rulings: secret}, "PEER-COMMENT")
			d.claim(d.luis, id)
			d.decide(d.luis, id, store.DecisionInput{Action: store.CannotJudge, Comment: "PEER-ABSTENTION"})
			telling := []string{"PEER-", "borderline", `"missed_error"`}
			for _, a := range []store.Actor{d.ben, d.lea} {
				if blind == "always" && a.UserID == d.lea.UserID {
					// To look at the judge's verdict on purpose is not to look at the others'.
					if err := d.ExposeEvaluation(d.ctx, a, d.text(`SELECT evaluation_id FROM reviews`)); err != nil {
						t.Fatal(err)
					}
				}
				all := d.everythingOf(a, id)
				for _, word := range telling {
					if i := strings.Index(all, word); i >= 0 {
						t.Errorf("%s reads %q: …%s…", a.Name, word, all[max(0, i-300):min(len(all), i+100)])
					}
				}
				if r, err := d.GetReview(d.ctx, a, id); err != nil || !r.PeersSealed {
					t.Errorf("%s: peers sealed %v, %v", a.Name, r.PeersSealed, err)
				}
			}
			if all := d.everythingOf(d.ann, id); !strings.Contains(all, "PEER-RULING") || !strings.Contains(all, "PEER-COMMENT") {
				t.Error("who answered does not see their own answer")
			}
			all := d.everythingOf(d.auditor, id)
			for _, word := range []string{"PEER-RULING", "PEER-NOTE", "PEER-COMMENT", "PEER-ABSTENTION", "borderline"} {
				if !strings.Contains(all, word) {
					t.Errorf("the auditor does not read %q", word)
				}
			}
			d.opineAs(d.ben, id, store.Answer{Verdict: judge.Pass}, "c")
			if all := d.everythingOf(d.ben, id); !strings.Contains(all, "PEER-RULING") || !strings.Contains(all, "PEER-ABSTENTION") {
				t.Error("who has answered does not see the others' answers")
			}
			d.holds()
		})
	}
}

// TestAdjudicationOfOpinions: both sides are shown with their rulings to who
// settles it, who is none of them; then both labels count, and the adjudicated
// one is the consensus.
func TestAdjudicationOfOpinions(t *testing.T) {
	d := openDesk(t)
	d.opinions(2)
	id := d.one()
	d.opineAs(d.ann, id, store.Answer{Verdict: judge.Fail, Rulings: []judge.Ruling{{Part: "label", Value: "fail"}}}, "too much")
	d.opineAs(d.lea, id, store.Answer{Verdict: judge.Pass, Rulings: []judge.Ruling{{Part: "label", Value: "pass"}}}, "little")
	for _, a := range []store.Actor{d.ann, d.lea, d.ben} {
		_, err := d.ClaimReview(d.ctx, a, id)
		wantErr(t, "adjudication by "+a.Name, err, store.ErrForbidden)
	}
	if n := d.number(`SELECT count(*) FROM agreement_pairs WHERE n > 0`) + d.number(`SELECT count(*) FROM consensus`); n != 0 {
		t.Errorf("%d figures count what is not settled", n)
	}
	r, err := d.ClaimNext(d.ctx, d.luis, "default", store.ClaimFilter{})
	if err != nil || len(r.Decisions) != 0 || !r.Sealed {
		t.Fatalf("a blind item tells its adjudicator %d decisions before their own answer (%v)", len(r.Decisions), err)
	}
	r = d.first(d.luis, id, judge.Pass)
	var sides []string
	for i, x := range r.Decisions {
		sides = append(sides, fmt.Sprint(x.UserName, " ", x.Verdict, " ", x.Rulings[0].Value, " ", r.Answers[i].Answer.Rulings[0].Value))
	}
	if diff := cmp.Diff([]string{"ann fail fail fail", "lea pass pass pass"}, sides); diff != "" {
		t.Errorf("both sides (-want +got):\n%s", diff)
	}
	got := d.decide(d.luis, id, store.DecisionInput{Action: store.Keep, ReasonCode: "too_strict", Comment: "c"})
	if got.Supersedes != "" || !got.Adjudication || d.state() != "decided final pass/ adjudication" {
		t.Errorf("decision %+v, state %q", got, d.state())
	}
	if c := d.consensus("t1"); c != (consensus{Basis: "adjudicated", Verdict: "pass", Labels: 3}) {
		t.Errorf("consensus %+v", c)
	}
	if n := d.number(`SELECT sum(n) FROM agreement_pairs WHERE a_verdict <> b_verdict`); n != 1 {
		t.Errorf("%d pairs of people differ, want the one of ann and lea", n)
	}
	// An adjudicated item is reopened by nobody who was a side of it.
	wantErr(t, "reopened by a side", d.Reopen(d.ctx, d.lea, id, "why"), store.ErrConflict)
	d.holds()
}

// TestReopenSeveralOpinions: no single one of several people changes what they
// all signed.
func TestReopenSeveralOpinions(t *testing.T) {
	d := openDesk(t)
	d.opinions(2)
	id := d.one()
	d.opine(d.ann, id, judge.Pass)
	d.opine(d.lea, id, judge.Pass)
	wantErr(t, "reopened by the last signer", d.Reopen(d.ctx, d.lea, id, "why"), store.ErrConflict)
	if err := d.Reopen(d.ctx, d.luis, id, "both overlooked the date"); err != nil {
		t.Fatal(err)
	}
	got := d.decide(d.luis, id, store.DecisionInput{Action: store.Confirm})
	if !got.Adjudication || got.Supersedes == "" || d.state() != "decided final fail/other-thing adjudication" {
		t.Errorf("correction %+v, state %q", got, d.state())
	}
	d.holds()
}

func TestRaiseOpinions(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	wantErr(t, "by a reviewer", d.RaiseOpinions(d.ctx, d.ann, id, 2), store.ErrForbidden)
	for _, n := range []int{-1, 0, 1, judge.MaxOpinions + 1} {
		wantField(t, fmt.Sprint(n), d.RaiseOpinions(d.ctx, d.lea, id, n), "opinions")
	}
	d.claim(d.ann, id) // who holds it learns by what comes of the decision
	if err := d.RaiseOpinions(d.ctx, d.lea, id, 3); err != nil {
		t.Fatal(err)
	}
	wantErr(t, "lowered", d.RaiseOpinions(d.ctx, d.lea, id, 2), store.ErrConflict)
	d.opine(d.ann, id, judge.Pass)
	if s := d.state(); s != "open in_review / " {
		t.Errorf("after one of three: %q", s)
	}
	d.opine(d.ben, id, judge.Pass)
	d.opine(d.lea, id, judge.Pass)
	wantErr(t, "of a settled item", d.RaiseOpinions(d.ctx, d.lea, id, 4), store.ErrConflict)
	if n := d.number(`SELECT count(*) FROM audit_events WHERE action = 'review.opinions_raised' AND allowed`); n != 1 {
		t.Errorf("%d events, want 1", n)
	}
	d.holds()
}

// TestPolicyFreezesOpinions: what an item needs is what the policy said when it
// was opened.
func TestPolicyFreezesOpinions(t *testing.T) {
	d := openDesk(t)
	d.policy(func(p *judge.Policy) {
		p.Opinions = &judge.Opinions{Rules: []judge.OpinionRule{{Domain: "legal", N: 3}, {Reason: judge.ReasonCriticalError, N: 2}}}
	})
	d.put(judged{id: "a", domain: "legal"}, judged{id: "b"}, judged{id: "c", report: func(e *judge.Evaluation) {
		e.Reasons = []judge.Reason{{Code: judge.ReasonUntrustedJudge}}
	}})
	d.opinions(5)
	if diff := cmp.Diff(map[string]int{"a": 3, "b": 2, "c": 1}, d.counts(`SELECT external_id, opinions_required FROM reviews`)); diff != "" {
		t.Errorf("opinions (-want +got):\n%s", diff)
	}
}

// TestFiftyRaceForTwoOpinions: fifty people want the same items at once. Each is
// held by one, each gets two opinions of two people, and not one more.
func TestFiftyRaceForTwoOpinions(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	d.opinions(2)
	const items = 6
	d.put(numbered("t", items)...)
	var people []store.Actor
	for i := range 50 {
		people = append(people, d.person(fmt.Sprint("p", i), store.Reviewer))
	}
	var wg sync.WaitGroup
	var given atomic.Int64
	for _, a := range people {
		wg.Go(func() {
			// What others hold at this moment is passed over, so one asks again.
			for try := 0; given.Load() < 2*items && try < 1000; try++ {
				r, err := d.ClaimNext(d.ctx, a, "default", store.ClaimFilter{})
				if errors.Is(err, store.ErrNotFound) {
					continue
				}
				if err == nil {
					_, err = d.Decide(d.ctx, a, r.ReviewID, store.DecisionInput{Action: store.Confirm})
					given.Add(1)
				}
				if err != nil {
					t.Errorf("%s: %v", a.Name, err)
				}
			}
		})
	}
	wg.Wait()
	if diff := cmp.Diff(map[string]int{"decided": items}, d.counts(`SELECT state, count(*) FROM reviews GROUP BY 1`)); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	if n := d.number(`SELECT count(*) FROM (SELECT review_id FROM decisions GROUP BY 1 HAVING count(*) <> 2 OR count(DISTINCT user_id) <> 2) x`); n != 0 {
		t.Errorf("%d items have another number of opinions than two of two people", n)
	}
	d.holds()
}

// TestEscalateToSomebody: who is named, or who has the role, settles it and
// nobody else; a lead may send it on.
func TestEscalateToSomebody(t *testing.T) {
	up := func(to string) store.DecisionInput {
		return store.DecisionInput{Action: store.Escalate, Comment: "hard", To: to}
	}
	d := openDesk(t)
	ada := d.person("ada", store.Admin)
	gone := d.person("gone", store.Reviewer)
	if err := d.DisableUser(d.ctx, store.Operator("test"), "gone@example.org"); err != nil {
		t.Fatal(err)
	}
	ids := d.put(judged{id: "a"}, judged{id: "b"})
	id := ids["a"]
	d.claim(d.ann, id)
	for _, to := range []string{"nobody", "reviewer", "auditor", d.ann.UserID, d.auditor.UserID, gone.UserID} {
		_, err := d.Decide(d.ctx, d.ann, id, up(to))
		wantField(t, "to "+to, err, "to")
	}
	_, err := d.Decide(d.ctx, d.ann, id, store.DecisionInput{Action: store.CannotJudge, Comment: "c", To: d.ben.UserID})
	wantField(t, "an abstention to somebody", err, "to")
	if got := d.decide(d.ann, id, up(d.ben.UserID)); got.To != d.ben.UserID {
		t.Errorf("sent to %q", got.To)
	}
	for _, a := range []store.Actor{d.ann, d.lea, ada} {
		_, err := d.ClaimReview(d.ctx, a, id)
		wantErr(t, "claim by "+a.Name, err, store.ErrForbidden)
	}
	for _, want := range []struct {
		a store.Actor
		n int
	}{{d.ben, 1}, {d.lea, 0}} {
		items, _, err := d.ListQueue(d.ctx, want.a, store.QueueFilter{State: store.QueueForMe})
		if err != nil || len(items) != want.n {
			t.Errorf("%d items are for %s (%v), want %d", len(items), want.a.Name, err, want.n)
		}
		for _, it := range items {
			if it.AddresseeName != "ben" || it.Addressee != d.ben.UserID {
				t.Errorf("for %q, named %q", it.Addressee, it.AddresseeName)
			}
		}
	}
	// What was sent to somebody comes before what anybody could take.
	if r, err := d.ClaimNext(d.ctx, d.ben, "default", store.ClaimFilter{}); err != nil || r.ReviewID != id {
		t.Fatalf("next for ben: %s, %v", r.TraceID, err)
	}
	wantErr(t, "sent on by a reviewer", d.Reassign(d.ctx, d.ben, id, "admin"), store.ErrForbidden)
	wantField(t, "sent to who escalated", d.Reassign(d.ctx, d.lea, id, d.ann.UserID), "to")
	wantErr(t, "an item that waits for anybody", d.Reassign(d.ctx, d.lea, ids["b"], "admin"), store.ErrConflict)
	if err := d.Reassign(d.ctx, d.lea, id, "admin"); err != nil {
		t.Fatal(err)
	}
	_, err = d.Decide(d.ctx, d.ben, id, store.DecisionInput{Action: store.Confirm})
	wantErr(t, "an answer of who held it", err, store.ErrConflict)
	for _, a := range []store.Actor{d.ben, d.lea} {
		_, err := d.ClaimReview(d.ctx, a, id)
		wantErr(t, "claim by "+a.Name, err, store.ErrForbidden)
	}
	d.claim(ada, id)
	d.first(ada, id, judge.Fail)
	got := d.decide(ada, id, store.DecisionInput{Action: store.Keep})
	if !got.Adjudication {
		t.Errorf("decision %+v", got)
	}
	d.holds()
}

// TestNamedReviewerSettlesAndCorrects: a reviewer who was named may correct what
// they settled, as leads may.
func TestNamedReviewerSettlesAndCorrects(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	id := d.one()
	d.claim(d.ann, id)
	d.decide(d.ann, id, store.DecisionInput{Action: store.Escalate, Comment: "hard", To: d.ben.UserID})
	d.claim(d.ben, id)
	d.decide(d.ben, id, store.DecisionInput{Action: store.Confirm})
	d.clock.add(time.Hour)
	if err := d.Reopen(d.ctx, d.ben, id, "misread"); err != nil {
		t.Fatal(err)
	}
	got := d.decide(d.ben, id, store.DecisionInput{Action: store.Override, Verdict: judge.Pass, ReasonCode: "too_strict", Comment: "c"})
	if !got.Adjudication || d.state() != "decided final pass/ adjudication" {
		t.Errorf("decision %+v, state %q", got, d.state())
	}
	d.holds()
}
