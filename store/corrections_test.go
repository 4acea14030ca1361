package store_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// correctable puts one item on the desk whose trace has every text that can be
// corrected, beside another evaluation of the same trace that waits for its judge.
func (d *desk) correctable() string {
	d.t.Helper()
	plan := func(name string) judge.Planned {
		return judge.Planned{Judge: name, PromptVersion: "v1", Engine: judge.EngineRules, Model: judge.EngineRules, Judgment: judge.NoJudgment}
	}
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", []store.ImportItem{{Trace: judge.Trace{
		ID: "t1", Output: "the output", Domain: "general", Run: "spring", Question: "what rate?", Reference: "16 %", Premises: []string{"one", "two"},
		Sources: []judge.Source{{ID: "s:1", Text: "the rate is 16 %"}, {ID: "empty"}},
		Labels:  []judge.HumanLabel{{Judge: "equivalence", Verdict: judge.Pass, Reviewer: "x"}},
	}, Plan: []judge.Planned{plan("equivalence")}}}); err != nil {
		d.t.Fatal(err)
	}
	work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: 1, Lease: time.Minute})
	if err != nil || len(work) != 1 {
		d.t.Fatal(work, err)
	}
	e := failing()
	e.Engine, e.Model, e.Judge, e.PromptVersion = judge.EngineRules, judge.EngineRules, "equivalence", "v1"
	d.must(d.FinishWork(d.ctx, []judge.Finished{{Work: work[0], Evaluation: e}}))
	if _, err := d.QueueEvaluations(d.ctx, d.lea, "default", "t1", []judge.Planned{plan("another")}); err != nil {
		d.t.Fatal(err)
	}
	return d.text(`SELECT id FROM reviews`)
}

// again plans each judge by the rules.
func again(_ context.Context, _ string, _ *judge.Trace, judges []string) (plan []judge.Planned, err error) {
	for _, name := range judges {
		plan = append(plan, judge.Planned{Judge: name, PromptVersion: "v1", Engine: judge.EngineRules, Model: judge.EngineRules, Judgment: judge.NoJudgment})
	}
	return plan, nil
}

var outdated = store.NewCorrection{Target: "reference", Kind: store.Outdated, Explanation: "19 % since 2007", Replacement: "19 %"}

func (d *desk) propose(a store.Actor, review string, in store.NewCorrection) store.Correction {
	d.t.Helper()
	d.claim(a, review)
	c, err := d.ProposeCorrection(d.ctx, a, review, in)
	if err != nil {
		d.t.Fatalf("%s proposes: %v", a.Name, err)
	}
	return c
}

