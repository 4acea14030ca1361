package store_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// queue imports n traces into run r, to be judged by a model.
func (d *desk) queue(n int) {
	d.t.Helper()
	from := d.number(`SELECT count(*) FROM traces`)
	var items []store.ImportItem
	for i := range n {
		items = append(items, store.ImportItem{Trace: judge.Trace{ID: fmt.Sprint("q", from+i), Output: "o", Domain: "general", Run: "r"},
			Plan: []judge.Planned{{Judge: "equivalence", PromptVersion: "v1", Engine: judge.EngineOpenAI, Model: "m", Judgment: judge.NoJudgment}}})
	}
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", items); err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) work(n int) []judge.Work {
	d.t.Helper()
	work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: n, Lease: time.Hour})
	if err != nil {
		d.t.Fatal(err)
	}
	return work
}

func (d *desk) budget(usd float64) {
	d.t.Helper()
	if _, err := d.SetRunBudget(d.ctx, d.lea, "default", "r", &usd); err != nil {
		d.t.Fatal(err)
	}
}

// money reads what the run cost as an auditor sees it.
func (d *desk) money() store.RunMoney {
	d.t.Helper()
	m, err := d.RunMoney(d.ctx, d.auditor, "default", "r")
	if err != nil {
		d.t.Fatal(err)
	}
	return m
}

func (d *desk) hold(w judge.Work, call string, usd float64) bool {
	d.t.Helper()
	ok, err := d.Hold(d.ctx, w.EvaluationID, call, judge.Nano(usd))
	if err != nil {
		d.t.Fatal(err)
	}
	return ok
}

func accepted(w judge.Work, calls ...judge.Attempt) judge.Finished {
	e := judge.Evaluation{Judge: w.Planned.Judge, PromptVersion: w.Planned.PromptVersion, Engine: w.Planned.Engine, Model: w.Planned.Model,
		Status: judge.Accepted, Verdict: judge.Pass, Label: "same-thing", Calls: calls}
	for _, c := range calls {
		e.CostUSD += c.CostUSD
	}
	return judge.Finished{Work: w, Evaluation: e}
}

func TestBudgetStopsARun(t *testing.T) {
	d := openDesk(t)
	d.queue(4)
	d.budget(1)
	work := d.work(2)
	if !d.hold(work[0], "a", 0.6) {
		t.Fatal("the first call was refused")
	}
	if err := d.Spent(d.ctx, work[0].EvaluationID, "a", judge.Nano(0.5)); err != nil {
		t.Fatal(err)
	}
	if m := d.money(); m.SpentUSD != 0.5 || m.HeldUSD != 0 || m.OnHold != 0 || m.StoppedAt != nil || *m.BudgetUSD != 1 {
		t.Errorf("after a call: %+v", m)
	}
	if err := d.FinishWork(d.ctx, []judge.Finished{accepted(work[0], d.call(10, 0.5))}); err != nil {
		t.Fatal(err)
	}
	if m := d.money(); m.SpentUSD != 0.5 || m.Total.CostUSD != 0.5 {
		t.Errorf("stored, it costs what it cost before: %+v", m)
	}
	if d.hold(work[1], "b", 0.6) {
		t.Fatal("a call was let through that can pass the budget")
	}
	m := d.money()
	if m.OnHold != 2 || m.StoppedAt == nil {
		t.Errorf("the run is not stopped: %+v", m)
	}
	if err := d.ReleaseWork(d.ctx, work[1:]); err != nil {
		t.Fatal(err)
	}
	if n, err := d.PendingWork(d.ctx, "default"); n != 0 || err != nil {
		t.Errorf("%d pending, error %v: a worker would wait for what nobody may judge", n, err)
	}
	if work := d.work(4); len(work) != 0 {
		t.Errorf("%d of a stopped run were claimed", len(work))
	}
	if n := d.number(`SELECT count(*) FROM audit_events WHERE action = 'run.stopped'`); n != 1 {
		t.Errorf("%d events, want 1", n)
	}
	d.budget(2)
	if work = d.work(4); len(work) != 3 || !d.hold(work[0], "b", 0.6) {
		t.Errorf("after it was raised %d were claimed", len(work))
	}
	d.checkKept("the budget")
	d.deeplyChecked()
}

