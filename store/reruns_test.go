package store_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// asIs plans a target for every trace.
func asIs(_ context.Context, _ string, t *judge.Trace, target judge.Planned) (judge.Planned, error) {
	if t.Output == "" {
		return target, errors.New("the trace has no text")
	}
	return target, nil
}

// continued queues all that re-runs ask for, and says how much in how many turns.
func (d *desk) continued(plan store.RerunPlan) (queued, turns int) {
	d.t.Helper()
	for {
		n, more, err := d.ContinueReruns(d.ctx, plan)
		if err != nil {
			d.t.Fatal(err)
		}
		if !more {
			return queued, turns
		}
		queued, turns = queued+n, turns+1
	}
}

func version2(model string) store.RerunAsk {
	return store.RerunAsk{Kind: store.RerunVersion, Judge: "equivalence", Run: "r",
		Target: judge.Planned{Judge: "equivalence", PromptVersion: "v2", Engine: judge.EngineOpenAI, Model: model}}
}

func TestRerunOfAVersion(t *testing.T) {
	d := openDesk(t)
	d.byModel(230, "m", func(_ int, f *judge.Finished) { f.Evaluation.Calls = []judge.Attempt{d.call(1, 0.01)} })
	ask := version2("m")
	e, err := d.EstimateRerun(d.ctx, d.lea, "default", ask, store.Price{PromptUSD: 1, CompletionUSD: 10, Known: true})
	want := store.RerunEstimate{Evaluations: 230, Sampled: 200, Basis: store.BasisJudge, Priced: true,
		PromptTokens: store.Range{Low: 23000, Mid: 23000, High: 23000}, CompletionTokens: store.Range{Low: 2300, Mid: 2300, High: 2300},
		CostUSD: store.Range{Low: 0.046, Mid: 0.046, High: 0.046}}
	if diff := cmp.Diff(want, e, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	r, err := d.StartRerun(d.ctx, d.lea, "default", ask, e)
	if err != nil {
		t.Fatal(err)
	}
	queued, turns := d.continued(func(ctx context.Context, project string, tr *judge.Trace, target judge.Planned) (judge.Planned, error) {
		if tr.ID == "m-7" {
			target.RefusedField, target.Message = "reference", "is missing"
		}
		return asIs(ctx, project, tr, target)
	})
	if queued != 230 || turns != 2 {
		t.Errorf("queued %d in %d turns, want 230 in 2", queued, turns)
	}
	if n := d.number(`SELECT count(*) FROM evaluations WHERE prompt_version = 'v2' AND status = 'queued' AND lane = 1 AND run_id IS NOT NULL`); n != 229 {
		t.Errorf("%d wait in the second lane, want 229", n)
	}
	if n := d.number(`SELECT count(*) FROM evaluations WHERE prompt_version = 'v2' AND status = 'refused' AND refused_field = 'reference'`); n != 1 {
		t.Errorf("%d are refused, want 1", n)
	}
	all, err := d.Reruns(d.ctx, d.auditor, "default", 0)
	r.State, r.Queued = store.RerunQueued, 230
	if diff := cmp.Diff([]store.Rerun{r}, all); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	// What is imported later is judged first.
	d.queue(1)
	if w := d.work(1); w[0].Planned.PromptVersion != "v1" || w[0].Trace.ID != "q230" {
		t.Errorf("first comes %s of %s", w[0].Planned.PromptVersion, w[0].Trace.ID)
	}
	// The same once more queues nothing.
	if e, err = d.EstimateRerun(d.ctx, d.lea, "default", ask, store.Price{}); err != nil || e.Evaluations != 1 || e.AlreadyThere != 230 || e.Priced {
		t.Errorf("estimate %+v, error %v", e, err)
	}
	ask.Since = d.clock.Now().Add(time.Hour)
	if e, err = d.EstimateRerun(d.ctx, d.lea, "default", ask, store.Price{}); err != nil || e.Evaluations != 0 || e.Basis != store.BasisNothing {
		t.Errorf("of the future: %+v, error %v", e, err)
	}
	d.checkKept("a re-run")
	d.deeplyChecked()
}

// What a re-run makes is no history of its own, and a revised trace is judged
// as it is now.
func TestRerunGoesByWhatWasThere(t *testing.T) {
	d := openDesk(t)
	d.byModel(3, "m", func(int, *judge.Finished) {})
	if _, err := d.StartRerun(d.ctx, d.lea, "default", version2("m"), store.RerunEstimate{}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.ImportTraces(d.ctx, d.lea, "default", []store.ImportItem{{Trace: judge.Trace{ID: "m-0", Output: "changed", Domain: "general"}}}); err != nil {
		t.Fatal(err)
	}
	if queued, _ := d.continued(asIs); queued != 2 {
		t.Errorf("queued %d, want 2: the revised trace has not been judged", queued)
	}
	if queued, turns := d.continued(asIs); queued != 0 || turns != 0 {
		t.Errorf("queued %d more", queued)
	}
}

func TestRerunOfFailed(t *testing.T) {
	d := openDesk(t)
	d.byModel(5, "m", func(i int, f *judge.Finished) {
		if i < 3 {
			e := &f.Evaluation
			e.Status, e.Verdict, e.Label, e.Score, e.Report = judge.InReview, "", "", nil, nil
			e.Reasons = []judge.Reason{{Code: []string{judge.ReasonJudgeFailed, judge.ReasonInvalidOutput, judge.ReasonCriticalError}[i]}}
		}
	})
	ask := store.RerunAsk{Kind: store.RerunFailed, Judge: "equivalence"}
	if e, err := d.EstimateRerun(d.ctx, d.lea, "default", ask, store.Price{}); err != nil || e.Evaluations != 2 || e.Basis != store.BasisTraces || e.PromptTokens.Mid <= 0 {
		t.Errorf("estimate %+v, error %v", e, err)
	}
	if _, err := d.StartRerun(d.ctx, d.lea, "default", ask, store.RerunEstimate{}); err != nil {
		t.Fatal(err)
	}
	if queued, _ := d.continued(asIs); queued != 2 {
		t.Errorf("queued %d, want 2", queued)
	}
	d.checkKept("a re-run of what failed")
}

func TestRetryRun(t *testing.T) {
	d := openDesk(t)
	fail := func(_ int, f *judge.Finished) {
		e := &f.Evaluation
		e.Status, e.Verdict, e.Label, e.Score, e.Report = judge.InReview, "", "", nil, nil
		e.Reasons = []judge.Reason{{Code: judge.ReasonJudgeFailed}}
	}
	d.byModel(130, "m", fail)
	d.byModel(1, "n", func(int, *judge.Finished) {})
	told, err := d.Retriable(d.ctx, d.lea, "default", "r")
	if err != nil {
		t.Fatal(err)
	}
	n, err := d.RetryRun(d.ctx, d.lea, "default", "r")
	if n != told {
		t.Errorf("told %d to be retried, and retried %d", told, n)
	}
	if err != nil || n != 130 {
		t.Errorf("retried %d, error %v, want 130", n, err)
	}
	if told, err = d.Retriable(d.ctx, d.lea, "default", "r"); err != nil || told != 0 {
		t.Errorf("told %d to be retried when all were, error %v", told, err)
	}
	if n, err = d.RetryRun(d.ctx, d.lea, "default", "r"); err != nil || n != 0 {
		t.Errorf("again %d, error %v, want none", n, err)
	}
	if r, err := d.Run(d.ctx, d.lea, "default", "r"); err != nil || r.Pending != 130 || r.Failed != 0 {
		t.Errorf("run %+v, error %v", r, err)
	}
	if _, err := d.RetryRun(d.ctx, d.ann, "default", "r"); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a reviewer: %v", err)
	}
	if _, err := d.RetryRun(d.ctx, d.lea, "default", "none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such run: %v", err)
	}
	d.checkKept("the retry")
}

