package store_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

func asErr[T error](err error, target *T) bool { return errors.As(err, target) }

func TestDecideVisible(t *testing.T) {
	for name, c := range map[string]struct {
		in             store.DecisionInput
		action         string
		verdict, label string
		field          string // of the expected fault
	}{
		"confirm":                         {in: store.DecisionInput{Action: store.Confirm}, action: store.Confirm, verdict: "fail", label: "other-thing"},
		"confirm with the same verdict":   {in: store.DecisionInput{Action: store.Confirm, Verdict: judge.Fail}, action: store.Confirm, verdict: "fail", label: "other-thing"},
		"confirm with another verdict":    {in: store.DecisionInput{Action: store.Confirm, Verdict: judge.Pass}, field: "verdict"},
		"confirm with another label":      {in: store.DecisionInput{Action: store.Confirm, Label: "same-thing"}, field: "label"},
		"override by verdict":             {in: store.DecisionInput{Action: store.Override, Verdict: judge.Pass, ReasonCode: "too_strict", Comment: "fine"}, action: store.Override, verdict: "pass"},
		"override by label":               {in: store.DecisionInput{Action: store.Override, Label: "same-thing", ReasonCode: "judge_wrong", Comment: "fine"}, action: store.Override, verdict: "pass", label: "same-thing"},
		"override that changes nothing":   {in: store.DecisionInput{Action: store.Override, Verdict: judge.Fail}, action: store.Confirm, verdict: "fail", label: "other-thing"},
		"override of the findings alone":  {in: store.DecisionInput{Action: store.Override, Verdict: judge.Fail, Findings: []judge.Finding{{Class: "other"}}, ReasonCode: "other", Comment: "c"}, action: store.Override, verdict: "fail", label: "other-thing"},
		"override without a verdict":      {in: store.DecisionInput{Action: store.Override, ReasonCode: "other", Comment: "c"}, field: "verdict"},
		"override without a reason":       {in: store.DecisionInput{Action: store.Override, Verdict: judge.Pass, Comment: "c"}, field: "reason_code"},
		"override without a comment":      {in: store.DecisionInput{Action: store.Override, Verdict: judge.Pass, ReasonCode: "other", Comment: " "}, field: "comment"},
		"override with an unknown reason": {in: store.DecisionInput{Action: store.Override, Verdict: judge.Pass, ReasonCode: "whim", Comment: "c"}, field: "reason_code"},
		"override with an unknown label":  {in: store.DecisionInput{Action: store.Override, Label: "best", ReasonCode: "other", Comment: "c"}, field: "label"},
		"keep":                            {in: store.DecisionInput{Action: store.Keep}, field: "action"},
		"escalate without a comment":      {in: store.DecisionInput{Action: store.Escalate}, field: "comment"},
		"cannot judge without a comment":  {in: store.DecisionInput{Action: store.CannotJudge}, field: "comment"},
		"unknown confidence":              {in: store.DecisionInput{Action: store.Confirm, Confidence: "total"}, field: "confidence"},
		"a comment of 4,001 letters":      {in: store.DecisionInput{Action: store.Confirm, Comment: strings.Repeat("é", 4001)}, field: "comment"},
		"a comment of 4,000 letters":      {in: store.DecisionInput{Action: store.Confirm, Comment: strings.Repeat("é", 4000)}, action: store.Confirm, verdict: "fail", label: "other-thing"},
		"501 findings":                    {in: store.DecisionInput{Action: store.Confirm, Findings: make([]judge.Finding, 501)}, field: "findings"},
	} {
		t.Run(name, func(t *testing.T) {
			d := openDesk(t)
			d.blind("never")
			id := d.one()
			d.claim(d.ann, id)
			d.clock.add(90 * time.Second)
			got, err := d.Decide(d.ctx, d.ann, id, c.in)
			if c.field != "" {
				wantField(t, name, err, c.field)
				if n := d.number(`SELECT count(*) FROM decisions`) + d.number(`SELECT count(*) FROM labels`); n != 0 {
					t.Errorf("%d rows are stored after a fault", n)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got.Action != c.action || string(got.Verdict) != c.verdict || got.Label != c.label || got.Blind || !got.VerdictVisible || got.Seconds != 90 {
				t.Errorf("decision %+v", got)
			}
			l := d.ledger(got.ID)
			if !l.Visible || l.FirstVerdict != c.verdict || l.Verdict != c.verdict || l.Stratum != judge.StratumFlagged || l.Probability != 1 {
				t.Errorf("label %+v", l)
			}
			if s := d.text(`SELECT status || ' ' || result_verdict || ' ' || result_source FROM evaluations`); s != "final "+c.verdict+" human" {
				t.Errorf("evaluation is %q", s)
			}
			r, err := d.GetReview(d.ctx, d.ann, id)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]store.Decision{got}, r.Decisions); diff != "" {
				t.Errorf("decisions as read (-returned +read):\n%s", diff)
			}
		})
	}
}

