package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

func flagged(w judge.Work) judge.Finished {
	return storetest.Flagged(w, judge.ReasonCriticalError, judge.ReasonUncitedClaims)
}

// sealedTrace is judged and waits for a blind review; it has a recorded report
// and a human label, which would tell too.
func sealedTrace(t *testing.T, s *store.Store) (id string) {
	t.Helper()
	items := storetest.Items(0, 1)
	items[0].Trace.Judgments = []judge.Judgment{{Judge: "citations", Raw: "SECRET-JUDGMENT"}}
	items[0].Trace.Labels = []judge.HumanLabel{{Judge: "citations", Label: "inaccurate", Reviewer: "SECRET-REVIEWER", Comment: "SECRET-COMMENT"}}
	items[0].Plan = []judge.Planned{{Judge: "citations", PromptVersion: judge.Unknown, Engine: judge.EngineRecorded, Model: judge.Unknown}}
	storetest.Import(t, s, items)
	w := storetest.Claim(t, s, 1)[0]
	if err := s.FinishWork(context.Background(), []judge.Finished{flagged(w)}); err != nil {
		t.Fatal(err)
	}
	return w.EvaluationID
}

// everyRead is what each read of the core gives an actor, by its name.
func everyRead(t *testing.T, s *store.Store, a store.Actor, id string) map[string]any {
	t.Helper()
	ctx := context.Background()
	read := map[string]any{}
	keep := func(name string, v any, err error) {
		if err != nil && !errors.Is(err, store.ErrForbidden) {
			t.Fatalf("%s: %v", name, err)
		}
		read[name] = v
	}
	rows, _, err := s.ListEvaluations(ctx, a, store.EvaluationFilter{})
	keep("ListEvaluations", rows, err)
	full, _, err := s.EvaluationsFull(ctx, a, store.EvaluationFilter{})
	keep("EvaluationsFull", full, err)
	v, err := s.GetEvaluation(ctx, a, id)
	keep("GetEvaluation", v, err)
	tv, err := s.GetTrace(ctx, a, "default", "trace-000000", 0)
	keep("GetTrace", tv, err)
	runs, err := s.Runs(ctx, a, "default", 10)
	keep("Runs", runs, err)
	audit, _, err := s.ListAudit(ctx, a, store.AuditFilter{Limit: 500})
	keep("ListAudit", audit, err)
	evaluations, err := each(func(fn func(judge.Evaluation) error) error {
		return s.EachEvaluation(ctx, a, store.EvaluationFilter{}, fn)
	})
	keep("EachEvaluation", evaluations, err)
	traces, err := each(func(fn func(judge.Trace) error) error { return s.EachTrace(ctx, a, store.EvaluationFilter{}, fn) })
	keep("EachTrace", traces, err)
	labels, err := each(func(fn func(store.LabelRow) error) error { return s.EachLabel(ctx, a, store.EvaluationFilter{}, fn) })
	keep("EachLabel", labels, err)
	decisions, err := each(func(fn func(store.Decision) error) error {
		return s.EachDecision(ctx, a, store.EvaluationFilter{}, fn)
	})
	keep("EachDecision", decisions, err)
	return read
}

// each collects what an export gives.
func each[T any](run func(func(T) error) error) (all []T, err error) {
	err = run(func(v T) error { all = append(all, v); return nil })
	return all, err
}

// tellingResult are the words of the sample result that a sealed read must not hold.
var tellingResult = []string{"SECRET", "0.125", "inaccurate", `"fail"`, "critical_error", "unsupported", "latency_ms\":7", `"prompt":11`, `"flagged"`}

