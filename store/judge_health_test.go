package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// byModel judges n new traces by a model, each changed by change.
func (d *desk) byModel(n int, model string, change func(i int, f *judge.Finished)) {
	d.t.Helper()
	var items []store.ImportItem
	for i := range n {
		items = append(items, store.ImportItem{Trace: judge.Trace{ID: fmt.Sprint(model, "-", d.number(`SELECT count(*) FROM traces`)+i), Output: "o", Domain: "general", Run: "r"},
			Plan: []judge.Planned{{Judge: "equivalence", PromptVersion: "v1", Engine: judge.EngineOpenAI, Model: model, Judgment: judge.NoJudgment}}})
	}
	if _, err := d.ImportTraces(d.ctx, store.Operator("test"), "default", items); err != nil {
		d.t.Fatal(err)
	}
	work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: n, Lease: time.Minute})
	if err != nil || len(work) != n {
		d.t.Fatalf("claimed %d, error %v", len(work), err)
	}
	var done []judge.Finished
	for i, w := range work {
		score := 0.9
		f := judge.Finished{Work: w, Evaluation: judge.Evaluation{Judge: "equivalence", PromptVersion: "v1", Engine: judge.EngineOpenAI, Model: model,
			Status: judge.Accepted, Score: &score, Verdict: judge.Pass, Label: "same-thing", Report: []byte(`{"a":1}`),
			Checks: []judge.CheckResult{{Name: "score.class", Kind: judge.Soft, OK: true}}}}
		change(i, &f)
		e := &f.Evaluation
		e.Attempts = len(e.Calls)
		for _, c := range e.Calls {
			e.CostUSD += c.CostUSD
			e.Tokens.Prompt, e.Tokens.Completion = e.Tokens.Prompt+c.Tokens.Prompt, e.Tokens.Completion+c.Tokens.Completion
			e.TransportRetries += c.TransportRetries
			if c.Unpriced {
				e.UnpricedCalls++
			}
		}
		done = append(done, f)
	}
	if err := d.FinishWork(d.ctx, done); err != nil {
		d.t.Fatal(err)
	}
}

// call is one reply of a model.
func (d *desk) call(ms int64, usd float64) judge.Attempt {
	return judge.Attempt{Engine: judge.EngineOpenAI, Prompt: "p", Reply: "r", StartedAt: d.clock.Now(), LatencyMS: ms, CostUSD: usd,
		Tokens: judge.Tokens{Prompt: 100, Completion: 10}}
}

func (d *desk) health(a store.Actor, f store.HealthFilter) store.JudgeHealth {
	d.t.Helper()
	h, err := d.JudgeHealth(d.ctx, a, "default", "equivalence", f)
	if err != nil {
		d.t.Fatal(err)
	}
	return h
}

// deeplyChecked holds everything that is kept to what counting it anew gives.
func (d *desk) deeplyChecked() {
	d.t.Helper()
	c, err := d.CheckContents(d.ctx, d.auditor)
	if err != nil || len(c.Problems) > 0 {
		d.t.Errorf("problems %v, error %v", c.Problems, err)
	}
}

