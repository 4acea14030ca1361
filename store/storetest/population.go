package storetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// Judged is what a judge and people say of one trace of a Population.
type Judged struct {
	Score   float64
	Verdict judge.Verdict
	Label   string // of the judge; may be empty
	Cluster string
	Run     string
	// Draw sends the evaluation to people; nil: it is accepted.
	Draw *judge.Draw
	// People are labels that come with the trace.
	People []judge.HumanLabel
}

// Population imports n small traces, named after the prefix, and judges each as of
// says, all planned alike.
func Population(t testing.TB, s *store.Store, p judge.Planned, prefix string, n int, of func(i int) Judged) {
	t.Helper()
	ctx := context.Background()
	items, said := make([]store.ImportItem, n), map[string]Judged{}
	for i := range items {
		id, j := fmt.Sprintf("%s-%06d", prefix, i), of(i)
		said[id] = j
		items[i] = store.ImportItem{Trace: judge.Trace{ID: id, Domain: "general", Stakes: judge.StandardStakes, Cluster: j.Cluster, Run: j.Run,
			Output: "Step 1: so it is " + id + ".", Labels: j.People}, Plan: []judge.Planned{p}}
	}
	if _, err := s.ImportTraces(ctx, Operator, store.DefaultProject, items); err != nil {
		t.Fatal(err)
	}
	for left := n; left > 0; {
		work, err := s.ClaimWork(ctx, judge.Claim{Worker: "population", N: 500, Lease: time.Minute})
		if err != nil || len(work) == 0 {
			t.Fatalf("%d evaluations left, none claimed: %v", left, err)
		}
		var done []judge.Finished
		for _, w := range work {
			done = append(done, said[w.Trace.ID].finished(w))
		}
		if err := s.FinishWork(ctx, done); err != nil {
			t.Fatal(err)
		}
		left -= len(work)
	}
}

func (j Judged) finished(w judge.Work) judge.Finished {
	f := judge.Finished{Work: w, Draw: j.Draw, Evaluation: judge.Evaluation{
		ID: w.EvaluationID, TraceID: w.Trace.ID, Judge: w.Planned.Judge, PromptVersion: w.Planned.PromptVersion, Engine: w.Planned.Engine, Model: w.Planned.Model,
		Status: judge.Accepted, Score: &j.Score, Verdict: j.Verdict, Label: j.Label, Hashes: judge.TraceHashes(w.Trace), PolicyVersion: 1,
	}}
	if j.Draw == nil {
		f.Evaluation.Result = &judge.Result{Verdict: j.Verdict, Label: j.Label, Source: judge.ByJudge}
		return f
	}
	code := judge.ReasonBelowThreshold
	if j.Draw.Stratum != judge.StratumFlagged {
		code = j.Draw.Stratum
	}
	f.Evaluation.Status, f.Evaluation.Reasons = judge.InReview, []judge.Reason{{Code: code, Detail: "as the population says"}}
	return f
}
