package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
)

// shadowed is the desk with version v2 of its judge in the shadow of v1.
func shadowed(t *testing.T, share float64) *desk {
	t.Helper()
	d := openDesk(t)
	second := deskJudge
	second.PromptVersion = "v2-of-the-judge"
	if known, err := d.SaveVersion(d.ctx, d.lea, "default", second); err != nil || known {
		t.Fatalf("known %v, error %v", known, err)
	}
	if _, err := d.StartShadow(d.ctx, d.lea, "default", shadowTarget, share, "is it better?"); err != nil {
		t.Fatal(err)
	}
	return d
}

var shadowTarget = judge.Planned{Judge: "equivalence", PromptVersion: "v2-of-the-judge", Engine: judge.EngineOpenAI, Model: "m", Judgment: judge.NoJudgment}

// live imports n labelled traces for v1, judges them and what runs in their shadow: the
// two differ on every third.
func (d *desk) live(n int, verdict judge.Verdict) {
	d.t.Helper()
	var items []store.ImportItem
	for i := range n {
		items = append(items, store.ImportItem{
			Trace: judge.Trace{ID: fmt.Sprintf("s%03d", i), Output: fmt.Sprintf("output %d", i), Domain: "general", Run: "nightly",
				Labels: []judge.HumanLabel{{Judge: "equivalence", Verdict: judge.Pass, Reviewer: "expert"}}},
			Plan: []judge.Planned{{Judge: "equivalence", PromptVersion: "v1", Engine: judge.EngineOpenAI, Model: "m", Judgment: judge.NoJudgment}},
		})
	}
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", items); err != nil {
		d.t.Fatal(err)
	}
	d.judgeQueued(func(w judge.Work) judge.Evaluation {
		e := judge.Evaluation{Status: judge.Accepted, Verdict: verdict, Attempts: 1, CostUSD: 0.01}
		if w.Planned.PromptVersion == "v1" {
			if verdict == judge.Fail {
				e.Status, e.Reasons = judge.InReview, []judge.Reason{{Code: judge.ReasonBelowThreshold}}
			}
			return e
		}
		// What would send any other evaluation to people.
		e.Verdict, e.Status, e.Critical = judge.Fail, judge.InReview, true
		e.Reasons = []judge.Reason{{Code: judge.ReasonCriticalError, Detail: "SECRET reason"}}
		return e
	})
}

