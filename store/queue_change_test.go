package store_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

func (d *desk) change(ids []string, c store.QueueChange) int {
	d.t.Helper()
	n, err := d.ChangeQueue(d.ctx, d.lea, "default", ids, c)
	if err != nil {
		d.t.Fatalf("%s: %v", c.Action, err)
	}
	return n
}

func (d *desk) events(action string) int {
	d.t.Helper()
	return d.number(`SELECT count(*) FROM audit_events WHERE action = ? AND allowed`, action)
}

// A lead's priority goes before the order by reason, stakes and due time: 1 before
// all, 2 and 3 with the first of theirs.
func TestPriorityOrdersTheQueue(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	as := func(code string) func(*judge.Evaluation) {
		return func(e *judge.Evaluation) { e.Reasons = []judge.Reason{{Code: code}} }
	}
	reviews := d.put(
		judged{id: "critical", report: as(judge.ReasonCriticalError)}, judged{id: "different", report: as(judge.ReasonSubstantiveDifference)},
		judged{id: "ambiguous", report: as(judge.ReasonAmbiguousScore)}, judged{id: "untrusted", report: as(judge.ReasonUntrustedJudge)},
		judged{id: "random", report: as(judge.ReasonRandomAudit)}, judged{id: "boundary", report: as(judge.ReasonBoundaryAudit)})
	order := func() []string {
		t.Helper()
		items, _, err := d.ListQueue(d.ctx, d.ann, store.QueueFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if got := d.served(d.ann); !slices.Equal(got, traceIDs(items)) {
			t.Errorf("the list has %v, claims have %v", traceIDs(items), got)
		}
		return traceIDs(items)
	}
	want := []string{"critical", "different", "ambiguous", "untrusted", "boundary", "random"}
	if diff := cmp.Diff(want, order()); diff != "" {
		t.Fatalf("without priorities (-want +got):\n%s", diff)
	}
	for _, step := range []struct {
		id       string
		priority int
		want     []string
	}{
		{"random", 1, []string{"random", "critical", "different", "ambiguous", "untrusted", "boundary"}},
		{"random", 2, []string{"critical", "random", "different", "ambiguous", "untrusted", "boundary"}},
		{"critical", 3, []string{"random", "different", "ambiguous", "critical", "untrusted", "boundary"}},
		{"random", 0, []string{"different", "ambiguous", "critical", "untrusted", "boundary", "random"}},
		{"critical", 0, want},
	} {
		if n := d.change([]string{reviews[step.id]}, store.QueueChange{Action: store.ChangePriority, Priority: step.priority}); n != 1 {
			t.Errorf("%d items changed", n)
		}
		if diff := cmp.Diff(step.want, order()); diff != "" {
			t.Errorf("%s at %d (-want +got):\n%s", step.id, step.priority, diff)
		}
	}
	if n := d.change([]string{reviews["critical"]}, store.QueueChange{Action: store.ChangePriority}); n != 0 || d.events("review.prioritised") != 5 {
		t.Errorf("what is so already: %d changed, %d events, want 0 and 5", n, d.events("review.prioritised"))
	}
}

// Blind items that a policy orders evenly stand by stakes, due time and age, whatever
// they wait for; of what is not blind, and for an item that is made visible, the reason
// counts.
func TestBlindItemsInEvenOrder(t *testing.T) {
	d := openDesk(t)
	d.policy(func(p *judge.Policy) {
		p.Blind, p.BlindOrder = judge.BlindAlways, judge.BlindEvenly
		p.DueRules = []judge.DueRule{{Reason: judge.ReasonCriticalError, Hours: 1}}
	})
	as := func(code string) func(*judge.Evaluation) {
		return func(e *judge.Evaluation) { e.Reasons = []judge.Reason{{Code: code}} }
	}
	reviews := d.put(
		judged{id: "audit", report: as(judge.ReasonRandomAudit)},
		judged{id: "ambiguous", report: as(judge.ReasonAmbiguousScore)},
		judged{id: "critical", report: as(judge.ReasonCriticalError)})
	order := func(want ...string) {
		t.Helper()
		items, _, err := d.ListQueue(d.ctx, d.ann, store.QueueFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, traceIDs(items)); diff != "" {
			t.Errorf("the order (-want +got):\n%s", diff)
		}
		for _, i := range items {
			if i.Sealed && !i.DueAt.Equal(i.OpenedAt.Add(72*time.Hour)) {
				t.Errorf("%s is due %v after it began to wait", i.TraceID, i.DueAt.Sub(i.OpenedAt))
			}
		}
		if got := d.served(d.ann); !slices.Equal(got, want) {
			t.Errorf("claims have %v, want %v", got, want)
		}
	}
	order("audit", "ambiguous", "critical")
	if n := d.change([]string{reviews["critical"]}, store.QueueChange{Action: store.ChangeBlind, Blind: false}); n != 1 {
		t.Fatalf("%d items made visible", n)
	}
	order("critical", "audit", "ambiguous")
	d.checkKept("ordering evenly")
}

// A withdrawn item leaves the queue, its evaluation has no result, and a lead can
// bring it back with all its reasons.
func TestWithdraw(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(judged{id: "a"}, judged{id: "b"})
	d.claim(d.ann, reviews["a"])
	d.change([]string{reviews["a"]}, store.QueueChange{Action: store.ChangeWithdraw, Reason: "the trace is a duplicate"})
	d.checkKept("withdrawing")
	rows, _, err := d.ListEvaluations(d.ctx, d.auditor, store.EvaluationFilter{Status: judge.Refused})
	if err != nil || len(rows) != 1 || rows[0].Message != "lea withdrew it from review: the trace is a duplicate" || rows[0].RefusedField != store.WithdrawnField {
		t.Fatalf("refused evaluations %+v, %v", rows, err)
	}
	v, err := d.GetReview(d.ctx, d.auditor, reviews["a"])
	if err != nil || v.State != "closed" || v.Result != nil || v.HolderID != "" {
		t.Errorf("the item is %s with result %v, held by %q, %v", v.State, v.Result, v.HolderID, err)
	}
	_, err = d.CommitFirstAnswer(d.ctx, d.ann, reviews["a"], store.Answer{Verdict: judge.Pass})
	wantErr(t, "an answer to a withdrawn item", err, store.ErrConflict)
	if got := d.served(d.ben); !slices.Equal(got, []string{"b"}) {
		t.Errorf("ben is given %v", got)
	}
	if err := d.RequestReview(d.ctx, d.lea, rows[0].ID, "after all"); err != nil {
		t.Fatal(err)
	}
	d.checkKept("bringing back")
	v, err = d.GetReview(d.ctx, d.auditor, reviews["a"])
	if err != nil || v.State != "open" || len(v.Reasons) != 3 || v.Reasons[0].Code != judge.ReasonCriticalError {
		t.Errorf("brought back it is %s for %+v, %v", v.State, v.Reasons, err)
	}
	if e, err := d.GetEvaluation(d.ctx, d.auditor, rows[0].ID); err != nil || e.Evaluation.Status != judge.InReview || e.Evaluation.RefusedField != "" || e.Evaluation.Error != "" {
		t.Errorf("its evaluation: %s %q %q, %v", e.Evaluation.Status, e.Evaluation.RefusedField, e.Evaluation.Error, err)
	}
}

// Blindness changes only where nobody has answered, and who had the verdict open
// before counts as knowing it.
func TestChangeBlind(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(judged{id: "a"}, judged{id: "b"}, judged{id: "c"})
	d.claim(d.ann, reviews["a"])
	d.first(d.ann, reviews["a"], judge.Pass)
	_, err := d.ChangeQueue(d.ctx, d.lea, "default", []string{reviews["a"], reviews["b"]}, store.QueueChange{Action: store.ChangeBlind})
	var refused *store.ChangeRefusedError
	if !errors.As(err, &refused) || len(refused.Items) != 1 || refused.Items[0].TraceID != "a" || !errors.Is(err, store.ErrConflict) {
		t.Fatalf("unblinding what is answered: %v", err)
	}
	if n := d.number(`SELECT count(*) FROM reviews WHERE blind`); n != 3 || d.events("review.blind_changed") != 0 {
		t.Errorf("%d items are blind after a refused change, want all 3", n)
	}
	d.change([]string{reviews["b"], reviews["c"]}, store.QueueChange{Action: store.ChangeBlind})
	d.checkKept("unblinding")
	if r := d.claim(d.ben, reviews["b"]); r.Sealed || r.Evaluation == nil {
		t.Error("what is not blind is sealed for its holder")
	}
	if err := d.ReleaseClaim(d.ctx, d.ben, reviews["b"]); err != nil {
		t.Fatal(err)
	}
	d.change([]string{reviews["b"], reviews["c"]}, store.QueueChange{Action: store.ChangeBlind, Blind: true})
	d.checkKept("blinding")
	if r := d.claim(d.ann, reviews["b"]); !r.Sealed || r.Evaluation != nil {
		t.Error("what is blind is not sealed for who never had it open")
	}
	if err := d.ReleaseClaim(d.ctx, d.ann, reviews["b"]); err != nil {
		t.Fatal(err)
	}
	if r := d.claim(d.ben, reviews["b"]); r.Sealed {
		t.Error("ben had it open: sealing it now would make his answer count as blind")
	}
	if got := d.decide(d.ben, reviews["b"], store.DecisionInput{Action: store.Confirm}); !got.VerdictVisible {
		t.Error("ben's decision counts as blind")
	}
}

// A lead ends another's claim; the holder is told who did when they act next, and
// not when they gave the item back themselves.
func TestReleaseByLead(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(judged{id: "a"}, judged{id: "b"}, judged{id: "c"})
	d.claim(d.ann, reviews["a"])
	d.claim(d.ann, reviews["b"])
	if n := d.change([]string{reviews["a"], reviews["b"], reviews["c"]}, store.QueueChange{Action: store.ChangeRelease}); n != 2 {
		t.Errorf("%d claims ended, want 2", n)
	}
	for name, act := range map[string]func() error{
		"renew": func() error { _, err := d.RenewClaim(d.ctx, d.ann, reviews["a"]); return err },
		"answer": func() error {
			_, err := d.CommitFirstAnswer(d.ctx, d.ann, reviews["a"], store.Answer{Verdict: judge.Pass})
			return err
		},
		"decide": func() error {
			_, err := d.Decide(d.ctx, d.ann, reviews["a"], store.DecisionInput{Action: store.Escalate, Comment: "c"})
			return err
		},
	} {
		var gone *store.ExpiredError
		if err := act(); !errors.As(err, &gone) || gone.EndedBy != "lea" || !gone.EndedAt.Equal(d.clock.Now()) {
			t.Errorf("%s: %v, want that lea ended the claim now", name, err)
		}
	}
	d.claim(d.ann, reviews["a"])
	if err := d.ReleaseClaim(d.ctx, d.ann, reviews["a"]); err != nil {
		t.Fatal(err)
	}
	var gone *store.ExpiredError
	if _, err := d.RenewClaim(d.ctx, d.ann, reviews["a"]); !errors.As(err, &gone) || gone.EndedBy != "" {
		t.Errorf("after giving it back: %v", err)
	}
	// Assigning it to somebody else takes it from its holder when asked to.
	d.claim(d.ann, reviews["c"])
	d.change([]string{reviews["c"]}, store.QueueChange{Action: store.ChangeAssign, User: d.ben.UserID})
	if r, _ := d.GetReview(d.ctx, d.lea, reviews["c"]); r.HolderID != d.ann.UserID {
		t.Error("assigning alone ended a claim")
	}
	d.change([]string{reviews["c"]}, store.QueueChange{Action: store.ChangeAssign, User: d.ben.UserID, Release: true})
	if r, _ := d.ClaimNext(d.ctx, d.ben, "", store.ClaimFilter{}); r.TraceID != "c" {
		t.Errorf("ben is given %q, want what was reassigned to him", r.TraceID)
	}
}

// What can't be done to one item is done to none, and each is named.
func TestChangeIsAllOrNothing(t *testing.T) {
	d := openDesk(t)
	d.policy(func(p *judge.Policy) {
		p.Assignment = []judge.AssignmentRule{{Domain: "medical", Requires: []string{"physician"}}, {Languages: true}}
	})
	reviews := d.put(judged{id: "fine"}, judged{id: "med", domain: "medical"}, judged{id: "german", trace: language("de")},
		judged{id: "acme", run: "acme"}, judged{id: "sent"}, judged{id: "done"})
	d.profile(d.ben, store.Profile{Conflicts: []string{"acme"}, Domains: []string{"finance"}})
	for _, id := range []string{"sent", "done"} {
		d.claim(d.ann, reviews[id])
	}
	d.decide(d.ann, reviews["sent"], store.DecisionInput{Action: store.Escalate, Comment: "c"})
	d.first(d.ann, reviews["done"], judge.Pass)
	d.decide(d.ann, reviews["done"], store.DecisionInput{Action: store.Adopt})
	var all []string
	for _, id := range reviews {
		all = append(all, id)
	}
	_, err := d.ChangeQueue(d.ctx, d.lea, "", all, store.QueueChange{Action: store.ChangeAssign, User: d.ben.UserID})
	var refused *store.ChangeRefusedError
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, i := range refused.Items {
		got[i.TraceID] = i.Why
	}
	want := map[string]string{
		"med": "ben lacks physician, which the policy requires.", "german": "ben does not read its language.",
		"acme": "ben has a conflict of interest with it.", "sent": "It waits for a lead or for somebody who is named, and ben is neither.", "done": "It is decided.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
	if n := d.number(`SELECT count(*) FROM reviews WHERE assigned_to IS NOT NULL`) + d.events("review.assigned"); n != 0 {
		t.Errorf("%d traces of a refused change", n)
	}
	if err := d.DisableUser(d.ctx, store.Operator("test"), "ben@example.org"); err != nil {
		t.Fatal(err)
	}
	now := d.clock.Now()
	for name, c := range map[string]struct {
		ids    []string
		change store.QueueChange
		field  string
	}{
		"nothing":            {nil, store.QueueChange{Action: store.ChangeRelease}, "item"},
		"too many":           {many(501), store.QueueChange{Action: store.ChangeRelease}, "item"},
		"to who left":        {all[:1], store.QueueChange{Action: store.ChangeAssign, User: d.ben.UserID}, "user"},
		"to an auditor":      {all[:1], store.QueueChange{Action: store.ChangeAssign, User: d.auditor.UserID}, "user"},
		"to nobody known":    {all[:1], store.QueueChange{Action: store.ChangeAssign, User: "x"}, "user"},
		"a priority":         {all[:1], store.QueueChange{Action: store.ChangePriority, Priority: 4}, "priority"},
		"no due time":        {all[:1], store.QueueChange{Action: store.ChangeDue}, "due"},
		"a due time past":    {all[:1], store.QueueChange{Action: store.ChangeDue, Due: now.Add(-time.Minute)}, "due"},
		"a due time far off": {all[:1], store.QueueChange{Action: store.ChangeDue, Due: now.AddDate(1, 0, 1)}, "due"},
		"no reason":          {all[:1], store.QueueChange{Action: store.ChangeWithdraw, Reason: " "}, "reason"},
		"a long reason":      {all[:1], store.QueueChange{Action: store.ChangeWithdraw, Reason: strings.Repeat("x", 501)}, "reason"},
		"no action":          {all[:1], store.QueueChange{}, "action"},
	} {
		_, err := d.ChangeQueue(d.ctx, d.lea, "", c.ids, c.change)
		wantField(t, name, err, c.field)
	}
	for _, a := range []store.Actor{d.ann, d.auditor} {
		_, err := d.ChangeQueue(d.ctx, a, "", all, store.QueueChange{Action: store.ChangeRelease})
		wantErr(t, "a change by "+a.Name, err, store.ErrForbidden)
	}
}

func many(n int) (ids []string) {
	for i := range n {
		ids = append(ids, fmt.Sprint(i))
	}
	return ids
}

// A due time that was moved moves the item in its place.
func TestChangeDue(t *testing.T) {
	d := openDesk(t)
	reviews := d.put(judged{id: "a"}, judged{id: "b"})
	d.change([]string{reviews["b"]}, store.QueueChange{Action: store.ChangeDue, Due: d.clock.Now().Add(time.Hour)})
	if diff := cmp.Diff([]string{"b", "a"}, d.served(d.ann)); diff != "" {
		t.Error(diff)
	}
	d.clock.add(2 * time.Hour)
	late, _, err := d.ListQueue(d.ctx, d.ann, store.QueueFilter{Overdue: true})
	if diff := cmp.Diff([]string{"b"}, traceIDs(late)); err != nil || diff != "" {
		t.Errorf("overdue: %s%v", diff, err)
	}
}

// More opinions are asked for on many items at once, and never fewer.
func TestChangeOpinions(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	reviews := d.put(judged{id: "a"}, judged{id: "b"}, judged{id: "c"})
	d.change([]string{reviews["a"], reviews["b"]}, store.QueueChange{Action: store.ChangeOpinions, Opinions: 2})
	d.claim(d.ann, reviews["a"])
	d.decide(d.ann, reviews["a"], store.DecisionInput{Action: store.Confirm})
	if got := d.served(d.ann); !slices.Equal(got, []string{"b", "c"}) {
		t.Errorf("ann is given %v after her opinion on a", got)
	}
	if why, err := d.WhyQueue(d.ctx, d.ann, ""); err != nil || why.Free != 2 || !slices.Equal(why.Withheld, []store.Withheld{{Cause: store.CauseAnswered, N: 1}}) {
		t.Errorf("ann is told %+v, %v", why, err)
	}
	d.claim(d.ben, reviews["c"])
	d.decide(d.ben, reviews["c"], store.DecisionInput{Action: store.Escalate, Comment: "c", To: d.ann.UserID})
	_, err := d.ChangeQueue(d.ctx, d.lea, "", []string{reviews["b"], reviews["c"]}, store.QueueChange{Action: store.ChangeOpinions, Opinions: 3})
	var refused *store.ChangeRefusedError
	if !errors.As(err, &refused) || len(refused.Items) != 1 || refused.Items[0].Why != "This item waits for one person to settle it: more opinions change nothing." {
		t.Errorf("asking for opinions on what was escalated: %v", err)
	}
	_, err = d.ChangeQueue(d.ctx, d.lea, "", []string{reviews["a"]}, store.QueueChange{Action: store.ChangeAssign, User: d.ann.UserID})
	if !errors.As(err, &refused) || refused.Items[0].Why != "ann has given an answer on it, so it needs somebody else." {
		t.Errorf("assigning it to who has answered: %v", err)
	}
	wantField(t, "one opinion", func() error {
		_, err := d.ChangeQueue(d.ctx, d.lea, "", []string{reviews["a"]}, store.QueueChange{Action: store.ChangeOpinions, Opinions: 1})
		return err
	}(), "opinions")
	d.checkKept("opinions on many")
}

// What was sent to a person by name is theirs whatever their domains; but nobody
// is sent what they have a conflict of interest with, and who leaves gives it back.
func TestSentByName(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	reviews := d.put(judged{id: "a", domain: "legal"}, judged{id: "b", run: "acme"})
	d.profile(d.ann, store.Profile{Domains: []string{"medical"}, Conflicts: []string{"acme"}})
	send := func(id string) error {
		d.claim(d.ben, reviews[id])
		_, err := d.Decide(d.ctx, d.ben, reviews[id], store.DecisionInput{Action: store.Escalate, Comment: "c", To: d.ann.UserID})
		return err
	}
	if err := send("a"); err != nil {
		t.Fatal(err)
	}
	wantField(t, "sending a conflict", send("b"), "to")
	if got := d.served(d.ann); !slices.Equal(got, []string{"a"}) {
		t.Errorf("ann is given %v, want what was sent to her", got)
	}
	if w, err := d.MyWork(d.ctx, d.ann, ""); err != nil || w.ForMe != 1 || w.Next == nil || w.Next.TraceID != "a" {
		t.Errorf("ann's work %+v, %v", w, err)
	}
	if err := d.DisableUser(d.ctx, store.Operator("test"), "ann@example.org"); err != nil {
		t.Fatal(err)
	}
	if got := d.served(d.lea); !slices.Equal(got, []string{"a"}) {
		t.Errorf("after ann left lea is given %v, want what was sent to ann", got)
	}
}