func TestConfirmNeedsAVerdict(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	id := d.put(judged{id: "t1", report: func(e *judge.Evaluation) {
		*e = judge.Evaluation{Status: judge.InReview, Reasons: []judge.Reason{{Code: judge.ReasonJudgeFailed, Detail: "503"}}, Error: "503"}
	}})["t1"]
	d.claim(d.ann, id)
	_, err := d.Decide(d.ctx, d.ann, id, store.DecisionInput{Action: store.Confirm})
	wantField(t, "confirm of a failed judge", err, "action")
	got := d.decide(d.ann, id, store.DecisionInput{Action: store.Override, Verdict: judge.Pass, ReasonCode: "other", Comment: "read it myself"})
	if got.Action != store.Override {
		t.Errorf("action %s, want override", got.Action)
	}
}

func TestResultIsFinalOnlyAfterTheDecision(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	state := func() string {
		return d.text(`SELECT e.status || ' ' || e.result_source || ' ' || r.state FROM evaluations e JOIN reviews r ON r.evaluation_id = e.id`)
	}
	for _, step := range []struct {
		do   func()
		want string
	}{
		{func() {}, "in_review  open"},
		{func() { d.claim(d.ann, id) }, "in_review  claimed"},
		{func() { d.first(d.ann, id, judge.Pass) }, "in_review  claimed"},
		{func() { d.decide(d.ann, id, store.DecisionInput{Action: store.Escalate, Comment: "hard"}) }, "in_review  adjudication"},
		{func() { d.claim(d.lea, id) }, "in_review  claimed"},
		{func() { d.first(d.lea, id, judge.Fail) }, "in_review  claimed"},
		{func() { d.decide(d.lea, id, store.DecisionInput{Action: store.Adopt}) }, "final adjudication decided"},
	} {
		step.do()
		if got := state(); got != step.want {
			t.Fatalf("state %q, want %q", got, step.want)
		}
	}
	decisions := d.number(`SELECT count(*) FROM decisions`)
	if l := d.text(`SELECT reviewer FROM labels WHERE adjudicated`); decisions != 2 || l != d.lea.UserID {
		t.Errorf("%d decisions, label %s; want 2 and the lead's adjudicated one", decisions, l)
	}
	if c := d.text(`SELECT basis || ' ' || verdict FROM consensus`); c != "adjudicated fail" {
		t.Errorf("consensus %q", c)
	}
}

// TestCannotJudgeIsAnAbstention: others are asked until as many could not judge
// as the policy says; then a lead who has not said so settles it.
func TestCannotJudgeIsAnAbstention(t *testing.T) {
	for quorum := 1; quorum <= 3; quorum++ {
		d := openDesk(t)
		d.policy(func(p *judge.Policy) { p.CannotJudge = quorum })
		id := d.one()
		people := []store.Actor{d.ann, d.lea, d.ben}[:quorum]
		for i, a := range people {
			r, err := d.ClaimNext(d.ctx, a, "default", store.ClaimFilter{})
			if err != nil || r.ReviewID != id {
				t.Fatalf("%d of %d: next item for %s: %v", i+1, quorum, a.Name, err)
			}
			got := d.decide(a, id, store.DecisionInput{Action: store.CannotJudge, Comment: "not my field"})
			if l := d.ledger(got.ID); !l.Abstained || l.Verdict != "" || l.Visible {
				t.Errorf("label %+v, want an abstention that saw nothing", l)
			}
			want := "open"
			if i+1 == quorum {
				want = "adjudication"
			}
			if s := d.text(`SELECT state FROM reviews`); s != want {
				t.Errorf("after %d of %d who cannot judge the review is %s, want %s", i+1, quorum, s, want)
			}
			_, err = d.ClaimNext(d.ctx, a, "default", store.ClaimFilter{})
			wantErr(t, "the item again for "+a.Name, err, store.ErrNotFound)
		}
		if c := d.text(`SELECT basis || ' ' || verdict || CASE WHEN abstained THEN ' abstained' ELSE '' END FROM consensus`); c != "decision  abstained" {
			t.Errorf("consensus %q", c)
		}
		if r, err := d.ClaimNext(d.ctx, d.luis, "default", store.ClaimFilter{}); err != nil || r.ReviewID != id {
			t.Errorf("the lead who settles it: %v", err)
		}
		d.holds()
	}
}