func TestSealedVerdictIsInNoRead(t *testing.T) {
	s := storetest.Open(t, nil)
	id := sealedTrace(t, s)
	for _, role := range []store.Role{store.Reviewer, store.Lead, store.Admin} {
		a := storetest.User(t, s, "Blind"+string(role), role)
		for name, v := range everyRead(t, s, a, id) {
			body, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			for _, word := range tellingResult {
				if strings.Contains(string(body), word) {
					at := strings.Index(string(body), word)
					t.Errorf("%s gives a %s %q before the first answer: …%s", name, role, word, body[max(0, at-200):at+len(word)])
				}
			}
		}
		v := everyRead(t, s, a, id)["GetEvaluation"].(store.EvaluationView)
		if !v.Sealed || v.Evaluation.Verdict != "" || v.Evaluation.Score != nil || v.Evaluation.Attempts != 0 || v.Draw != nil {
			t.Errorf("%s: view is %+v", role, v.Evaluation)
		}
		if len(v.Evaluation.Reasons) != 1 || v.Evaluation.Reasons[0] != (judge.Reason{Code: judge.ReasonUncitedClaims}) {
			t.Errorf("%s: reasons %v, want the one that tells nothing", role, v.Evaluation.Reasons)
		}
	}
}

func TestSealedRowsMatchNoFilterByWhatIsSealed(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	sealedTrace(t, s)
	ana, audit := storetest.User(t, s, "Ana", store.Reviewer), storetest.User(t, s, "Audit", store.Auditor)
	for _, test := range []struct {
		name              string
		f                 store.EvaluationFilter
		reviewer, auditor int
	}{
		{"all", store.EvaluationFilter{}, 1, 1},
		{"status", store.EvaluationFilter{Status: judge.InReview}, 1, 1},
		{"verdict", store.EvaluationFilter{Verdict: judge.Fail}, 0, 1},
		{"other verdict", store.EvaluationFilter{Verdict: judge.Pass}, 0, 0},
		{"telling reason", store.EvaluationFilter{Reason: judge.ReasonCriticalError}, 0, 1},
		{"open reason", store.EvaluationFilter{Reason: judge.ReasonUncitedClaims}, 1, 1},
	} {
		for a, want := range map[store.Actor]int{ana: test.reviewer, audit: test.auditor} {
			rows, _, err := s.ListEvaluations(ctx, a, test.f)
			if err != nil || len(rows) != want {
				t.Errorf("%s as %s: %d rows, error %v, want %d", test.name, a.Role, len(rows), err, want)
			}
			full, _, err := s.EvaluationsFull(ctx, a, test.f)
			if err != nil || len(full) != want {
				t.Errorf("%s in full as %s: %d rows, error %v, want %d", test.name, a.Role, len(full), err, want)
			}
		}
	}
}