func TestCorrectionIsAccepted(t *testing.T) {
	d := openDesk(t)
	d.blind("always")
	id := d.correctable()
	body := whole()
	d.claim(d.ann, id)
	d.save(d.ann, id, store.DraftBase{}, body)
	c := d.propose(d.ann, id, outdated)
	if c.State != store.CorrectionOpen || c.Before != "16 %" || c.Proposer != "ann" || c.TraceID != "t1" || c.Revision != 1 {
		t.Errorf("proposed %+v", c)
	}
	if got := d.draft(d.ann, id); got == nil || got.Correction != nil || got.Comment != body.Comment {
		t.Errorf("the draft is %+v: only the correction was sent", got)
	}
	// Nobody is given the item, and nobody takes it.
	for _, a := range []store.Actor{d.ann, d.ben, d.lea} {
		_, err := d.ClaimNext(d.ctx, a, "default", store.ClaimFilter{})
		wantErr(t, a.Name+" takes the next", err, store.ErrNotFound)
		_, err = d.ClaimReview(d.ctx, a, id)
		wantErr(t, a.Name+" takes it", err, store.ErrConflict)
	}
	if n, err := d.OpenCorrections(d.ctx, d.lea, "default"); err != nil || n != 1 {
		t.Errorf("a lead is asked about %d (%v)", n, err)
	}
	d.holds()

	_, err := d.AcceptCorrection(d.ctx, d.ben, c.ID, store.Acceptance{}, again)
	wantErr(t, "accepted by a reviewer", err, store.ErrForbidden)
	_, err = d.AcceptCorrection(d.ctx, d.lea, c.ID, store.Acceptance{Replacement: "20 %"}, again)
	wantField(t, "accepted with another text", err, "replacement")
	got, err := d.AcceptCorrection(d.ctx, d.lea, c.ID, store.Acceptance{Comment: "so it is"}, again)
	if err != nil {
		t.Fatal(err)
	}
	if got.State != store.CorrectionAccepted || got.NewRevision != 2 || got.AnsweredBy != "lea" || got.Answer != "so it is" {
		t.Errorf("accepted %+v", got)
	}
	v, err := d.GetTrace(d.ctx, store.Operator("test"), "default", "t1", 0)
	if err != nil {
		t.Fatal(err)
	}
	if v.Revision != 2 || v.Trace.Reference != "19 %" || v.Trace.Question != "what rate?" || v.Trace.Run != "spring" || len(v.Trace.Labels) != 0 || len(v.Evaluations) != 2 {
		t.Errorf("the new revision: %+v", v)
	}
	old, err := d.GetTrace(d.ctx, store.Operator("test"), "default", "t1", 1)
	if err != nil || old.Trace.Reference != "16 %" || len(old.Trace.Labels) != 1 || len(old.Evaluations) != 2 {
		t.Errorf("the old revision: %+v, %v", old, err)
	}
	for _, e := range old.Evaluations {
		if e.Status != judge.Refused || e.RefusedField != store.CorrectedField || e.Result != nil {
			t.Errorf("the old evaluation is %s (%s), want it refused and without a result", e.Status, e.RefusedField)
		}
	}
	if got := d.text(`SELECT state FROM reviews WHERE id = ?`, id); got != "closed" {
		t.Errorf("the item is %s", got)
	}
	// Its verdict would tell much of the new one's, which ben may review blind.
	r, err := d.GetReview(d.ctx, d.ben, id)
	if err != nil || !r.Sealed || r.Evaluation != nil {
		t.Errorf("ben sees of the old item: sealed %v, %+v (%v)", r.Sealed, r.Evaluation, err)
	}
	_, err = d.ClaimReview(d.ctx, d.ben, id)
	wantErr(t, "the closed item claimed", err, store.ErrConflict)
	_, err = d.AcceptCorrection(d.ctx, d.luis, c.ID, store.Acceptance{}, again)
	wantErr(t, "accepted again", err, store.ErrConflict)
	wantErr(t, "declined after that", d.DeclineCorrection(d.ctx, d.luis, c.ID, "no"), store.ErrConflict)

	// The worker judges the new revision, and people decide it.
	work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: 10, Lease: time.Minute})
	if err != nil || len(work) != 2 {
		t.Fatalf("work %+v, %v", work, err)
	}
	for _, w := range work {
		if w.Trace.Reference != "19 %" {
			t.Errorf("the judge is given %q", w.Trace.Reference)
		}
	}
	if n := d.number(`SELECT count(*) FROM audit_events WHERE action = 'trace.corrected'`); n != 2 {
		t.Errorf("%d events tell of it, want one of each revision", n)
	}
	d.holds()
}

func TestCorrectionIsDeclined(t *testing.T) {
	for _, how := range []string{"never", "always"} {
		d := openDesk(t)
		d.blind(how)
		id := d.correctable()
		c := d.propose(d.lea, id, outdated) // a lead may propose, too
		wantErr(t, "declined by who proposed it", d.DeclineCorrection(d.ctx, d.lea, c.ID, "no"), store.ErrConflict)
		_, err := d.AcceptCorrection(d.ctx, d.lea, c.ID, store.Acceptance{}, again)
		wantErr(t, "accepted by who proposed it", err, store.ErrConflict)
		// The count is of the list's rows, one's own among them.
		list, err := d.ListCorrections(d.ctx, d.lea, store.CorrectionFilter{Project: "default", State: "open"})
		if n, countErr := d.OpenCorrections(d.ctx, d.lea, "default"); err != nil || countErr != nil || n != 1 || len(list) != n {
			t.Errorf("%d open, %d listed (%v, %v)", n, len(list), err, countErr)
		}
		wantErr(t, "taken back by another", d.WithdrawCorrection(d.ctx, d.luis, c.ID), store.ErrConflict)
		wantField(t, "declined without a word", d.DeclineCorrection(d.ctx, d.luis, c.ID, " "), "reason")
		wantErr(t, "declined by a reviewer", d.DeclineCorrection(d.ctx, d.ben, c.ID, "no"), store.ErrForbidden)
		d.must(d.DeclineCorrection(d.ctx, d.luis, c.ID, "the reference is of 2006, when it was 16 %"))
		if texts, _, _ := d.read(d.lea, id); !slices.Equal(texts, []string{"the reference is of 2006, when it was 16 %"}) {
			t.Errorf("who proposed it reads %q", texts)
		}
		asked, err := d.QuestionsFor(d.ctx, d.lea, "default")
		if err != nil || len(asked) != 1 {
			t.Errorf("and is told %+v (%v)", asked, err)
		}
		// The item goes on as if nothing had been.
		next, err := d.ClaimNext(d.ctx, d.ann, "default", store.ClaimFilter{})
		if err != nil || next.ReviewID != id || next.Correction != nil || next.Blind != (how == "always") {
			t.Errorf("next is %+v (%v)", next.QueueItem, err)
		}
		d.holds()
	}
}

