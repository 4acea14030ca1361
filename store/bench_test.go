package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// Goal: 5,000 traces of 4 KB a second, 200 a batch.
func BenchmarkImport(b *testing.B) {
	ctx := context.Background()
	s := storetest.Open(b, nil)
	const batch = 200
	n := 0
	for b.Loop() {
		b.StopTimer()
		items := storetest.Items(n, batch)
		n += batch
		b.StartTimer()
		if _, err := s.ImportTraces(ctx, storetest.Operator, "default", items); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "traces/s")
}

// Goal: 3,000 results a second, 100 a batch, half of them for the queue.
func BenchmarkFinish(b *testing.B) {
	ctx := context.Background()
	s := storetest.Open(b, nil)
	const batch = 100
	n := 0
	for b.Loop() {
		b.StopTimer()
		storetest.Import(b, s, storetest.Items(n, batch))
		var done []judge.Finished
		for i, w := range storetest.Claim(b, s, batch) {
			f := storetest.Accepted(w)
			if i%2 == 0 {
				f = flagged(w)
			}
			done = append(done, f)
		}
		n += batch
		b.StartTimer()
		if err := s.FinishWork(ctx, done); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "results/s")
}

// large is a database with 100,000 evaluations, every fifth waiting for a
// person, in one big run and a hundred small ones.
func large(b *testing.B) *store.Store {
	b.Helper()
	ctx := context.Background()
	s := storetest.Open(b, nil)
	for from := 0; from < 100_000; from += 500 {
		items := storetest.Items(from, 500)
		for i := range items {
			items[i].Trace.Sources = nil
			if n := from + i; n%100 == 0 {
				items[i].Trace.Run = fmt.Sprintf("small-%d", n/1000)
			}
		}
		storetest.Import(b, s, items)
		var done []judge.Finished
		for i, w := range storetest.Claim(b, s, 500) {
			f := storetest.Accepted(w)
			if i%5 == 0 {
				f = flagged(w)
			}
			done = append(done, f)
		}
		if err := s.FinishWork(ctx, done); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// Goal: every page under 10 ms at 100,000 evaluations.
func BenchmarkListEvaluations(b *testing.B) {
	ctx := context.Background()
	s := large(b)
	reviewer := storetest.User(b, s, "Ana", store.Reviewer)
	deep := store.EvaluationFilter{Limit: 500}
	for range 100 {
		var err error
		if _, deep.After, err = s.ListEvaluations(ctx, reviewer, deep); err != nil {
			b.Fatal(err)
		}
	}
	deep.Limit = 50
	for _, c := range []struct {
		name string
		f    store.EvaluationFilter
	}{
		{"newest", store.EvaluationFilter{}},
		{"in the middle", deep},
		{"in review", store.EvaluationFilter{Status: judge.InReview}},
		{"judge", store.EvaluationFilter{Judge: "citations"}},
		{"no such judge", store.EvaluationFilter{Judge: "none"}},
		{"passed", store.EvaluationFilter{Verdict: judge.Pass}},
		{"failed, all sealed", store.EvaluationFilter{Verdict: judge.Fail}},
		{"reason", store.EvaluationFilter{Reason: judge.ReasonUncitedClaims}},
		{"reason nobody has", store.EvaluationFilter{Reason: judge.ReasonRequested}},
		{"big run", store.EvaluationFilter{Run: "nightly"}},
		{"small run", store.EvaluationFilter{Run: "small-3"}},
		{"trace", store.EvaluationFilter{TraceID: "trace-050000"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				if _, _, err := s.ListEvaluations(ctx, reviewer, c.f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("in full", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := s.EvaluationsFull(ctx, reviewer, store.EvaluationFilter{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("runs", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Runs(ctx, reviewer, "default", 20); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("one big run", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Run(ctx, reviewer, "default", "nightly"); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("one", func(b *testing.B) {
		rows, _, err := s.ListEvaluations(ctx, storetest.Operator, deep)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if _, err := s.GetEvaluation(ctx, storetest.Operator, rows[0].ID); err != nil {
				b.Fatal(err)
			}
		}
	})
}