func TestAdjudicationIsForAnotherLead(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	d.claim(d.lea, id)
	d.decide(d.lea, id, store.DecisionInput{Action: store.Escalate, Comment: "hard"})
	for _, a := range []store.Actor{d.ann, d.lea} {
		_, err := d.ClaimReview(d.ctx, a, id)
		wantErr(t, "claim of an adjudication by "+a.Name, err, store.ErrForbidden)
		_, err = d.ClaimNext(d.ctx, a, "default", store.ClaimFilter{})
		wantErr(t, "next item for "+a.Name, err, store.ErrNotFound)
	}
	if n := d.number(`SELECT count(*) FROM audit_events WHERE NOT allowed AND action = 'review.claimed'`); n != 2 {
		t.Errorf("%d denials are recorded, want 2", n)
	}
	got, err := d.ClaimNext(d.ctx, d.luis, "default", store.ClaimFilter{})
	if err != nil || got.ReviewID != id || !got.Adjudicating {
		t.Fatalf("next item for another lead: %+v, %v", got.QueueItem, err)
	}
	if err := d.ReleaseClaim(d.ctx, d.luis, id); err != nil {
		t.Fatal(err)
	}
	if s := d.text(`SELECT state FROM reviews`); s != "adjudication" {
		t.Errorf("after release the review is %s, want adjudication", s)
	}
}

func TestExposureMakesTheVerdictVisible(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	d.claim(d.ann, id)
	if _, err := d.raw.Exec(`INSERT INTO exposures (evaluation_id, user_id, exposed_at) SELECT evaluation_id, ?, ? FROM reviews`, d.ann.UserID, d.clock.Now()); err != nil {
		t.Fatal(err)
	}
	seen, err := d.GetReview(d.ctx, d.ann, id)
	if err != nil || seen.Sealed || seen.Evaluation == nil {
		t.Fatalf("after exposure: sealed %v, %v", seen.Sealed, err)
	}
	_, err = d.CommitFirstAnswer(d.ctx, d.ann, id, store.Answer{Verdict: judge.Pass})
	wantErr(t, "a first answer after exposure", err, store.ErrConflict)
	got := d.decide(d.ann, id, store.DecisionInput{Action: store.Confirm})
	if !got.Blind || !got.VerdictVisible || !d.ledger(got.ID).Visible {
		t.Errorf("decision %+v: want a blind item decided with the verdict visible", got)
	}
	if n := d.number(`SELECT count(*) FROM consensus WHERE visible`); n != 1 {
		t.Errorf("the consensus does not say that the verdict was visible")
	}
}

func TestReopen(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	d.claim(d.ann, id)
	d.first(d.ann, id, judge.Pass)
	before := d.decide(d.ann, id, store.DecisionInput{Action: store.Adopt})
	wantErr(t, "reopen by another reviewer", d.Reopen(d.ctx, d.ben, id, "why"), store.ErrForbidden)
	wantField(t, "reopen without a reason", d.Reopen(d.ctx, d.ann, id, ""), "reason")
	if err := d.Reopen(d.ctx, d.ann, id, "misread the amount"); err != nil {
		t.Fatal(err)
	}
	if s := d.text(`SELECT e.status || e.result_source || r.state FROM evaluations e JOIN reviews r ON r.evaluation_id = e.id`); s != "in_reviewclaimed" {
		t.Errorf("reopened: %q", s)
	}
	wantErr(t, "reopen twice", d.Reopen(d.ctx, d.lea, id, "why"), store.ErrConflict)
	d.clock.add(time.Minute)
	after := d.decide(d.ann, id, store.DecisionInput{Action: store.Override, Label: "same-thing", ReasonCode: "judge_wrong", Comment: "amount is right"})
	if after.Supersedes != before.ID || after.VerdictVisible || after.FirstVerdict != judge.Pass {
		t.Errorf("correction %+v: want it to supersede and keep the first answer", after)
	}
	r, err := d.GetReview(d.ctx, d.ann, id)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Decisions) != 2 || r.Settled.ID != after.ID || r.Result.Verdict != judge.Pass {
		t.Errorf("%d decisions, settled by %+v, result %+v", len(r.Decisions), r.Settled, r.Result)
	}
	// A lead who corrects has seen what was decided.
	d.clock.add(time.Minute)
	if err := d.Reopen(d.ctx, d.lea, id, "second thoughts"); err != nil {
		t.Fatal(err)
	}
	last := d.decide(d.lea, id, store.DecisionInput{Action: store.Confirm})
	if !last.VerdictVisible || last.Supersedes != after.ID {
		t.Errorf("the lead's correction %+v", last)
	}
	if v, err := d.VerifyAudit(d.ctx, d.auditor); err != nil || v.Problem != "" {
		t.Errorf("audit chain: %+v, %v", v, err)
	}
}

