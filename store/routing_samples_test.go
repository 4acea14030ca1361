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

func TestRoutingSamples(t *testing.T) {
	d := openDesk(t)
	d.blind("always")
	reviews := d.put(judged{id: "t1", domain: "legal"}, judged{id: "t2"}, judged{id: "t3", report: func(e *judge.Evaluation) {
		e.Status, e.Verdict, e.Label, e.Critical, e.Reasons = judge.Accepted, judge.Pass, "same-thing", false, nil
		e.Undecided, e.Explanation, e.PolicyVersion = true, "both say little", 7
	}})
	given := func(a store.Actor, f store.SampleFilter, n int) (ids []string, all []store.RoutingSample, counts store.SampleCounts) {
		t.Helper()
		counts, err := d.RoutingSamples(d.ctx, a, "default", f, n, func(s store.RoutingSample) error {
			ids, all = append(ids, s.Trace.ID), append(all, s)
			return nil
		})
		if err != nil || counts.Given != len(ids) {
			t.Fatalf("counts %+v of %v, error %v", counts, ids, err)
		}
		return ids, all, counts
	}
	ids, all, counts := given(d.auditor, store.SampleFilter{}, 10)
	if diff := cmp.Diff([]string{"t3", "t2", "t1"}, ids); diff != "" || counts.Sealed != 0 || !counts.Oldest.Before(counts.Newest) && counts.Oldest != counts.Newest {
		t.Errorf("an auditor: %+v %s", counts, diff)
	}
	accepted := all[0]
	if accepted.Draw != nil || accepted.PolicyVersion != 7 || !accepted.Evaluation.Undecided || accepted.Evaluation.Explanation != "both say little" ||
		accepted.Planned.Judgment != judge.NoJudgment || accepted.Planned.Samples != 0 || len(accepted.Trace.Labels)+len(accepted.Trace.Judgments) > 0 {
		t.Errorf("the accepted one: %+v", accepted)
	}
	if f := all[1]; f.Draw == nil || f.Draw.Stratum != judge.StratumFlagged || len(f.Evaluation.Report) == 0 || len(f.Evaluation.Checks) == 0 || len(f.Evaluation.Reasons) == 0 || f.Evaluation.Calls != nil {
		t.Errorf("a flagged one: %+v", f)
	}
	// To a lead what waits blind is not given, whatever is asked.
	ids, _, counts = given(d.lea, store.SampleFilter{}, 10)
	if diff := cmp.Diff([]string{"t3"}, ids); diff != "" || counts.Sealed != 2 {
		t.Errorf("a lead: %+v %s", counts, diff)
	}
	d.claim(d.lea, reviews["t1"])
	d.first(d.lea, reviews["t1"], judge.Fail)
	ids, _, _ = given(d.lea, store.SampleFilter{Domain: "legal"}, 10)
	if diff := cmp.Diff([]string{"t1"}, ids); diff != "" {
		t.Errorf("legal, after the lead answered: %s", diff)
	}
	if ids, _, _ = given(d.auditor, store.SampleFilter{Judge: "equivalence", PromptVersion: "v1"}, 2); len(ids) != 2 {
		t.Errorf("the last two: %v", ids)
	}
	if ids, _, _ = given(d.auditor, store.SampleFilter{PromptVersion: "v0"}, 2); ids != nil {
		t.Errorf("of another version: %v", ids)
	}
	stop := errors.New("stop")
	if _, err := d.RoutingSamples(d.ctx, d.auditor, "default", store.SampleFilter{}, 5, func(store.RoutingSample) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("error %v, want that of fn", err)
	}
	if _, err := d.RoutingSamples(d.ctx, d.auditor, "default", store.SampleFilter{}, 0, nil); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("none wanted: %v", err)
	}
	if _, err := d.RoutingSamples(d.ctx, d.ann, "default", store.SampleFilter{}, 1, nil); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a reviewer: %v", err)
	}
}

// More than one batch is read, each evaluation once.
func TestRoutingSamplesInBatches(t *testing.T) {
	d := openDesk(t)
	var items []judged
	for i := range 230 {
		items = append(items, judged{id: fmt.Sprint("t", i)})
	}
	d.put(items...)
	seen := map[string]int{}
	counts, err := d.RoutingSamples(d.ctx, d.auditor, "default", store.SampleFilter{}, 225, func(s store.RoutingSample) error {
		seen[s.Trace.ID]++
		return nil
	})
	if err != nil || counts.Given != 225 || len(seen) != 225 {
		t.Errorf("%+v, %d traces, error %v", counts, len(seen), err)
	}
}