// What may have been billed without an answer counts as spent; what surely was
// not is given back.
func TestUnansweredCalls(t *testing.T) {
	d := openDesk(t)
	d.queue(2)
	d.budget(1)
	work := d.work(2)
	d.hold(work[0], "a", 0.3)
	d.hold(work[0], "a", 0.3) // its first try may be billed
	d.hold(work[1], "b", 0.3)
	if err := d.Drop(d.ctx, work[1].EvaluationID, "b"); err != nil {
		t.Fatal(err)
	}
	if m := d.money(); m.HeldUSD != 0.6 {
		t.Errorf("held $%v, want 0.6", m.HeldUSD)
	}
	if err := d.FinishWork(d.ctx, []judge.Finished{accepted(work[0])}); err != nil {
		t.Fatal(err)
	}
	if m := d.money(); m.HeldUSD != 0.6 || m.SpentUSD != 0 {
		t.Errorf("after it was stored: %+v", m)
	}
	if d.hold(work[1], "c", 0.5) {
		t.Error("there is room for what may be gone")
	}
}

// Whatever many workers do at once, what is spent never passes the budget, and
// those who wait for others' holds go on when these come back.
func TestBudgetIsNeverPassed(t *testing.T) {
	d := openDesk(t)
	const n, worst, real = 12, 0.25, 0.125
	d.queue(n)
	d.budget(1)
	work := d.work(n)
	var wait sync.WaitGroup
	var mu sync.Mutex
	made, refused := 0, 0
	for _, w := range work {
		wait.Go(func() {
			ok, err := d.Hold(d.ctx, w.EvaluationID, "call", judge.Nano(worst))
			if err == nil && ok {
				err = d.Spent(d.ctx, w.EvaluationID, "call", judge.Nano(real))
			}
			if err == nil && ok {
				err = d.FinishWork(d.ctx, []judge.Finished{accepted(w, d.call(1, real))})
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Error(err)
			}
			if ok {
				made++
			} else {
				refused++
			}
		})
	}
	wait.Wait()
	m := d.money()
	// Seven fit for sure: after six there is room for the worst of a seventh.
	if m.SpentUSD > 1 || made != 7 || refused != n-7 || m.SpentUSD != real*7 || m.HeldUSD != 0 {
		t.Errorf("%d made, %d refused, %+v", made, refused, m)
	}
}

func TestNoPriceNoBudget(t *testing.T) {
	d := openDesk(t)
	d.queue(1)
	work := d.work(1)
	if ok, err := d.Hold(d.ctx, work[0].EvaluationID, "a", judge.UnknownCost); !ok || err != nil {
		t.Errorf("without a budget: %v, %v", ok, err)
	}
	d.budget(100)
	if ok, err := d.Hold(d.ctx, work[0].EvaluationID, "a", judge.UnknownCost); ok || err != nil {
		t.Errorf("with a budget: %v, %v", ok, err)
	}
	if why := d.text(`SELECT data FROM audit_events WHERE action = 'run.stopped'`); !strings.Contains(why, "no price") {
		t.Errorf("the event says %s", why)
	}
}