func TestJudgeHealth(t *testing.T) {
	d := openDesk(t)
	d.byModel(12, "small", func(i int, f *judge.Finished) {
		e := &f.Evaluation
		e.Calls = []judge.Attempt{d.call(int64(100+i), 0.001)}
		switch i {
		case 0: // repaired
			e.Calls, e.Repairs = append(e.Calls, d.call(3000, 0.002)), 1
			e.Calls[1].Unpriced, e.Calls[0].TransportRetries = true, 3
			e.Checks[0].OK = false
		case 1:
			e.Status, e.Verdict, e.Label, e.Score, e.Report, e.Checks = judge.InReview, "", "", nil, nil, nil
			e.Reasons = []judge.Reason{{Code: judge.ReasonInvalidOutput}}
		case 2:
			e.Status, e.Verdict, e.Label, e.Score, e.Report, e.Checks, e.Calls = judge.InReview, "", "", nil, nil, nil, nil
			e.Reasons = []judge.Reason{{Code: judge.ReasonJudgeFailed}}
		case 3:
			uncited := 4
			e.Undecided, e.Uncited = true, &uncited
		}
	})
	d.clock.add(24 * time.Hour)
	d.byModel(3, "large", func(_ int, f *judge.Finished) { f.Evaluation.Calls = []judge.Attempt{d.call(1, 0)} })
	first := store.Health{Evaluations: 12, Calls: 12, Reports: 10, Repaired: 1, Repairs: 1, Invalid: 1, Failed: 1, Undecided: 1, UncitedSteps: 4,
		TransportRetries: 3, Unpriced: 1, PromptTokens: 1200, CompletionTokens: 120, CostUSD: 0.013, LatencyP50MS: 128, LatencyP95MS: 4096,
		Checks: []store.CheckCount{{Name: "score.class", Run: 10, Failed: 1}}}
	second := store.Health{Evaluations: 3, Calls: 3, Reports: 3, PromptTokens: 300, CompletionTokens: 30, LatencyP50MS: 1, LatencyP95MS: 1}
	got := d.health(d.auditor, store.HealthFilter{})
	want := store.JudgeHealth{
		Days:     []store.JudgeDay{{Day: "2026-03-02", Health: first}, {Day: "2026-03-03", Health: second}},
		Versions: []string{"v1"}, Engines: []string{"openai"}, Models: []string{"large", "small"},
	}
	want.Total = first
	want.Total.Evaluations, want.Total.Calls, want.Total.Reports, want.Total.PromptTokens, want.Total.CompletionTokens = 15, 15, 13, 1500, 150
	want.Total.Checks = []store.CheckCount{{Name: "score.class", Run: 13, Failed: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("an auditor (-want +got):\n%s", diff)
	}
	// The second day has so few that a lead is not told, nor is a sum that they are
	// in.
	want.Total, want.Days[1].Health = first, store.Health{Untold: 3}
	want.Total.Untold = 3
	if diff := cmp.Diff(want, d.health(d.lea, store.HealthFilter{})); diff != "" {
		t.Errorf("a lead (-want +got):\n%s", diff)
	}
	if got = d.health(d.lea, store.HealthFilter{Model: "large"}); !got.Total.TooFew() {
		t.Errorf("a lead is told of 3: %+v", got.Total)
	}
	for _, a := range []store.Actor{d.auditor, d.lea} {
		all, err := d.JudgesHealth(d.ctx, a, "default", 0)
		if diff := cmp.Diff(map[string]store.Health{"equivalence": d.health(a, store.HealthFilter{}).Total}, all); diff != "" || err != nil {
			t.Errorf("all judges, %s: error %v (-want +got):\n%s", a.Role, err, diff)
		}
	}
	if got = d.health(d.auditor, store.HealthFilter{Model: "large"}); got.Total.Evaluations != 3 || len(got.Models) != 2 {
		t.Errorf("of one model: %+v", got)
	}
	if got = d.health(d.auditor, store.HealthFilter{Days: 1}); got.Total.Evaluations != 3 {
		t.Errorf("of today: %+v", got.Total)
	}
	d.deeplyChecked()
	// A retry is another evaluation; what failed has failed all the same.
	if err := d.RetryEvaluation(d.ctx, d.lea, d.text(`SELECT id FROM evaluations WHERE lead_reason = 'judge_failed'`)); err != nil {
		t.Fatal(err)
	}
	work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: 1, Lease: time.Minute})
	if err != nil || len(work) != 1 {
		t.Fatalf("claimed %d, %v", len(work), err)
	}
	if err := d.FinishWork(d.ctx, []judge.Finished{{Work: work[0], Evaluation: judge.Evaluation{Engine: judge.EngineOpenAI, Model: "small",
		Status: judge.Accepted, Verdict: judge.Pass, Calls: []judge.Attempt{d.call(5, 0.1)}}}}); err != nil {
		t.Fatal(err)
	}
	if got = d.health(d.auditor, store.HealthFilter{}); got.Total.Evaluations != 16 || got.Total.Failed != 1 || got.Total.CostUSD != 0.113 {
		t.Errorf("after a retry: %+v", got.Total)
	}
	d.deeplyChecked()
	if _, err := d.raw.Exec(`UPDATE judge_days SET n = n + 1 WHERE measure = 'calls' AND model = 'large'`); err != nil {
		t.Fatal(err)
	}
	if c, err := d.CheckContents(d.ctx, d.auditor); err != nil || len(c.Problems) != 1 {
		t.Errorf("a wrong number: problems %v, error %v", c.Problems, err)
	}
	if _, err := d.JudgesHealth(d.ctx, d.ann, "default", 0); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a reviewer, of all judges: %v", err)
	}
	if _, err := d.JudgeHealth(d.ctx, d.ann, "default", "equivalence", store.HealthFilter{}); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a reviewer: %v", err)
	}
	if _, err := d.JudgeHealth(d.ctx, d.lea, "default", "equivalence", store.HealthFilter{Days: 400}); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("400 days: %v", err)
	}
}