// A shadow is judged through the same work list and counts nowhere: not in the queue,
// not in the run, not in calibration, and it contradicts nobody.
func TestShadowCountsNowhere(t *testing.T) {
	d := shadowed(t, 1)
	d.blind("never")
	d.live(30, judge.Pass)
	if n := d.number(`SELECT count(*) FROM evaluations WHERE shadow_of <> '' AND verdict = 'fail' AND status = 'final'`); n != 30 {
		t.Fatalf("%d shadows were judged", n)
	}
	if n := d.number(`SELECT count(*) FROM reviews`); n != 0 {
		t.Errorf("%d items wait for people", n)
	}
	if n := d.number(`SELECT count(*) FROM evaluations WHERE shadow_of <> '' AND (result_source <> '' OR lead_reason <> '' OR reasons <> 0 OR cell <> 0)`); n != 0 {
		t.Errorf("%d shadows count for something", n)
	}
	if n := d.number(`SELECT sum(verdicts) FROM drift_days`); n != 30 {
		t.Errorf("%d verdicts are watched for drift, want those of the 30 live evaluations", n)
	}
	if n := d.number(`SELECT count(*) FROM evaluations WHERE shadow_of = '' AND status = 'accepted'`); n != 30 {
		t.Errorf("%d of the 30 live evaluations stay accepted", n)
	}
	run, err := d.Run(d.ctx, d.lea, "default", "nightly")
	if err != nil {
		t.Fatal(err)
	}
	if run.Evaluations != 30 || run.Pass != 30 || run.Fail != 0 || run.Waiting != 0 || run.Unjudged != 0 || run.NoVerdict != 0 {
		t.Errorf("the run counts %+v", run)
	}
	evidence, err := d.ReleaseEvidence(d.ctx, d.lea, "default", "nightly")
	if err != nil {
		t.Fatal(err)
	}
	if evidence.Evaluations != 30 || len(evidence.Judges) != 1 {
		t.Errorf("a release would be signed on %d evaluations by %d judges, want 30 by 1", evidence.Evaluations, len(evidence.Judges))
	}
	counts, err := d.CalibrationCounts(d.ctx, d.auditor, "default", "equivalence")
	if err != nil {
		t.Fatal(err)
	}
	if len(counts) != 1 || counts[0].PromptVersion != "v1" || counts[0].Items != 30 {
		t.Errorf("calibration counts %d versions: %+v", len(counts), counts)
	}
	overview, err := d.Overview(d.ctx, d.lea, "default")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range overview.StatusCounts {
		if want := map[judge.Status]int{judge.Accepted: 30}[c.Status]; c.N != want {
			t.Errorf("the overview counts %d %s, want %d", c.N, c.Status, want)
		}
	}
	d.holds()

	// It is told as what it is, and it is what can be compared.
	if rows, _, err := d.ListEvaluations(d.ctx, d.lea, store.EvaluationFilter{Run: "nightly", Limit: 500}); err != nil || len(rows) != 30 {
		t.Errorf("%d evaluations of the run, error %v", len(rows), err)
	}
	for _, f := range []store.EvaluationFilter{{Status: judge.Final}, {Verdict: judge.Fail}} {
		if rows, _, err := d.ListEvaluations(d.ctx, d.auditor, f); err != nil || len(rows) != 0 {
			t.Errorf("%+v lists %d, error %v", f, len(rows), err)
		}
	}
	shadows := 0
	if err := d.EachEvaluation(d.ctx, d.auditor, store.EvaluationFilter{}, func(e judge.Evaluation) error {
		if e.Shadow {
			shadows++
			if e.Result != nil || len(e.Reasons) > 0 || e.PromptVersion != "v2-of-the-judge" {
				t.Errorf("exported %+v", e)
			}
		}
		return nil
	}); err != nil || shadows != 30 {
		t.Errorf("%d shadows in the export, error %v", shadows, err)
	}
	known, err := d.Competitors(d.ctx, d.lea, "default", "equivalence")
	want := []calibration.Competitor{{PromptVersion: "v1", Model: "m"}, {PromptVersion: "v2-of-the-judge", Model: "m"}}
	if diff := cmp.Diff(want, known); err != nil || diff != "" {
		t.Fatalf("who can be compared: %s, error %v", diff, err)
	}
	r, err := d.CompareJudges(d.ctx, d.lea, "default", "equivalence", known)
	if err != nil || r.Shared != 30 || r.Labelled.Duel.OnlyFirst != 30 || r.Effort[0].Shadow != 0 || r.Effort[1].Shadow != 30 {
		t.Errorf("compared %+v, error %v", r.Labelled.Duel, err)
	}
	list, err := d.Shadows(d.ctx, d.lea, "default", "equivalence")
	if err != nil || len(list) != 1 || list[0].Queued != 30 || list[0].Waiting != 0 {
		t.Errorf("shadows %+v, error %v", list, err)
	}
}

// A shadow whose judge failed ends without a verdict, and nobody is asked about it.
func TestShadowThatFails(t *testing.T) {
	d := shadowed(t, 1)
	d.blind("never")
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", []store.ImportItem{{Trace: judge.Trace{ID: "t", Output: "o", Domain: "general", Run: "nightly"},
		Plan: []judge.Planned{{Judge: "equivalence", PromptVersion: "v1", Engine: judge.EngineOpenAI, Model: "m", Judgment: judge.NoJudgment}}}}); err != nil {
		t.Fatal(err)
	}
	d.judgeQueued(func(w judge.Work) judge.Evaluation {
		if w.Planned.PromptVersion == "v1" {
			return judge.Evaluation{Status: judge.Accepted, Verdict: judge.Pass, Attempts: 1}
		}
		return judge.Evaluation{Status: judge.InReview, Error: "no credit", Attempts: 1, Reasons: []judge.Reason{{Code: judge.ReasonJudgeFailed}}}
	})
	if got := d.text(`SELECT status || ' ' || verdict || error FROM evaluations WHERE shadow_of <> ''`); got != "final no credit" {
		t.Errorf("the shadow ended as %q", got)
	}
	if n := d.number(`SELECT count(*) FROM reviews`); n != 0 {
		t.Errorf("%d items wait", n)
	}
	if r, err := d.Run(d.ctx, d.lea, "default", "nightly"); err != nil || r.Failed != 0 || r.Pass != 1 || r.Evaluations != 1 {
		t.Errorf("the run counts %+v, error %v", r, err)
	}
	if n, err := d.PendingWork(d.ctx, "default"); err != nil || n != 0 {
		t.Errorf("%d are pending, error %v", n, err)
	}
	d.holds()
}

