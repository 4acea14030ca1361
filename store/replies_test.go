package store_test

import (
	"context"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// TestRepliesAreKeptUntilStored: a reply is there for the next server as long
// as its evaluation is not stored, byte for byte, and gone afterwards.
func TestRepliesAreKeptUntilStored(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	want := judge.KeptReply{Retries: 2, Reply: judge.Reply{Text: "{\"a\": \"<b>\"}", Model: "m", Tokens: judge.Tokens{Prompt: 3}, StartedAt: time.Date(2026, 5, 1, 9, 0, 0, 0, time.UTC)}}
	if err := s.KeepReply(ctx, "e", "first", want); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepReply(ctx, "e", "first", judge.KeptReply{Reply: judge.Reply{Text: "another"}}); err != nil {
		t.Fatal(err)
	}
	got, ok, err := s.KeptReply(ctx, "e", "first")
	if err != nil || !ok || got.Reply.Text != want.Reply.Text || got.Retries != 2 || got.Reply.Tokens != want.Reply.Tokens {
		t.Errorf("kept %+v, %v, %v", got, ok, err)
	}
	for _, other := range [][2]string{{"e", "second"}, {"f", "first"}} {
		if _, ok, err := s.KeptReply(ctx, other[0], other[1]); ok || err != nil {
			t.Errorf("%v: found %v, %v", other, ok, err)
		}
	}
}

// TestStoredEvaluationDropsItsReplies: the attempts have them now.
func TestStoredEvaluationDropsItsReplies(t *testing.T) {
	ctx := context.Background()
	s := storetest.Open(t, nil)
	plan := judge.Planned{Judge: "citations", PromptVersion: "v", Engine: judge.EngineOpenAI, Model: "m", Judgment: judge.NoJudgment}
	if _, err := s.ImportTraces(ctx, storetest.Operator, "default", []store.ImportItem{{Trace: storetest.Trace(0), Plan: []judge.Planned{plan}}}); err != nil {
		t.Fatal(err)
	}
	work, err := s.ClaimWork(ctx, judge.Claim{Worker: "w", N: 1, Lease: time.Minute})
	if err != nil || len(work) != 1 {
		t.Fatalf("claimed %d: %v", len(work), err)
	}
	if err := s.KeepReply(ctx, "key", "call", judge.KeptReply{Reply: judge.Reply{Text: "x"}}); err != nil {
		t.Fatal(err)
	}
	score := 1.0
	done := judge.Finished{Work: work[0], Key: "key", Evaluation: judge.Evaluation{
		ID: work[0].EvaluationID, Engine: judge.EngineOpenAI, Model: "m", Status: judge.Accepted, Score: &score, Verdict: judge.Pass,
		Result: &judge.Result{Verdict: judge.Pass, Source: judge.ByJudge},
		Calls:  []judge.Attempt{{Number: 1, Engine: judge.EngineOpenAI, Reply: "x"}},
	}}
	if err := s.FinishWork(ctx, []judge.Finished{done}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.KeptReply(ctx, "key", "call"); ok || err != nil {
		t.Errorf("after it was stored the reply is kept: %v, %v", ok, err)
	}
}
