package store_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// scaleDatabase is the address of a database that `make bench-data` built. These
// benchmarks read it, and decide some of its items.
const scaleDatabase = "COUNTERSIGN_BENCH_DATABASE"

// scale is the large project with the people who look at it.
type scale struct {
	*store.Store
	auditor, lead, reviewer store.Actor
	reviewers               []store.Actor
}

func openScale(b *testing.B) *scale {
	b.Helper()
	address := os.Getenv(scaleDatabase)
	if address == "" {
		b.Skipf("%s is not set: it names a database that `make bench-data` built", scaleDatabase)
	}
	ctx := context.Background()
	db, err := store.Open(ctx, store.Options{URL: address})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	s := &scale{Store: db}
	users, err := db.Users(ctx, storetest.Operator)
	if err != nil {
		b.Fatal(err)
	}
	for _, u := range users {
		switch u.Role {
		case store.Auditor:
			s.auditor = u.Actor()
		case store.Lead:
			s.lead = u.Actor()
		case store.Reviewer:
			s.reviewers = append(s.reviewers, u.Actor())
		}
	}
	if s.auditor.UserID == "" || s.lead.UserID == "" || len(s.reviewers) < 8 {
		b.Fatalf("%s has not the people that `make bench-data` makes", address)
	}
	s.reviewer = s.reviewers[0]
	return s
}

// patience is how long one question is measured. What takes longer is asked
// less often than -benchtime says.
const patience = 20 * time.Second

// measure reports the median, the 99th percentile and the best of the calls. On
// a busy machine the best says most. before is not measured; nil: nothing.
func measure(b *testing.B, before, call func() error) {
	b.Helper()
	var times []time.Duration
	var spent time.Duration
	for b.Loop() {
		if spent > patience {
			continue
		}
		if before != nil {
			if err := before(); err != nil {
				b.Fatal(err)
			}
		}
		at := time.Now()
		if err := call(); err != nil {
			b.Fatal(err)
		}
		took := time.Since(at)
		times, spent = append(times, took), spent+took
	}
	slices.Sort(times)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(times[len(times)/2]), "median-ms")
	b.ReportMetric(ms(times[len(times)*99/100]), "p99-ms")
	b.ReportMetric(ms(times[0]), "best-ms")
	b.ReportMetric(float64(len(times)), "calls")
	b.ReportMetric(0, "ns/op") // it has what is not measured in it
}

// changed gives the audit chain one more event, so that nothing that was
// counted before it counts any longer.
func (s *scale) changed() error {
	r, err := s.ClaimNext(context.Background(), s.reviewer, "", store.ClaimFilter{})
	if err != nil {
		return err
	}
	return s.ReleaseClaim(context.Background(), s.reviewer, r.ReviewID)
}