func TestRequeueRefused(t *testing.T) {
	d := openDesk(t)
	var items []store.ImportItem
	for i := range 120 {
		field := judge.RefusedEndpoint
		if i%4 == 0 {
			field = "reference"
		}
		items = append(items, store.ImportItem{Trace: judge.Trace{ID: fmt.Sprint("t", i), Output: "o", Run: "r"}, Plan: []judge.Planned{{Judge: "equivalence",
			PromptVersion: "v1", Engine: judge.EngineOpenAI, Model: "m", Judgment: judge.NoJudgment, RefusedField: field, Message: "why"}}})
	}
	if _, err := d.ImportTraces(d.ctx, d.lea, "default", items); err != nil {
		t.Fatal(err)
	}
	rows, _, err := d.ListEvaluations(d.ctx, d.ann, store.EvaluationFilter{Status: judge.Refused, TraceID: "t1"})
	if err != nil || len(rows) != 1 || rows[0].RefusedField != judge.RefusedEndpoint || rows[0].Message != "why" {
		t.Errorf("rows %+v, error %v", rows, err)
	}
	n, err := d.RequeueRefused(d.ctx, d.lea, "default", judge.RefusedEndpoint)
	if err != nil || n != 90 {
		t.Errorf("queued %d, error %v, want 90", n, err)
	}
	if w := d.work(100); len(w) != 90 || w[0].Planned.Refused() {
		t.Errorf("claimed %d, the first %+v", len(w), w[0].Planned)
	}
	d.checkKept("queueing again")
	if _, err := d.RequeueRefused(d.ctx, d.auditor, "default", "endpoint"); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("an auditor: %v", err)
	}
}