func TestWhoSeesTheVerdictAndWhen(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	id := sealedTrace(t, s)
	ana, bo := storetest.User(t, s, "Ana", store.Reviewer), storetest.User(t, s, "Bo", store.Lead)
	sees := func(a store.Actor) bool {
		t.Helper()
		v, err := s.GetEvaluation(ctx, a, id)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := s.GetTrace(ctx, a, "default", "trace-000000", 0)
		if err != nil {
			t.Fatal(err)
		}
		open := v.Evaluation.Verdict == judge.Fail && len(v.Evaluation.Calls) == 1 && v.Draw != nil && len(v.Labels) > 0 &&
			len(tr.Trace.Judgments) == 1 && len(tr.Trace.Labels) == 1
		closed := v.Evaluation.Verdict == "" && v.Evaluation.Calls == nil && v.Draw == nil && v.Labels == nil &&
			tr.Trace.Judgments == nil && tr.Trace.Labels == nil
		if open == closed || v.Sealed != closed || tr.Sealed != closed {
			t.Fatalf("%s sees half of it: %+v", a.Name, v)
		}
		return open
	}
	if !sees(storetest.User(t, s, "Audit", store.Auditor)) || !sees(storetest.Operator) {
		t.Error("auditor or operator does not see the verdict")
	}
	if sees(ana) || sees(bo) {
		t.Error("a reviewer or lead sees the verdict at once")
	}
	r, err := s.ClaimNext(ctx, ana, "default", store.ClaimFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if sees(ana) {
		t.Error("claiming shows the verdict")
	}
	if _, err := s.CommitFirstAnswer(ctx, ana, r.ReviewID, store.Answer{Label: "partial"}); err != nil {
		t.Fatal(err)
	}
	if !sees(ana) || sees(bo) {
		t.Error("a first answer shows the verdict to who gave it and nobody else")
	}
	if err := s.ExposeEvaluation(ctx, bo, id); err != nil {
		t.Fatal(err)
	}
	if !sees(bo) {
		t.Error("asking to see it does not show it")
	}
	events, _, err := s.ListAudit(ctx, storetest.Operator, store.AuditFilter{Limit: 1})
	if err != nil || events[0].Action != "evaluation.exposed" || events[0].ActorID != bo.UserID {
		t.Errorf("newest event %+v, error %v, want evaluation.exposed by Bo", events[0], err)
	}
	for _, role := range []store.Role{store.Auditor, store.Reviewer} {
		if err := s.ExposeEvaluation(ctx, storetest.User(t, s, "Cy-"+string(role), role), id); !errors.Is(err, store.ErrForbidden) {
			t.Errorf("exposed to a %s: error %v, want ErrForbidden", role, err)
		}
	}
}

func TestVisibleByPolicy(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	p, err := s.ProjectNamed(ctx, "default")
	if err != nil {
		t.Fatal(err)
	}
	ana := storetest.User(t, s, "Ana", store.Reviewer)
	for i, test := range []struct {
		blind    string
		share    float64
		min, max int // of 40 sealed
	}{{"never", 1, 0, 0}, {"share", 0.5, 8, 32}, {"share", 0, 0, 0}, {"always", 0, 40, 40}} {
		p.Policy.Blind, p.Policy.BlindShare = test.blind, test.share
		if p, err = s.SetPolicy(ctx, storetest.Operator, "default", p.Policy, ""); err != nil {
			t.Fatal(err)
		}
		storetest.Import(t, s, storetest.Items(100*i, 40))
		var done []judge.Finished
		for _, w := range storetest.Claim(t, s, 40) {
			done = append(done, flagged(w))
		}
		if err := s.FinishWork(ctx, done); err != nil {
			t.Fatal(err)
		}
		rows, _, err := s.ListEvaluations(ctx, ana, store.EvaluationFilter{Limit: 40})
		if err != nil {
			t.Fatal(err)
		}
		sealed := 0
		for _, r := range rows {
			if r.Sealed {
				sealed++
			}
		}
		if sealed < test.min || sealed > test.max {
			t.Errorf("blind %s %v: %d of 40 sealed, want %d to %d", test.blind, test.share, sealed, test.min, test.max)
		}
	}
}

func TestPolicy(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	p, err := s.ProjectNamed(ctx, "default")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetPolicy(ctx, storetest.User(t, s, "Ana", store.Reviewer), "default", p.Policy, ""); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("by a reviewer: error %v, want ErrForbidden", err)
	}
	for field, bad := range map[string]func(*judge.Policy){
		"audit.random":       func(p *judge.Policy) { p.RandomAudit = 1.1 },
		"audit.boundary":     func(p *judge.Policy) { p.BoundaryAudit = -0.1 },
		"blind.mode":         func(p *judge.Policy) { p.Blind = "sometimes" },
		"blind.share":        func(p *judge.Policy) { p.BlindShare = 2 },
		"due_hours.high":     func(p *judge.Policy) { p.DueHoursHigh = 0 },
		"due_hours.standard": func(p *judge.Policy) { p.DueHoursStandard = 9000 },
		"lease_minutes":      func(p *judge.Policy) { p.LeaseMinutes = 0 },
	} {
		policy := p.Policy
		bad(&policy)
		_, err := s.SetPolicy(ctx, storetest.Operator, "default", policy, "")
		var fault *store.FieldError
		if !errors.As(err, &fault) || fault.Field != field {
			t.Errorf("%s: error %v", field, err)
		}
	}
	changed := p.Policy
	changed.LeaseMinutes++
	if _, err := s.SetPolicy(ctx, storetest.Operator, "default", changed, ""); err != nil {
		t.Fatal(err)
	}
	if _, err := s.SetPolicy(ctx, storetest.Operator, "default", p.Policy, ""); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a second change to the same version: error %v, want ErrConflict", err)
	}
}