func BenchmarkScaleEvaluations(b *testing.B) {
	ctx, s := context.Background(), openScale(b)
	deep := store.EvaluationFilter{Limit: 500}
	for range 100 {
		rows, next, err := s.ListEvaluations(ctx, s.auditor, deep)
		if err != nil {
			b.Fatal(err)
		}
		if next == "" || len(rows) == 0 {
			break
		}
		deep.After = next
	}
	day := time.Now().Add(-24 * time.Hour)
	for _, who := range []struct {
		name  string
		actor store.Actor
	}{{"reviewer", s.reviewer}, {"auditor", s.auditor}} {
		for _, c := range []struct {
			name string
			f    store.EvaluationFilter
		}{
			{"newest", store.EvaluationFilter{}},
			{"deep page", store.EvaluationFilter{After: deep.After}},
			{"since", store.EvaluationFilter{Since: day}},
			{"judge", store.EvaluationFilter{Judge: "citations"}},
			{"no such judge", store.EvaluationFilter{Judge: "none"}},
			{"status in review", store.EvaluationFilter{Status: judge.InReview}},
			{"status final", store.EvaluationFilter{Status: judge.Final}},
			{"status queued, none", store.EvaluationFilter{Status: judge.Queued}},
			{"verdict pass", store.EvaluationFilter{Verdict: judge.Pass}},
			{"verdict borderline", store.EvaluationFilter{Verdict: judge.Borderline}},
			{"verdict fail", store.EvaluationFilter{Verdict: judge.Fail}},
			{"reason ambiguous", store.EvaluationFilter{Reason: judge.ReasonAmbiguousScore}},
			{"reason boundary, rare", store.EvaluationFilter{Reason: judge.ReasonBoundaryAudit}},
			{"reason requested, none", store.EvaluationFilter{Reason: judge.ReasonRequested}},
			{"run", store.EvaluationFilter{Run: "run-20"}},
			{"trace", store.EvaluationFilter{TraceID: "bench-0000100"}},
			{"run and judge", store.EvaluationFilter{Run: "run-20", Judge: "logic"}},
			{"run and verdict", store.EvaluationFilter{Run: "run-20", Verdict: judge.Fail}},
			{"run and reason", store.EvaluationFilter{Run: "run-20", Reason: judge.ReasonCriticalError}},
			{"judge and status", store.EvaluationFilter{Judge: "steps", Status: judge.InReview}},
			{"judge and verdict", store.EvaluationFilter{Judge: "steps", Verdict: judge.Fail}},
			{"judge, status and verdict", store.EvaluationFilter{Judge: "citations", Status: judge.Final, Verdict: judge.Borderline}},
			{"judge and reason of another", store.EvaluationFilter{Judge: "logic", Reason: judge.ReasonMisattribution}},
			{"all but trace", store.EvaluationFilter{Run: "run-20", Judge: "steps", Status: judge.InReview, Verdict: judge.Fail, Reason: judge.ReasonCriticalError}},
		} {
			b.Run(who.name+"/"+c.name, func(b *testing.B) {
				measure(b, nil, func() error { _, _, err := s.ListEvaluations(ctx, who.actor, c.f); return err })
			})
		}
	}
}

func BenchmarkScaleQueue(b *testing.B) {
	ctx, s := context.Background(), openScale(b)
	_, next, err := s.ListQueue(ctx, s.reviewer, store.QueueFilter{Limit: 500})
	if err != nil {
		b.Fatal(err)
	}
	for _, c := range []struct {
		name string
		f    store.QueueFilter
	}{
		{"first page", store.QueueFilter{}},
		{"next page", store.QueueFilter{After: next}},
		{"judge", store.QueueFilter{Judge: "logic"}},
		{"no such judge", store.QueueFilter{Judge: "none"}},
		{"domain", store.QueueFilter{Domain: "medical"}},
		{"stakes", store.QueueFilter{Stakes: "standard"}},
		{"judge and domain", store.QueueFilter{Judge: "citations", Domain: "legal"}},
		{"reason, sealed", store.QueueFilter{Reason: judge.ReasonRandomAudit}},
		{"run", store.QueueFilter{Run: "run-20"}},
		{"free", store.QueueFilter{State: store.QueueFree}},
		{"mine", store.QueueFilter{State: store.QueueMine}},
		{"adjudication", store.QueueFilter{State: store.QueueAdjudication}},
	} {
		b.Run(c.name, func(b *testing.B) {
			measure(b, nil, func() error { _, _, err := s.ListQueue(ctx, s.reviewer, c.f); return err })
		})
	}
	b.Run("counts", func(b *testing.B) {
		measure(b, nil, func() error { _, err := s.QueueCounts(ctx, s.reviewer, ""); return err })
	})
	b.Run("overview", func(b *testing.B) {
		measure(b, nil, func() error { _, err := s.Overview(ctx, s.reviewer, ""); return err })
	})
	b.Run("overview after a change", func(b *testing.B) {
		measure(b, s.changed, func() error { _, err := s.Overview(ctx, s.reviewer, ""); return err })
	})
}

