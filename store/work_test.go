package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

func claim(t *testing.T, s *store.Store, worker string, n int, lease time.Duration) []judge.Work {
	t.Helper()
	work, err := s.ClaimWork(context.Background(), judge.Claim{Worker: worker, N: n, Lease: lease})
	if err != nil {
		t.Fatal(err)
	}
	return work
}

func finish(t *testing.T, s *store.Store, done ...judge.Finished) {
	t.Helper()
	if err := s.FinishWork(context.Background(), done); err != nil {
		t.Fatal(err)
	}
}

func view(t *testing.T, s *store.Store, id string) store.EvaluationView {
	t.Helper()
	v, err := s.GetEvaluation(context.Background(), storetest.Operator, id)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWorkIsGivenOldestFirstAndOnce(t *testing.T) {
	s := storetest.Open(t, nil)
	storetest.Import(t, s, storetest.Items(0, 3))
	storetest.Import(t, s, storetest.Items(3, 2))
	var got []string
	seen := map[string]bool{}
	for range 3 {
		for _, w := range claim(t, s, "w", 2, time.Minute) {
			got = append(got, w.Trace.ID)
			if seen[w.EvaluationID] {
				t.Errorf("evaluation of %s was given twice", w.Trace.ID)
			}
			seen[w.EvaluationID] = true
		}
	}
	want := []string{"trace-000000", "trace-000001", "trace-000002", "trace-000003", "trace-000004"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if more := claim(t, s, "w", 2, time.Minute); len(more) != 0 {
		t.Errorf("%d more were given", len(more))
	}
}

func TestWorkCarriesTheTrace(t *testing.T) {
	s := storetest.Open(t, nil)
	storetest.Import(t, s, storetest.Items(5, 1))
	w := claim(t, s, "w", 1, time.Minute)[0]
	want := storetest.Trace(5)
	want.Run = "" // a trace may be in many runs; judges don't read it
	if diff := cmp.Diff(want, w.Trace); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(storetest.Planned(), w.Planned); diff != "" {
		t.Errorf("planned (-want +got):\n%s", diff)
	}
	if w.Project != "default" || w.Fence != 1 {
		t.Errorf("project %q, fence %d", w.Project, w.Fence)
	}
}

func TestLateWorkerIsDropped(t *testing.T) {
	clock := storetest.NewClock()
	s := storetest.Open(t, clock)
	storetest.Import(t, s, storetest.Items(0, 1))
	late := claim(t, s, "late", 1, time.Minute)[0]
	if other := claim(t, s, "other", 1, time.Minute); len(other) != 0 {
		t.Fatalf("taken over while the lease runs")
	}
	clock.Advance(2 * time.Minute)
	second := claim(t, s, "other", 1, time.Minute)
	if len(second) != 1 || second[0].EvaluationID != late.EvaluationID || second[0].Fence != late.Fence+1 {
		t.Fatalf("after the lease: got %+v", second)
	}
	finish(t, s, storetest.Flagged(late, judge.ReasonCriticalError))
	if v := view(t, s, late.EvaluationID); v.Evaluation.Status != judge.Judging || v.ReviewID != "" {
		t.Errorf("the late result was stored: status %s", v.Evaluation.Status)
	}
	if err := s.ReleaseWork(context.Background(), []judge.Work{late}); err != nil {
		t.Fatal(err)
	}
	finish(t, s, storetest.Accepted(second[0]))
	finish(t, s, storetest.Flagged(late, judge.ReasonCriticalError), storetest.Accepted(second[0]))
	v := view(t, s, late.EvaluationID)
	if v.Evaluation.Status != judge.Accepted || v.Evaluation.Attempts != 1 || len(v.Evaluation.Calls) != 1 {
		t.Errorf("status %s, %d attempts, %d calls, want accepted, 1, 1", v.Evaluation.Status, v.Evaluation.Attempts, len(v.Evaluation.Calls))
	}
}

// A worker that is slow but was not overtaken brings its result in.
func TestLateButNotOvertaken(t *testing.T) {
	clock := storetest.NewClock()
	s := storetest.Open(t, clock)
	storetest.Import(t, s, storetest.Items(0, 1))
	w := claim(t, s, "slow", 1, time.Minute)[0]
	clock.Advance(time.Hour)
	finish(t, s, storetest.Accepted(w))
	if v := view(t, s, w.EvaluationID); v.Evaluation.Status != judge.Accepted {
		t.Errorf("status %s, want accepted", v.Evaluation.Status)
	}
}

func TestReleasedWorkIsGivenAgainAtOnce(t *testing.T) {
	s := storetest.Open(t, nil)
	storetest.Import(t, s, storetest.Items(0, 2))
	work := claim(t, s, "w", 2, time.Hour)
	if err := s.ReleaseWork(context.Background(), work[:1]); err != nil {
		t.Fatal(err)
	}
	again := claim(t, s, "w", 2, time.Hour)
	if len(again) != 1 || again[0].EvaluationID != work[0].EvaluationID {
		t.Errorf("got %d, want the released one", len(again))
	}
	if n, err := s.PendingWork(context.Background(), "default"); err != nil || n != 2 {
		t.Errorf("pending %d, %v, want 2", n, err)
	}
}

func TestManyWorkersShareTheWork(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	storetest.Import(t, s, storetest.Items(0, 100))
	type given struct {
		id  string
		err error
	}
	got := make(chan given)
	for range 8 {
		go func() {
			for {
				work, err := s.ClaimWork(ctx, judge.Claim{Worker: "w", N: 3, Lease: time.Hour})
				if err != nil || len(work) == 0 {
					got <- given{err: err}
					return
				}
				var done []judge.Finished
				for _, w := range work {
					done = append(done, storetest.Accepted(w))
				}
				if err := s.FinishWork(ctx, done); err != nil {
					got <- given{err: err}
					return
				}
				for _, w := range work {
					got <- given{id: w.EvaluationID}
				}
			}
		}()
	}
	seen := map[string]bool{}
	for left := 8; left > 0; {
		g := <-got
		switch {
		case g.err != nil:
			t.Fatal(g.err)
		case g.id == "":
			left--
		case seen[g.id]:
			t.Errorf("evaluation %s was given twice", g.id)
		default:
			seen[g.id] = true
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d evaluations were judged, want 100", len(seen))
	}
}

func TestFinishStoresEverything(t *testing.T) {
	s := storetest.Open(t, nil)
	storetest.Import(t, s, storetest.Items(0, 1))
	w := storetest.Claim(t, s, 1)[0]
	f := storetest.Flagged(w, judge.ReasonMisattribution, judge.ReasonCriticalError)
	f.Evaluation.Repairs, f.Evaluation.TransportRetries, f.Evaluation.CostUSD = 1, 2, 0.25
	f.Evaluation.Calls[0].Errors = []string{"/a: wrong"}
	f.Evaluation.Calls[0].Parameters = json.RawMessage(`{"temperature":0}`)
	f.Draw = &judge.Draw{Stratum: judge.StratumRandomAudit, InclusionProbability: 0.05}
	finish(t, s, f)
	v := view(t, s, w.EvaluationID)
	want := f.Evaluation
	want.Run = "nightly"
	if diff := cmp.Diff(want, v.Evaluation); diff != "" {
		t.Errorf("evaluation (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(f.Draw, v.Draw); diff != "" {
		t.Errorf("draw (-want +got):\n%s", diff)
	}
	if v.ReviewState != "open" {
		t.Errorf("review state %q, want open", v.ReviewState)
	}
	r, err := s.GetReview(context.Background(), storetest.Operator, v.ReviewID)
	if err != nil {
		t.Fatal(err)
	}
	// Trace 0 is legal: high stakes, due within 24 hours by default.
	if got := r.DueAt.Sub(r.OpenedAt); got != 24*time.Hour {
		t.Errorf("due after %s, want 24h", got)
	}
	rows, _, err := s.ListEvaluations(context.Background(), storetest.Operator, store.EvaluationFilter{})
	if err != nil || rows[0].LeadReason != judge.ReasonCriticalError {
		t.Errorf("lead reason %q, error %v, want the most urgent", rows[0].LeadReason, err)
	}
}

func TestAcceptedHasTheJudgesResult(t *testing.T) {
	s := storetest.Open(t, nil)
	v := view(t, s, storetest.JudgeOne(t, s, 0, storetest.Accepted))
	want := &judge.Result{Verdict: judge.Pass, Label: "accurate", Source: judge.ByJudge}
	if diff := cmp.Diff(want, v.Evaluation.Result); diff != "" || v.ReviewID != "" {
		t.Errorf("review %q, result (-want +got):\n%s", v.ReviewID, diff)
	}
}

func TestFinishRefusesWhatCannotBe(t *testing.T) {
	s := storetest.Open(t, nil)
	storetest.Import(t, s, storetest.Items(0, 1))
	w := storetest.Claim(t, s, 1)[0]
	half := storetest.Accepted(w)
	half.Evaluation.Status = judge.Judging
	if err := s.FinishWork(context.Background(), []judge.Finished{half}); err == nil {
		t.Error("a result that is still being judged was stored")
	}
	if err := s.FinishWork(context.Background(), []judge.Finished{storetest.Flagged(w)}); err == nil {
		t.Error("an evaluation in review without a reason was stored")
	}
}

func TestModelsThatDisagreeWaitForAPerson(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	item := storetest.Items(0, 1)[0]
	second, third := storetest.Planned(), storetest.Planned()
	second.Engine, second.Model = judge.EngineOpenAI, "m2"
	third.Engine, third.Model, third.Judgment = judge.EngineRecorded, "m3", 0
	item.Trace.Judgments = []judge.Judgment{{Judge: "citations", Raw: "{}"}}
	item.Plan = append(item.Plan, second, third)
	storetest.Import(t, s, []store.ImportItem{item})
	work := storetest.Claim(t, s, 3)
	finish(t, s, storetest.Accepted(work[0]))
	if v := view(t, s, work[0].EvaluationID); v.Evaluation.Status != judge.Accepted {
		t.Fatalf("first: status %s, want accepted", v.Evaluation.Status)
	}
	other := storetest.Accepted(work[1])
	other.Evaluation.Verdict, other.Evaluation.Label = judge.Fail, "inaccurate"
	finish(t, s, other)
	for i, w := range work[:2] {
		v := view(t, s, w.EvaluationID)
		if v.Evaluation.Status != judge.InReview || v.Evaluation.Result != nil || v.ReviewState != "open" ||
			len(v.Evaluation.Reasons) != 1 || v.Evaluation.Reasons[0].Code != judge.ReasonJudgeDisagreement {
			t.Errorf("%d: status %s, reasons %v, result %v, review %s", i, v.Evaluation.Status, v.Evaluation.Reasons, v.Evaluation.Result, v.ReviewState)
		}
	}
	recorded := storetest.Accepted(work[2])
	finish(t, s, recorded)
	if v := view(t, s, work[2].EvaluationID); v.Evaluation.Status != judge.Accepted {
		t.Errorf("recorded: status %s, want accepted", v.Evaluation.Status)
	}
	counts, err := s.QueueCounts(ctx, storetest.Operator, "default")
	if err != nil || counts.Total != 2 {
		t.Errorf("%d wait, error %v, want 2", counts.Total, err)
	}
}

func failedJudge(w judge.Work) judge.Finished {
	f := storetest.Flagged(w, judge.ReasonJudgeFailed)
	e := &f.Evaluation
	e.Score, e.Verdict, e.Label, e.Critical, e.Findings, e.Report = nil, "", "", false, nil, nil
	e.Error = "the endpoint answered 500"
	return f
}

func TestRetry(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	id := storetest.JudgeOne(t, s, 0, failedJudge)
	reviewer, lead := storetest.User(t, s, "Ana", store.Reviewer), storetest.User(t, s, "Lea", store.Lead)
	if err := s.RetryEvaluation(ctx, reviewer, id); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("by a reviewer: error %v, want ErrForbidden", err)
	}
	if err := s.RetryEvaluation(ctx, lead, id); err != nil {
		t.Fatal(err)
	}
	if v := view(t, s, id); v.Evaluation.Status != judge.Queued || v.ReviewState != "closed" || v.Evaluation.Error != "" || len(v.Evaluation.Calls) != 1 {
		t.Errorf("after retry: status %s, review %s, error %q, %d calls", v.Evaluation.Status, v.ReviewState, v.Evaluation.Error, len(v.Evaluation.Calls))
	}
	if err := s.RetryEvaluation(ctx, lead, id); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a second time: error %v, want ErrConflict", err)
	}
	finish(t, s, flagged(storetest.Claim(t, s, 1)[0]))
	v := view(t, s, id)
	if v.Evaluation.Status != judge.InReview || v.ReviewState != "open" || v.Evaluation.Attempts != 2 || v.Evaluation.LatencyMS != 14 ||
		len(v.Evaluation.Calls) != 2 || v.Evaluation.Calls[1].Number != 2 || len(v.Evaluation.Reasons) != 2 {
		t.Errorf("judged again: %+v, review %s", v.Evaluation, v.ReviewState)
	}
	if err := s.RetryEvaluation(ctx, lead, id); !errors.Is(err, store.ErrConflict) {
		t.Errorf("one that did not fail: error %v, want ErrConflict", err)
	}
	if err := s.RetryEvaluation(ctx, lead, "nothing"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("unknown: error %v, want ErrNotFound", err)
	}
}

func TestRequestReview(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	id := storetest.JudgeOne(t, s, 0, storetest.Accepted)
	lead := storetest.User(t, s, "Lea", store.Lead)
	if err := s.RequestReview(ctx, storetest.User(t, s, "Ana", store.Reviewer), id, ""); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("by a reviewer: error %v, want ErrForbidden", err)
	}
	if err := s.RequestReview(ctx, lead, id, "looks odd"); err != nil {
		t.Fatal(err)
	}
	v := view(t, s, id)
	if v.Evaluation.Status != judge.InReview || v.Evaluation.Result != nil || v.Draw == nil || v.Draw.Stratum != judge.StratumRequested {
		t.Errorf("status %s, result %v, draw %v", v.Evaluation.Status, v.Evaluation.Result, v.Draw)
	}
	if diff := cmp.Diff([]judge.Reason{{Code: judge.ReasonRequested, Detail: "looks odd"}}, v.Evaluation.Reasons); diff != "" {
		t.Errorf("reasons (-want +got):\n%s", diff)
	}
	if err := s.RequestReview(ctx, lead, id, ""); !errors.Is(err, store.ErrConflict) {
		t.Errorf("a second time: error %v, want ErrConflict", err)
	}
}

// TestWorkOfSomeEngines: a claim takes what it names, the oldest first whatever
// the engine, and the rest waits without being touched.
func TestWorkOfSomeEngines(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	const byRules, here, there = judge.EngineRules, "openai/here", "openai/there"
	of := func(key string, from, n int) {
		items := storetest.Items(from, n)
		for i := range items {
			for k := range items[i].Plan {
				items[i].Plan[k].Engine, items[i].Plan[k].Endpoint = judge.EngineOfKey(key)
			}
		}
		storetest.Import(t, s, items)
	}
	of(there, 0, 5)
	of(here, 5, 2)
	of(byRules, 7, 2)
	of(here, 9, 2)
	claimed := func(n int, engines ...string) (traces []string) {
		t.Helper()
		work, err := s.ClaimWork(ctx, judge.Claim{Worker: "w", N: n, Lease: time.Minute, Engines: engines})
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range work {
			traces = append(traces, w.Trace.ID[len("trace-0000"):])
		}
		return traces
	}
	waiting := func(engines ...string) []store.EngineWait {
		t.Helper()
		waits, err := s.WaitingElsewhere(ctx, storetest.Operator, store.WaitFilter{Project: "default", Here: engines})
		if err != nil {
			t.Fatal(err)
		}
		return waits
	}
	for _, tt := range []struct {
		n       int
		engines []string
		want    []string
	}{
		{3, []string{byRules, here}, []string{"05", "06", "07"}},
		{9, []string{"recorded", "openai"}, nil},
		{1, []string{byRules}, []string{"08"}},
		{9, []string{}, nil},
		{9, []string{byRules, here}, []string{"09", "10"}},
	} {
		if diff := cmp.Diff(tt.want, claimed(tt.n, tt.engines...)); diff != "" {
			t.Errorf("%d of %v (-want +got):\n%s", tt.n, tt.engines, diff)
		}
	}
	// What is being judged by another does not wait.
	if diff := cmp.Diff([]store.EngineWait{{Engine: "openai", Endpoint: "there", N: 5}}, waiting(byRules)); diff != "" {
		t.Errorf("waiting (-want +got):\n%s", diff)
	}
	if waits := waiting(byRules, there); waits != nil {
		t.Errorf("%v waits, and every engine is here", waits)
	}
	work := claim(t, s, "w", 9, time.Minute)
	if len(work) != 5 {
		t.Errorf("%d are given where the engine does not matter, want 5", len(work))
	}
}