func TestQueueEvaluations(t *testing.T) {
	d := openDesk(t)
	d.byModel(1, "m", func(int, *judge.Finished) {})
	plan := []judge.Planned{
		{Judge: "equivalence", PromptVersion: "v1", Engine: judge.EngineOpenAI, Model: "m", Judgment: judge.NoJudgment}, // is there
		{Judge: "equivalence", PromptVersion: "v1", Engine: judge.EngineOpenAI, Model: "n", Judgment: judge.NoJudgment},
		{Judge: "equivalence", PromptVersion: "v1", Engine: judge.EngineOpenAI, Model: "m", Samples: 5, Judgment: judge.NoJudgment},
	}
	ids, err := d.QueueEvaluations(d.ctx, d.lea, "default", "m-0", plan)
	if err != nil || len(ids) != 2 {
		t.Fatalf("new %v, error %v, want 2", ids, err)
	}
	if ids, err = d.QueueEvaluations(d.ctx, d.lea, "default", "m-0", plan); err != nil || len(ids) != 0 {
		t.Errorf("again %v, error %v", ids, err)
	}
	if r, err := d.Run(d.ctx, d.lea, "default", "r"); err != nil || r.Pending != 2 {
		t.Errorf("run %+v, error %v", r, err)
	}
	if n := d.number(`SELECT count(*) FROM evaluations WHERE run_id IS NULL`); n != 0 {
		t.Errorf("%d are paid by nobody", n)
	}
	if _, err := d.QueueEvaluations(d.ctx, d.lea, "default", "none", plan); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("no such trace: %v", err)
	}
	plan[0].Engine = judge.EngineRecorded
	if _, err := d.QueueEvaluations(d.ctx, d.lea, "default", "m-0", plan); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("recorded: %v", err)
	}
	if _, err := d.QueueEvaluations(d.ctx, d.ann, "default", "m-0", plan[1:]); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a reviewer: %v", err)
	}
	d.checkKept("judging again")
}

func TestRerunRules(t *testing.T) {
	d := openDesk(t)
	d.byModel(1, "m", func(int, *judge.Finished) {})
	bad := -1.0
	for name, change := range map[string]func(*store.RerunAsk){
		"kind":    func(a *store.RerunAsk) { a.Kind = "all" },
		"judge":   func(a *store.RerunAsk) { a.Judge = "" },
		"target":  func(a *store.RerunAsk) { a.Target.Judge = "tone" },
		"engine":  func(a *store.RerunAsk) { a.Target.Engine = judge.EngineRecorded },
		"model":   func(a *store.RerunAsk) { a.Target.Model = "" },
		"version": func(a *store.RerunAsk) { a.Target.PromptVersion = "" },
		"budget":  func(a *store.RerunAsk) { a.BudgetUSD = &bad },
		"no run":  func(a *store.RerunAsk) { a.Run, a.BudgetUSD = "", new(float64) },
	} {
		ask := version2("m")
		change(&ask)
		if _, err := d.StartRerun(d.ctx, d.lea, "default", ask, store.RerunEstimate{}); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := d.StartRerun(d.ctx, d.auditor, "default", version2("m"), store.RerunEstimate{}); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("an auditor: %v", err)
	}
	ask := version2("m")
	ask.BudgetUSD = new(float64)
	*ask.BudgetUSD = 3
	r, err := d.StartRerun(d.ctx, d.lea, "default", ask, store.RerunEstimate{})
	if err != nil {
		t.Fatal(err)
	}
	if m := d.money(); m.BudgetUSD == nil || *m.BudgetUSD != 3 {
		t.Errorf("budget %v, want 3", m.BudgetUSD)
	}
	// A fault in planning leaves the re-run to be gone on with.
	if _, _, err := d.ContinueReruns(d.ctx, func(context.Context, string, *judge.Trace, judge.Planned) (judge.Planned, error) {
		return judge.Planned{}, errors.New("no such judge")
	}); err == nil {
		t.Error("the fault is not told")
	}
	if err := d.StopRerun(d.ctx, d.lea, "default", r.ID); err != nil {
		t.Fatal(err)
	}
	if queued, _ := d.continued(asIs); queued != 0 {
		t.Errorf("%d were queued of a stopped re-run", queued)
	}
	if err := d.StopRerun(d.ctx, d.lea, "default", r.ID); !errors.Is(err, store.ErrConflict) {
		t.Errorf("stopped twice: %v", err)
	}
}

// What waits for a judge is counted for it alone, and for no longer than it waits.
func TestWaitingForJudge(t *testing.T) {
	d := openDesk(t)
	d.queue(3)
	waiting := func(judgeName string) int {
		t.Helper()
		n, err := d.WaitingForJudge(d.ctx, d.lea, "default", judgeName)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	work := d.work(1) // being judged is waiting still
	if got, other := waiting(work[0].Planned.Judge), waiting("another"); got != 3 || other != 0 {
		t.Errorf("%d wait, and %d for another judge, want 3 and 0", got, other)
	}
	if err := d.FinishWork(d.ctx, []judge.Finished{{Work: work[0], Evaluation: judge.Evaluation{Engine: judge.EngineOpenAI, Model: "m",
		Status: judge.Accepted, Verdict: judge.Pass}}}); err != nil {
		t.Fatal(err)
	}
	if got := waiting(work[0].Planned.Judge); got != 2 {
		t.Errorf("%d wait when one of three is judged", got)
	}
	if _, err := d.WaitingForJudge(d.ctx, d.ann, "default", "equivalence"); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a reviewer: %v", err)
	}
}