func TestWhatPeopleSaidIsNeverEdited(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	d.claim(d.ann, id)
	d.first(d.ann, id, judge.Fail)
	d.decide(d.ann, id, store.DecisionInput{Action: store.Keep})
	for _, query := range []string{
		`UPDATE decisions SET verdict = 'pass'`, `DELETE FROM decisions`,
		`UPDATE first_answers SET verdict = 'pass'`, `DELETE FROM first_answers`,
		`UPDATE labels SET verdict = 'pass'`, `DELETE FROM labels`,
		`UPDATE audit_events SET actor = 'x'`, `DELETE FROM audit_events`,
	} {
		if _, err := d.raw.Exec(query); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v, want it refused as append-only", query, err)
		}
	}
}

func TestAuditorsMayNotAct(t *testing.T) {
	d := openDesk(t)
	id := d.one()
	in := store.DecisionInput{Action: store.Confirm}
	acts := map[string]func(store.Actor) error{
		"review.claimed":      func(a store.Actor) error { _, err := d.ClaimNext(d.ctx, a, "", store.ClaimFilter{}); return err },
		"review.renewed":      func(a store.Actor) error { _, err := d.RenewClaim(d.ctx, a, id); return err },
		"review.released":     func(a store.Actor) error { return d.ReleaseClaim(d.ctx, a, id) },
		"review.skipped":      func(a store.Actor) error { return d.SkipReview(d.ctx, a, id, "") },
		"review.first_answer": func(a store.Actor) error { _, err := d.CommitFirstAnswer(d.ctx, a, id, store.Answer{}); return err },
		"decision.made":       func(a store.Actor) error { _, err := d.Decide(d.ctx, a, id, in); return err },
		"review.reopened":     func(a store.Actor) error { return d.Reopen(d.ctx, a, id, "why") },
	}
	for action, act := range acts {
		for _, a := range []store.Actor{d.auditor, store.Operator("shell")} {
			wantErr(t, action+" by "+a.Name, act(a), store.ErrForbidden)
			if n := d.number(`SELECT count(*) FROM audit_events WHERE NOT allowed AND action = ? AND actor = ?`, action, a.Name); n != 1 {
				t.Errorf("%s by %s: %d denials are recorded, want 1", action, a.Name, n)
			}
		}
	}
	if s := d.text(`SELECT state FROM reviews`); s != "open" {
		t.Errorf("review is %s, want open", s)
	}
}

// Two tabs of the holder and a second person all decide at once, many times.
func TestDecisionHappensOnce(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	reviews := d.put(numbered("t", 60)...)
	for trace, id := range reviews {
		d.claim(d.ann, id)
		inputs := []struct {
			by store.Actor
			in store.DecisionInput
		}{
			{d.ann, store.DecisionInput{Action: store.Confirm}},
			{d.ann, store.DecisionInput{Action: store.Override, Verdict: judge.Pass, ReasonCode: "other", Comment: "c"}},
			{d.ben, store.DecisionInput{Action: store.Confirm}},
		}
		var wg sync.WaitGroup
		won := make([]store.Decision, len(inputs))
		errs := make([]error, len(inputs))
		for i, x := range inputs {
			wg.Go(func() { won[i], errs[i] = d.Decide(context.WithoutCancel(d.ctx), x.by, id, x.in) })
		}
		wg.Wait()
		winner := 0
		if errs[0] != nil {
			winner = 1
		}
		if errs[winner] != nil || errs[1-winner] == nil {
			t.Fatalf("%s: errors %v", trace, errs)
		}
		var late *store.DecidedError
		if !asErr(errs[1-winner], &late) {
			t.Fatalf("%s: the late one got %v, want DecidedError", trace, errs[1-winner])
		}
		if diff := cmp.Diff(won[winner], late.Decision); diff != "" {
			t.Fatalf("%s: the late one was told of another decision (-won +told):\n%s", trace, diff)
		}
		wantErr(t, "the one without a claim", errs[2], store.ErrConflict)
		_, err := d.Decide(d.ctx, d.ben, id, inputs[2].in)
		if late = nil; !asErr(err, &late) || late.Decision.ID != won[winner].ID {
			t.Fatalf("%s: afterwards the other got %v, want the winner's decision", trace, err)
		}
	}
	if n, labels := d.number(`SELECT count(*) FROM decisions`), d.number(`SELECT count(*) FROM labels`); n != 60 || labels != 60 {
		t.Errorf("%d decisions and %d labels of 60 items", n, labels)
	}
}