// What waits blind for a person is not told by its shadow either.
func TestShadowIsSealedWithItsEvaluation(t *testing.T) {
	d := shadowed(t, 1)
	d.blind("always")
	d.live(1, judge.Fail)
	id := d.text(`SELECT id FROM evaluations WHERE shadow_of <> ''`)
	for _, who := range []store.Actor{d.ann, d.lea} {
		v, err := d.GetEvaluation(d.ctx, who, id)
		if err != nil || !v.Sealed || v.Evaluation.Verdict != "" || !v.Evaluation.Shadow {
			t.Errorf("%s reads %+v, error %v", who.Name, v.Evaluation, err)
		}
	}
	rows, _, err := d.ListEvaluations(d.ctx, d.lea, store.EvaluationFilter{})
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows, error %v", len(rows), err)
	}
	for _, row := range rows {
		if !row.Sealed || row.Verdict != "" {
			t.Errorf("a list tells %+v", row)
		}
	}
	if err := d.ExposeEvaluation(d.ctx, d.lea, id); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a shadow is exposed by itself: %v", err)
	}
	if r, err := d.CompareJudges(d.ctx, d.lea, "default", "equivalence", []calibration.Competitor{{PromptVersion: "v1", Model: "m"}, {PromptVersion: "v2-of-the-judge", Model: "m"}}); err != nil || r.Shared != 0 || r.NSealed != 1 {
		t.Errorf("a comparison tells %+v, error %v", r, err)
	}
	d.holds()
	if err := d.ExposeEvaluation(d.ctx, d.lea, d.text(`SELECT shadow_of FROM evaluations WHERE shadow_of <> ''`)); err != nil {
		t.Fatal(err)
	}
	if v, err := d.GetEvaluation(d.ctx, d.lea, id); err != nil || v.Sealed || v.Evaluation.Verdict != judge.Fail {
		t.Errorf("after she asked to see it: %+v, error %v", v.Evaluation, err)
	}
	for name, do := range map[string]func() error{
		"a review": func() error { return d.RequestReview(d.ctx, d.lea, id, "please") },
		"a retry":  func() error { return d.RetryEvaluation(d.ctx, d.lea, id) },
	} {
		if err := do(); !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s of a shadow: %v", name, err)
		}
	}
}

// A share of the traces is drawn with a chance that is known, of new ones only, and
// nothing after the shadow was stopped.
func TestShadowDrawsAShare(t *testing.T) {
	d := shadowed(t, 0.3)
	d.blind("never")
	d.live(200, judge.Pass)
	if n := d.number(`SELECT count(*) FROM evaluations WHERE shadow_of <> ''`); n < 30 || n > 90 {
		t.Errorf("%d of 200 were drawn with a chance of 0.3", n)
	}
	if _, err := d.StartShadow(d.ctx, d.luis, "default", shadowTarget, 1, "more"); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a second one: %v", err)
	}
	if err := d.StopShadow(d.ctx, d.lea, "default", "equivalence", "seen enough"); err != nil {
		t.Fatal(err)
	}
	if err := d.StopShadow(d.ctx, d.lea, "default", "equivalence", ""); !errors.Is(err, store.ErrConflict) {
		t.Errorf("stopped twice: %v", err)
	}
	before := d.number(`SELECT count(*) FROM evaluations WHERE shadow_of <> ''`)
	d.rate(rated{id: "later", said: map[calibration.Competitor]judge.Verdict{v1: judge.Pass}})
	if n := d.number(`SELECT count(*) FROM evaluations WHERE shadow_of <> ''`); n != before {
		t.Error("a stopped shadow judges on")
	}
	list, err := d.Shadows(d.ctx, d.auditor, "default", "equivalence")
	if err != nil || len(list) != 1 || list[0].State != store.ShadowStopped || list[0].StopReason != "seen enough" || list[0].StoppedAt.IsZero() {
		t.Errorf("%+v, error %v", list, err)
	}
	if n := d.number(`SELECT count(*) FROM audit_events WHERE action IN ('judge.version_kept', 'judge.shadow_started', 'judge.shadow_stopped')`); n != 3 {
		t.Errorf("%d events", n)
	}
	d.holds()
}