func TestReviewPace(t *testing.T) {
	d := openDesk(t)
	d.blind("never")
	decide := func(id, domain string, took time.Duration) {
		review := d.put(judged{id: id, domain: domain})[id]
		d.claim(d.ann, review)
		d.clock.add(took)
		d.decide(d.ann, review, store.DecisionInput{Action: store.Confirm})
	}
	pace, err := d.ReviewPace(d.ctx, d.lea, "default")
	if err != nil {
		t.Fatal(err)
	}
	if got := pace.Of("equivalence", judge.HighStakes); got.Basis != store.PaceAssumed || got.Seconds != 120 || got.N != 0 {
		t.Errorf("nobody decided: %+v", got)
	}
	for i := range 5 {
		decide(fmt.Sprint("legal", i), "legal", time.Duration(i+1)*100*time.Second)
	}
	decide("general", "general", 10*time.Second)
	if pace, err = d.ReviewPace(d.ctx, d.lea, "default"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		judge  string
		stakes judge.Stakes
		basis  string
		low    float64
		n      int
	}{
		{"equivalence", judge.HighStakes, store.PaceOfJudgeAndStakes, 300, 5},
		{"equivalence", judge.StandardStakes, store.PaceOfJudge, 250, 6},
		{"tone", judge.StandardStakes, store.PaceOfProject, 250, 6},
	} {
		got := pace.Of(c.judge, c.stakes)
		if got.Basis != c.basis || got.N != c.n || got.Seconds < c.low || got.Seconds > c.low+1 || got.Judge != c.judge || got.Stakes != c.stakes {
			t.Errorf("%s, %s: %+v, want a median of about %v of %d, of %s", c.judge, c.stakes, got, c.low, c.n, c.basis)
		}
	}
	if _, err := d.ReviewPace(d.ctx, d.ann, "default"); !errors.Is(err, store.ErrForbidden) {
		t.Errorf("a reviewer: %v", err)
	}
}

// Which items are blind goes by the policy's rules for reason and stakes.
func TestBlindByRule(t *testing.T) {
	d := openDesk(t)
	p, err := d.ProjectNamed(d.ctx, "default")
	if err != nil {
		t.Fatal(err)
	}
	p.Policy.Blind = judge.BlindNever
	p.Policy.BlindRules = []judge.BlindRule{{Reason: judge.ReasonCriticalError, Stakes: judge.HighStakes, Mode: judge.BlindAlways}}
	p.Policy.HighStakesDomains = []string{"shipping"}
	if p, err = d.SetPolicy(d.ctx, d.lea, "default", p.Policy, ""); err != nil {
		t.Fatal(err)
	}
	d.put(judged{id: "t1", domain: "shipping"}, judged{id: "t2", domain: "legal"})
	got := d.text(`SELECT string_agg(v, ' ') FROM (SELECT external_id || ':' || stakes || ':' || CASE WHEN blind THEN 'blind' ELSE 'open' END || ':' || policy_version AS v FROM reviews ORDER BY external_id) x`)
	if want := "t1:high:blind:2 t2:standard:open:2"; got != want {
		t.Errorf("items %s, want %s", got, want)
	}
	work, err := d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: 1, Lease: time.Minute})
	if err != nil || len(work) != 0 {
		t.Fatalf("claimed %d, %v", len(work), err)
	}
	d.ImportTraces(d.ctx, d.lea, "default", []store.ImportItem{{Trace: judge.Trace{ID: "t3", Output: "o"}, Plan: []judge.Planned{
		{Judge: "equivalence", PromptVersion: "v1", Engine: judge.EngineOpenAI, Model: "m", Endpoint: "ward-7", Samples: 5, Judgment: judge.NoJudgment},
		{Judge: "equivalence", PromptVersion: "v1", Engine: judge.EngineOpenAI, Model: "m", Judgment: judge.NoJudgment}}}})
	work, err = d.ClaimWork(d.ctx, judge.Claim{Worker: "w", N: 2, Lease: time.Minute})
	if err != nil || len(work) != 2 {
		t.Fatalf("claimed %d, %v", len(work), err)
	}
	if w := work[0]; w.Planned.Endpoint != "ward-7" || w.Planned.Samples != 5 || w.Policy == nil || !cmp.Equal(*w.Policy, p.Policy) || w.Project != "default" {
		t.Errorf("work %+v under %+v", w.Planned, w.Policy)
	}
	if w := work[1]; w.Planned.Endpoint != "" || w.Planned.Samples != 0 || strings.Contains(w.Project, " ") {
		t.Errorf("work %+v", w.Planned)
	}
}