func TestCorrectionIsTakenBack(t *testing.T) {
	d := openDesk(t)
	id := d.correctable()
	c := d.propose(d.ann, id, outdated)
	d.must(d.WithdrawCorrection(d.ctx, d.ann, c.ID))
	wantErr(t, "again", d.WithdrawCorrection(d.ctx, d.ann, c.ID), store.ErrConflict)
	d.propose(d.ben, id, outdated)
	d.holds()
}

func TestWhatMayBeCorrected(t *testing.T) {
	for _, c := range []struct {
		name  string
		in    store.NewCorrection
		field string
	}{
		{"the question", store.NewCorrection{Target: "question", Kind: "wrong", Explanation: "x", Replacement: "which rate?"}, ""},
		{"a premise", store.NewCorrection{Target: "premise:2", Kind: "wrong", Explanation: "x", Replacement: "three"}, ""},
		{"a source with a colon in its id", store.NewCorrection{Target: "source:s:1", Kind: "outdated", Explanation: "x", Replacement: "the rate is 19 %"}, ""},
		{"no text known", store.NewCorrection{Target: "reference", Kind: "outdated", Explanation: "x"}, ""},
		{"nothing", store.NewCorrection{Kind: "wrong", Explanation: "x"}, "target"},
		{"the output, which is what is judged", store.NewCorrection{Target: "output", Kind: "wrong", Explanation: "x"}, "target"},
		{"a premise that is not there", store.NewCorrection{Target: "premise:3", Kind: "wrong", Explanation: "x"}, "target"},
		{"a source that is not there", store.NewCorrection{Target: "source:s2", Kind: "wrong", Explanation: "x"}, "target"},
		{"a source without a text", store.NewCorrection{Target: "source:empty", Kind: "wrong", Explanation: "x"}, "target"},
		{"of no kind", store.NewCorrection{Target: "reference", Kind: "odd", Explanation: "x"}, "kind"},
		{"without a reason", store.NewCorrection{Target: "reference", Kind: "wrong"}, "explanation"},
		{"by the same text", store.NewCorrection{Target: "reference", Kind: "wrong", Explanation: "x", Replacement: "16 %"}, "replacement"},
		{"by a huge text", store.NewCorrection{Target: "reference", Kind: "wrong", Explanation: "x", Replacement: strings.Repeat("x", store.MaxReplacement+1)}, "replacement"},
	} {
		d := openDesk(t)
		id := d.correctable()
		d.claim(d.ann, id)
		_, err := d.ProposeCorrection(d.ctx, d.ann, id, c.in)
		if c.field != "" {
			wantField(t, c.name, err, c.field)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	d := openDesk(t)
	id := d.correctable()
	_, err := d.ProposeCorrection(d.ctx, d.ann, id, outdated)
	wantErr(t, "without a claim", err, store.ErrConflict)
	_, err = d.ProposeCorrection(d.ctx, d.auditor, id, outdated)
	wantErr(t, "by an auditor", err, store.ErrForbidden)
}

// TestLeadGivesTheText: who proposed it did not know the right text.
func TestLeadGivesTheText(t *testing.T) {
	d := openDesk(t)
	id := d.correctable()
	unknown := outdated
	unknown.Replacement = ""
	c := d.propose(d.ann, id, unknown)
	_, err := d.AcceptCorrection(d.ctx, d.lea, c.ID, store.Acceptance{}, again)
	wantField(t, "no text", err, "replacement")
	_, err = d.AcceptCorrection(d.ctx, d.lea, c.ID, store.Acceptance{Replacement: "16 %"}, again)
	wantField(t, "the same text", err, "replacement")
	got, err := d.AcceptCorrection(d.ctx, d.lea, c.ID, store.Acceptance{Replacement: "19 %"}, again)
	if err != nil || got.Replacement != "19 %" || got.NewRevision != 2 {
		t.Errorf("accepted %+v, %v", got, err)
	}
}

// TestCorrectionMeetsARevision: a file brought the trace anew meanwhile.
func TestCorrectionMeetsARevision(t *testing.T) {
	d := openDesk(t)
	id := d.correctable()
	c := d.propose(d.ann, id, outdated)
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", []store.ImportItem{{Trace: judge.Trace{ID: "t1", Output: "another"}}}); err != nil {
		t.Fatal(err)
	}
	_, err := d.AcceptCorrection(d.ctx, d.lea, c.ID, store.Acceptance{}, again)
	wantErr(t, "accepted", err, store.ErrConflict)
	d.must(d.DeclineCorrection(d.ctx, d.lea, c.ID, "there is a new revision"))
	d.claim(d.ann, id)
	_, err = d.ProposeCorrection(d.ctx, d.ann, id, outdated)
	wantErr(t, "proposed for an old revision", err, store.ErrConflict)
}

// TestCorrectionRace: of many leads one answers, and the trace has one revision more.
func TestCorrectionRace(t *testing.T) {
	d := openDesk(t)
	id := d.correctable()
	c := d.propose(d.ann, id, outdated)
	var mu sync.Mutex
	var won int
	var wg sync.WaitGroup
	for i := range 10 {
		wg.Go(func() {
			ctx := context.WithoutCancel(d.ctx)
			var err error
			if i%2 == 0 {
				_, err = d.AcceptCorrection(ctx, d.lea, c.ID, store.Acceptance{}, again)
			} else {
				err = d.DeclineCorrection(ctx, d.luis, c.ID, "no")
			}
			if err == nil {
				mu.Lock()
				won++
				mu.Unlock()
				return
			}
			wantErr(t, "the others", err, store.ErrConflict)
		})
	}
	wg.Wait()
	if won != 1 || d.number(`SELECT count(*) FROM correction_answers`) != 1 {
		t.Errorf("%d won", won)
	}
	d.holds()
}

// TestListCorrections: leads and auditors see all, reviewers what they proposed;
// whoever may still answer the item does not read what is said of it there.
func TestListCorrections(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	d.opinions(2)
	id := d.correctable()
	d.opine(d.ben, id, judge.Pass)
	c := d.propose(d.ann, id, outdated)
	for _, tt := range []struct {
		who  store.Actor
		n    int
		said string
	}{{d.ann, 1, outdated.Explanation}, {d.ben, 0, outdated.Explanation}, {d.person("cara", store.Reviewer), 0, ""}, {d.auditor, 1, outdated.Explanation}, {d.lea, 1, ""}} {
		for _, state := range []string{"", "open"} {
			all, err := d.ListCorrections(d.ctx, tt.who, store.CorrectionFilter{State: state})
			if err != nil || len(all) != tt.n {
				t.Errorf("%s sees %d of state %q (%v), want %d", tt.who.Name, len(all), state, err, tt.n)
			}
		}
		r, err := d.GetReview(d.ctx, tt.who, id)
		if err != nil || r.Correction == nil || r.Correction.Explanation != tt.said {
			t.Errorf("%s reads on the item %+v (%v), want %q", tt.who.Name, r.Correction, err, tt.said)
		}
		if tt.who.Name == "cara" && len(r.Decisions) > 0 {
			t.Errorf("cara is told what ben said: %+v", r.Decisions)
		}
	}
	d.must(d.DeclineCorrection(d.ctx, d.lea, c.ID, "no"))
	for state, want := range map[string]int{"": 1, "open": 0, "declined": 1, "accepted": 0, "withdrawn": 0} {
		if all, err := d.ListCorrections(d.ctx, d.lea, store.CorrectionFilter{State: state}); err != nil || len(all) != want {
			t.Errorf("%d of state %q (%v), want %d", len(all), state, err, want)
		}
	}
	_, err := d.ListCorrections(d.ctx, d.lea, store.CorrectionFilter{State: "odd"})
	wantField(t, "an odd state", err, "state")
}