func TestShadowIsChecked(t *testing.T) {
	d := openDesk(t)
	with := func(change func(*judge.Planned)) judge.Planned {
		p := shadowTarget
		p.PromptVersion = "v1"
		change(&p)
		return p
	}
	fine := with(func(*judge.Planned) {})
	for name, tt := range map[string]struct {
		who    store.Actor
		target judge.Planned
		share  float64
		reason string
		want   error
	}{
		"no share":           {d.lea, fine, 0, "r", store.ErrInvalid},
		"more than all":      {d.lea, fine, 1.1, "r", store.ErrInvalid},
		"no reason":          {d.lea, fine, 1, " ", store.ErrInvalid},
		"no model":           {d.lea, with(func(p *judge.Planned) { p.Model = "" }), 1, "r", store.ErrInvalid},
		"recorded":           {d.lea, with(func(p *judge.Planned) { p.Engine = judge.EngineRecorded }), 1, "r", store.ErrInvalid},
		"an unknown version": {d.lea, with(func(p *judge.Planned) { p.PromptVersion = "v9" }), 1, "r", store.ErrInvalid},
		"a reviewer":         {d.ann, fine, 1, "r", store.ErrForbidden},
		"an auditor":         {d.auditor, fine, 1, "r", store.ErrForbidden},
	} {
		if _, err := d.StartShadow(d.ctx, tt.who, "default", tt.target, tt.share, tt.reason); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := d.StopShadow(d.ctx, d.ann, "default", "equivalence", ""); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a reviewer stops: %v", err)
	}
}

// Promoting a version ends its shadow, and new traces are planned with it; the version
// that it replaced does not come back by being given again, a new one does.
func TestPromotion(t *testing.T) {
	d := shadowed(t, 1)
	d.blind("never")
	d.live(3, judge.Pass)
	who := []calibration.Competitor{{PromptVersion: "v1", Model: "m"}, {PromptVersion: "v2-of-the-judge", Model: "m"}}
	r, err := d.CompareJudges(d.ctx, d.lea, "default", "equivalence", who)
	if err != nil {
		t.Fatal(err)
	}
	promote := func(a store.Actor, version, comment string) error {
		return d.Promote(d.ctx, a, "default", "equivalence", version, comment, r.Evidence())
	}
	for name, tt := range map[string]struct {
		err, want error
	}{
		"a reviewer":     {promote(d.ann, "v2-of-the-judge", "c"), store.ErrForbidden},
		"no comment":     {promote(d.lea, "v2-of-the-judge", " "), store.ErrInvalid},
		"no such":        {promote(d.lea, "v9", "c"), store.ErrNotFound},
		"the one in use": {promote(d.lea, "v1", "c"), store.ErrConflict},
	} {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: %v", name, tt.err)
		}
	}
	if err := promote(d.lea, "v2-of-the-judge", "finds more"); err != nil {
		t.Fatal(err)
	}
	current := func() string {
		return d.text(`SELECT prompt_version FROM judges WHERE name = 'equivalence' AND current`)
	}
	if current() != "v2-of-the-judge" || d.number(`SELECT count(*) FROM shadow_runs WHERE state = 'running'`) != 0 {
		t.Errorf("in use is %s", current())
	}
	if got := d.text(`SELECT evidence FROM judge_promotions`); got == "" {
		t.Error("no evidence is kept")
	}
	if err := d.SaveJudges(d.ctx, store.Operator("a restarted server"), "default", []judge.Judge{deskJudge}); err != nil {
		t.Fatal(err)
	}
	replaced, err := d.Superseded(d.ctx, "default")
	if err != nil || current() != "v2-of-the-judge" || !replaced["equivalence"]["v1"] || replaced["equivalence"]["v2-of-the-judge"] {
		t.Errorf("the version that was replaced came back: %s, %v, error %v", current(), replaced, err)
	}
	d.clock.add(time.Second)
	third := deskJudge
	third.PromptVersion = "v3-of-the-judge"
	if err := d.SaveJudges(d.ctx, d.lea, "default", []judge.Judge{third}); err != nil {
		t.Fatal(err)
	}
	if current() != "v3-of-the-judge" {
		t.Errorf("a new definition is not taken: %s is in use", current())
	}
	if err := promote(d.lea, "v1", "back to the first"); err != nil || current() != "v1" {
		t.Errorf("going back: %s, error %v", current(), err)
	}
	list, err := d.Promotions(d.ctx, d.ann, "default", "equivalence")
	if err != nil || len(list) != 2 || list[0].Version != "v1" || list[1].FromVersion != "v1" || list[1].By != "lea" {
		t.Errorf("promotions %+v, error %v", list, err)
	}
	d.holds()
}