func BenchmarkScaleClaimNext(b *testing.B) {
	ctx, s := context.Background(), openScale(b)
	for _, c := range []struct {
		name string
		f    store.ClaimFilter
	}{
		{"any", store.ClaimFilter{}},
		{"judge", store.ClaimFilter{Judge: "logic"}},
		{"judge and domain", store.ClaimFilter{Judge: "citations", Domain: "medical"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			held := ""
			release := func() error {
				if held == "" {
					return nil
				}
				return s.ReleaseClaim(ctx, s.reviewer, held)
			}
			measure(b, release, func() error {
				r, err := s.ClaimNext(ctx, s.reviewer, "", c.f)
				held = r.ReviewID
				return err
			})
			if err := release(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func BenchmarkScaleCounts(b *testing.B) {
	ctx, s := context.Background(), openScale(b)
	calibration := func(a store.Actor) func() error {
		return func() error { _, err := s.CalibrationCounts(ctx, a, "", "citations"); return err }
	}
	runs := func() error { _, err := s.Runs(ctx, s.auditor, store.DefaultProject, 50); return err }
	run := func() error { _, err := s.Run(ctx, s.auditor, store.DefaultProject, "run-20"); return err }
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"calibration, auditor", calibration(s.auditor)},
		{"calibration, lead", calibration(s.lead)},
		{"runs", runs},
		{"one run", run},
	} {
		b.Run(c.name, func(b *testing.B) { measure(b, nil, c.call) })
		b.Run(c.name+" after a change", func(b *testing.B) { measure(b, s.changed, c.call) })
	}
}

// Goal: 500 decisions a second on SQLite. A decision is what a person signs, on
// an item that they hold and, where it is blind, have answered.
func BenchmarkScaleDecide(b *testing.B) {
	s := openScale(b)
	decided, spent := 0, time.Duration(0)
	for decided < b.N {
		// As many as their people may hold, and not measured.
		held := make(chan func() error, min(b.N-decided, len(s.reviewers)*store.MaxLiveClaims/2))
		for n := range cap(held) {
			held <- s.heldItem(b, s.reviewers[n%len(s.reviewers)])
		}
		spent += atOnce(b, cap(held), s.reviewers[:16], func(store.Actor) error { return (<-held)() })
		decided += cap(held)
	}
	b.ReportMetric(float64(decided)/spent.Seconds(), "decisions/s")
	b.ReportMetric(0, "ns/op") // it has what is not measured in it
}

// heldItem claims an item and answers it where it is blind; what it gives
// decides it.
func (s *scale) heldItem(b *testing.B, who store.Actor) (decide func() error) {
	ctx := context.Background()
	r, err := s.ClaimNext(ctx, who, "", store.ClaimFilter{})
	if err == nil {
		r, err = answeredBlind(ctx, s, who, r)
	}
	if err != nil {
		b.Fatal(err)
	}
	return func() error { return decideAsJudged(ctx, s, who, r) }
}

// BenchmarkScaleReview is all of it: claim an item, read it, answer where it is
// blind, read the verdict, decide.
func BenchmarkScaleReview(b *testing.B) {
	ctx, s := context.Background(), openScale(b)
	b.ResetTimer()
	spent := atOnce(b, b.N, s.reviewers[:8], func(who store.Actor) error {
		r, err := s.ClaimNext(ctx, who, "", store.ClaimFilter{})
		if err != nil {
			return err
		}
		if r, err = answeredBlind(ctx, s, who, r); err != nil {
			return err
		}
		return decideAsJudged(ctx, s, who, r)
	})
	b.ReportMetric(float64(b.N)/spent.Seconds(), "items/s")
}

// atOnce calls n times, shared by people who all work at the same time.
func atOnce(b *testing.B, n int, people []store.Actor, call func(store.Actor) error) time.Duration {
	b.Helper()
	var left atomic.Int64
	left.Store(int64(n))
	faults := make([]error, len(people))
	var wait sync.WaitGroup
	began := time.Now()
	for i, who := range people {
		wait.Go(func() {
			for left.Add(-1) >= 0 && faults[i] == nil {
				faults[i] = call(who)
			}
		})
	}
	wait.Wait()
	spent := time.Since(began)
	if err := errors.Join(faults...); err != nil {
		b.Fatal(err)
	}
	return spent
}

// decideAsJudged takes the judge's answer.
func decideAsJudged(ctx context.Context, s *scale, who store.Actor, r store.Review) error {
	in := store.DecisionInput{Action: store.Confirm}
	if r.First != nil {
		in.Action = store.Adopt
	}
	_, err := s.Decide(ctx, who, r.ReviewID, in)
	return err
}

// answeredBlind answers as the first label has it, where the verdict is sealed.
func answeredBlind(ctx context.Context, s *scale, who store.Actor, r store.Review) (store.Review, error) {
	if !r.Sealed {
		return r, nil
	}
	own := r.Labels[0]
	return s.CommitFirstAnswer(ctx, who, r.ReviewID, store.Answer{Verdict: own.Verdict, Label: own.Name})
}
