// Package storetest makes real stores with sample data for tests: a database
// file in the test's own folder, users, judges, traces and results. It must
// never be imported by anything but tests.
package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// Operator acts where no person is meant.
var Operator = store.Operator("test")

// Clock is a clock that tests move by hand.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock stands at 1 March 2026, 09:00 UTC.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)} }

// Now gives the time; every call is a millisecond later, as a real clock's is.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Open makes a store in a folder of the test, with the default project and
// the judge of Judge. A nil clock means a NewClock.
func Open(t testing.TB, clock *Clock) *store.Store {
	t.Helper()
	return OpenAt(t, Address(t), clock)
}

// OpenAt is Open for a database that the test also opens in other ways.
func OpenAt(t testing.TB, address string, clock *Clock) *store.Store {
	t.Helper()
	if clock == nil {
		clock = NewClock()
	}
	ctx := context.Background()
	s, err := store.Open(ctx, store.Options{URL: address, Now: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	if _, err := s.EnsureProject(ctx, Operator, store.DefaultProject); err != nil {
		t.Fatal(err)
	}
	if err := s.SaveJudges(ctx, Operator, store.DefaultProject, []judge.Judge{Judge()}); err != nil {
		t.Fatal(err)
	}
	return s
}

// User makes a user without a password and returns who acts as them.
func User(t testing.TB, s *store.Store, name string, role store.Role) store.Actor {
	t.Helper()
	u, err := s.CreateUser(context.Background(), Operator, store.NewUser{
		Email: strings.ToLower(name) + "@example.org", Name: name, Role: role,
	})
	if err != nil {
		t.Fatal(err)
	}
	return u.Actor()
}

// Judge is a small judge named citations with three ordinal labels.
func Judge() judge.Judge {
	return judge.Judge{
		Name: "citations", PromptVersion: judge.HashText("citations prompt 1"), Builtin: true, Ordinal: true,
		Source: []byte("name: citations\n"),
		Labels: []judge.Label{
			{Name: "accurate", Verdict: judge.Pass}, {Name: "partial", Verdict: judge.Borderline},
			{Name: "inaccurate", Verdict: judge.Fail}, {Name: "undetermined", Verdict: judge.Borderline, Abstain: true},
		},
	}
}

// Trace is the n-th sample trace: about 4 KB, with a cited source.
func Trace(n int) judge.Trace {
	domain := []string{"legal", "medical", "general"}[n%3]
	return judge.Trace{
		ID: fmt.Sprintf("trace-%06d", n), Domain: domain, Stakes: judge.DefaultStakes(domain),
		Question: fmt.Sprintf("Question %d: does the limitation period of three years apply?", n),
		Output:   fmt.Sprintf("Step 1: the claim arose in %d [1].\nStep 2: so it lapsed in %d [1].", 1990+n%30, 1993+n%30),
		Sources:  []judge.Source{{ID: "1", Title: "Statute", Text: sourceText(n)}},
		Run:      "nightly",
	}
}

// sourceText is text of about 3.5 KB that differs from trace to trace.
func sourceText(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < 3500; i++ {
		fmt.Fprintf(&b, "Section %d.%d: a claim for the sum of %d euros lapses after three years unless it was acknowledged in writing. ",
			n, i, (n*7919+i*104729)%100000)
	}
	return b.String()
}

// Planned is one evaluation of Judge by the rules engine.
func Planned() judge.Planned {
	return judge.Planned{Judge: "citations", PromptVersion: Judge().PromptVersion, Engine: judge.EngineRules,
		Model: judge.EngineRules, Judgment: judge.NoJudgment}
}

// Items are sample traces from the from-th on, n of them, each planned once.
func Items(from, n int) []store.ImportItem {
	items := make([]store.ImportItem, n)
	for i := range items {
		items[i] = store.ImportItem{Trace: Trace(from + i), Plan: []judge.Planned{Planned()}}
	}
	return items
}

// Import imports items into the default project.
func Import(t testing.TB, s *store.Store, items []store.ImportItem) []store.Imported {
	t.Helper()
	done, err := s.ImportTraces(context.Background(), Operator, store.DefaultProject, items)
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// Accepted is a result without a reason.
func Accepted(w judge.Work) judge.Finished {
	return result(w, judge.Pass, "accurate", 0.95)
}

// Flagged is a failing result that waits for a person for the given reasons.
func Flagged(w judge.Work, codes ...string) judge.Finished {
	f := result(w, judge.Fail, "inaccurate", 0.125)
	f.Evaluation.Status = judge.InReview
	f.Evaluation.Critical = true
	f.Evaluation.Findings = []judge.Finding{{Step: 2, Class: "unsupported", Severity: "critical", Explanation: "SECRET-FINDING"}}
	for _, code := range codes {
		f.Evaluation.Reasons = append(f.Evaluation.Reasons, judge.Reason{Code: code, Detail: "SECRET-DETAIL"})
	}
	f.Draw = &judge.Draw{Stratum: judge.StratumFlagged, InclusionProbability: 1}
	return f
}

// result is what an engine would give. Its texts hold words that a test can
// look for where they must not be.
func result(w judge.Work, v judge.Verdict, label string, score float64) judge.Finished {
	report, err := json.Marshal(map[string]any{"overall_citation_accuracy_score": score, "summary": "SECRET-REPORT"})
	if err != nil {
		panic(err) // a map of a number and a text encodes
	}
	started := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	return judge.Finished{Work: w, Evaluation: judge.Evaluation{
		ID: w.EvaluationID, TraceID: w.Trace.ID, Judge: w.Planned.Judge, PromptVersion: w.Planned.PromptVersion,
		Engine: w.Planned.Engine, Model: w.Planned.Model, Status: judge.Accepted, Score: &score, Verdict: v, Label: label,
		Checks:   []judge.CheckResult{{Name: "citations.covered", Kind: judge.Hard, OK: true, Detail: "SECRET-CHECK"}},
		Report:   report,
		Hashes:   judge.TraceHashes(w.Trace),
		Attempts: 1, LatencyMS: 7, Tokens: judge.Tokens{Prompt: 11, Completion: 13}, StartedAt: &started,
		Calls: []judge.Attempt{{Number: 1, Engine: w.Planned.Engine, Prompt: "SECRET-PROMPT of " + w.EvaluationID, Reply: string(report),
			Report: report, StartedAt: started, LatencyMS: 7, Tokens: judge.Tokens{Prompt: 11, Completion: 13}}},
	}}
}

// Claim takes n evaluations for a minute.
func Claim(t testing.TB, s *store.Store, n int) []judge.Work {
	t.Helper()
	work, err := s.ClaimWork(context.Background(), judge.Claim{Worker: "test worker", N: n, Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return work
}

// JudgeOne imports the n-th trace, judges it by the given result, and returns
// the evaluation's id.
func JudgeOne(t testing.TB, s *store.Store, n int, by func(judge.Work) judge.Finished) string {
	t.Helper()
	Import(t, s, Items(n, 1))
	work := Claim(t, s, 1)
	if len(work) != 1 {
		t.Fatalf("claimed %d evaluations, want 1", len(work))
	}
	if err := s.FinishWork(context.Background(), []judge.Finished{by(work[0])}); err != nil {
		t.Fatal(err)
	}
	return work[0].EvaluationID
}