// Rounds that an older program stored say nothing of themselves; they are
// counted from their calls when the database is opened.
func TestHealthOfAnOlderDatabase(t *testing.T) {
	d := openDesk(t)
	d.byModel(3, "small", func(i int, f *judge.Finished) {
		f.Evaluation.Calls = []judge.Attempt{d.call(10, 0.001)}
		if i == 1 {
			f.Evaluation.Calls = append(f.Evaluation.Calls, d.call(10, 0.001))
		}
	})
	old := `{"report":{"a":1},"findings":[],"checks":[{"name":"score.class","kind":"soft","ok":false}],"calls":[{"number":1,"engine":"openai"}]}`
	for _, query := range []string{`DELETE FROM judge_days`, `DELETE FROM settings WHERE name = 'judge_health'`,
		`UPDATE evaluation_reports SET codec = 0, dictionary = 0, detail = CAST('` + old + `' AS ` + d.bytesType() + `)`} {
		if _, err := d.raw.Exec(query); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	var told []store.Upgrade
	again, err := store.Open(d.ctx, store.Options{URL: d.address, Now: d.clock.Now, Upgraded: func(u store.Upgrade) { told = append(told, u) }})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	upgrade := store.Upgrade{What: "counting what judges did", Total: 3}
	if diff := cmp.Diff([]store.Upgrade{upgrade, {What: upgrade.What, Done: 3, Total: 3}}, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	want := store.Health{Evaluations: 3, Calls: 3, Reports: 3, PromptTokens: 300, CompletionTokens: 30, CostUSD: 0.003, LatencyP50MS: 16, LatencyP95MS: 16,
		Checks: []store.CheckCount{{Name: "score.class", Run: 3, Failed: 3}}}
	if diff := cmp.Diff(want, d.health(d.auditor, store.HealthFilter{}).Total); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	// What comes now is counted once.
	d.byModel(2, "small", func(_ int, f *judge.Finished) {})
	if again, err = store.Open(d.ctx, store.Options{URL: d.address, Now: d.clock.Now}); err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := d.health(d.auditor, store.HealthFilter{}).Total.Evaluations; got != 5 {
		t.Errorf("%d evaluations, want 5", got)
	}
}

// bytesType is what the database calls bytes.
func (d *desk) bytesType() string {
	if strings.HasPrefix(d.address, "postgres") {
		return "BYTEA"
	}
	return "BLOB"
}

func TestJudgeUsesAreKept(t *testing.T) {
	d := openDesk(t)
	d.byModel(3, "small", func(int, *judge.Finished) {})
	uses, err := d.JudgeUses(d.ctx, "default")
	if diff := cmp.Diff([]store.JudgeUse{{Judge: "equivalence", PromptVersion: "v1", Evaluations: 3}}, uses); diff != "" || err != nil {
		t.Errorf("%s, error %v", diff, err)
	}
}