func TestRunMoney(t *testing.T) {
	d := openDesk(t)
	d.byModel(11, "small", func(i int, f *judge.Finished) { f.Evaluation.Calls = []judge.Attempt{d.call(1, 0.01)} })
	d.byModel(2, "large", func(i int, f *judge.Finished) {
		c := d.call(1, 0)
		c.Unpriced = true
		f.Evaluation.Calls = []judge.Attempt{c}
	})
	m, err := d.RunMoney(d.ctx, d.auditor, "default", "r")
	want := store.RunMoney{
		Costs: []store.RunCost{
			{Judge: "equivalence", Model: "large", Evaluations: 2, Calls: 2, Unpriced: 2, PromptTokens: 200, CompletionTokens: 20},
			{Judge: "equivalence", Model: "small", Evaluations: 11, Calls: 11, PromptTokens: 1100, CompletionTokens: 110, CostUSD: 0.11}},
		Total:    store.RunCost{Evaluations: 13, Calls: 13, Unpriced: 2, PromptTokens: 1300, CompletionTokens: 130, CostUSD: 0.11},
		SpentUSD: 0.11,
	}
	if diff := cmp.Diff(want, m); diff != "" || err != nil {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
	// A lead is told the sum and not its parts, whose difference would tell.
	want.Costs = []store.RunCost{{Judge: "equivalence", Model: "large", Evaluations: 2, TooFew: true}, {Judge: "equivalence", Model: "small", Evaluations: 11, TooFew: true}}
	m, err = d.RunMoney(d.ctx, d.lea, "default", "r")
	if diff := cmp.Diff(want, m); diff != "" || err != nil {
		t.Errorf("a lead, error %v (-want +got):\n%s", err, diff)
	}
	r, err := d.Run(d.ctx, d.lea, "default", "r")
	if err != nil || r.CostUSD != 0.11 || r.Unpriced != 2 || r.CostSealed || r.BudgetUSD != nil {
		t.Errorf("run %+v, error %v", r, err)
	}
	one := d.newest(t)
	if one.UnpricedCalls != 1 {
		t.Errorf("unpriced calls %d, want 1", one.UnpricedCalls)
	}
	if _, err := d.RunMoney(d.ctx, d.ann, "default", "r"); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a reviewer: %v", err)
	}
	if _, err := d.SetRunBudget(d.ctx, d.auditor, "default", "r", nil); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("an auditor sets a budget: %v", err)
	}
	bad := -1.0
	if _, err := d.SetRunBudget(d.ctx, d.lea, "default", "r", &bad); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("a budget below zero: %v", err)
	}
	d.deeplyChecked()
}

// newest reads the newest evaluation in full.
func (d *desk) newest(t *testing.T) judge.Evaluation {
	t.Helper()
	return view(t, d.Store, d.text(`SELECT max(id) FROM evaluations`)).Evaluation
}

// A run gets the budget that the policy gives to runs that set none.
func TestBudgetOfThePolicy(t *testing.T) {
	d := openDesk(t)
	p, err := d.ProjectNamed(d.ctx, "default")
	if err != nil {
		t.Fatal(err)
	}
	p.Policy.BudgetUSD = 25
	if _, err := d.SetPolicy(d.ctx, d.lea, "default", p.Policy, ""); err != nil {
		t.Fatal(err)
	}
	d.queue(1)
	if m := d.money(); m.BudgetUSD == nil || *m.BudgetUSD != 25 {
		t.Errorf("budget %v, want 25", m.BudgetUSD)
	}
}

func TestCutStepsAreKept(t *testing.T) {
	d := openDesk(t)
	for key, want := range map[string]judge.CutSteps{"a": {Steps: []string{"one", "two"}, Evaluation: "e"}, "b": {Evaluation: "f"}} {
		if _, ok, err := d.CutSteps(d.ctx, key); ok || err != nil {
			t.Fatalf("%s is there already: %v, %v", key, ok, err)
		}
		if err := d.KeepCutSteps(d.ctx, key, want); err != nil {
			t.Fatal(err)
		}
		if err := d.KeepCutSteps(d.ctx, key, judge.CutSteps{Steps: []string{"other"}}); err != nil {
			t.Fatal(err)
		}
		got, ok, err := d.CutSteps(d.ctx, key)
		if diff := cmp.Diff(want, got); diff != "" || !ok || err != nil {
			t.Errorf("%s: %v, %v, %s", key, ok, err, diff)
		}
	}
}
