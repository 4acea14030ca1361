package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/countersign/countersign/cmd/countersign/demo"
	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

func testMaker(t *testing.T) maker {
	t.Helper()
	said, err := learn()
	if err != nil {
		t.Fatal(err)
	}
	return maker{said: said, seed: 1, traces: 50_000}
}

// The generated texts compress about as well as the real ones they were learnt
// from: in pieces of the size of a trace, and many together, where whatever
// repeats from trace to trace would show.
func TestTextsCompressAsRealOnesDo(t *testing.T) {
	m := testMaker(t)
	var real, made []string
	for _, set := range demo.Sets() {
		if set.Name != "expertqa" {
			continue
		}
		traces, err := readSet(set)
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range traces {
			real = append(real, prose(tr))
		}
	}
	for n := 0; len(strings.Join(made, "")) < len(strings.Join(real, "")); n++ {
		made = append(made, prose(m.trace(n*7)))
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedDefault))
	if err != nil {
		t.Fatal(err)
	}
	ratio := func(texts []string, piece int) float64 {
		all := strings.Join(texts, "\n")
		plain, packed := 0, 0
		for len(all) >= piece {
			plain, packed = plain+piece, packed+len(encoder.EncodeAll([]byte(all[:piece]), nil))
			all = all[piece:]
		}
		return float64(plain) / float64(packed)
	}
	for _, piece := range []int{4_000, 64_000, 256_000} {
		of, want := ratio(made, piece), ratio(real, piece)
		t.Logf("pieces of %d bytes: the generated texts %.2f, the real ones %.2f", piece, of, want)
		if of > want*1.2 {
			t.Errorf("pieces of %d bytes compress by %.2f, real ones by %.2f: the texts repeat themselves", piece, of, want)
		}
	}
}

func prose(t judge.Trace) string {
	parts := []string{t.Question, t.Output, t.Reference}
	for _, s := range t.Sources {
		parts = append(parts, s.Text)
	}
	return strings.Join(parts, "\n")
}

func TestTracesFollowFromTheSeed(t *testing.T) {
	a, b := testMaker(t), testMaker(t)
	b.seed = 2
	encode := func(m maker, n int) string {
		body, err := json.Marshal(m.trace(n))
		if err != nil {
			t.Fatal(err)
		}
		return string(body)
	}
	if encode(a, 7) != encode(testMaker(t), 7) {
		t.Error("the same seed gave another trace")
	}
	if encode(a, 7) == encode(b, 7) || encode(a, 7) == encode(a, 8) {
		t.Error("another seed or number gave the same trace")
	}
}

// A source is cited by the five candidates that answered its question, each in
// a run of its own.
func TestSourcesAreShared(t *testing.T) {
	m := testMaker(t)
	cited := map[int]map[int]bool{}
	for n := range m.traces {
		run, question := m.place(n)
		if cited[question] == nil {
			cited[question] = map[int]bool{}
		}
		cited[question][run] = true
	}
	for question, by := range cited {
		if len(by) != candidates {
			t.Fatalf("question %d is answered in %d runs, want %d", question, len(by), candidates)
		}
	}
	perRun := m.traces / runs
	first, other := m.trace(0), m.trace(perRun)
	if first.Output == other.Output {
		t.Error("two candidates gave the same output")
	}
	if diff := cmp.Diff(first.Sources, other.Sources); diff != "" {
		t.Errorf("sources of two candidates (-first +other):\n%s", diff)
	}
	m.unique = true
	if first.Sources[0].Text == m.trace(perRun).Sources[0].Text {
		t.Error("traces share a source although each has its own")
	}
}

// A small project has all that a large one has, its chain verifies, and a build
// that is run again changes nothing but the rest that was missing.
func TestBuild(t *testing.T) {
	ctx := context.Background()
	address := storetest.Address(t)
	args := []string{"--to", address, "--evaluations", "800"}
	for range 2 {
		if err := run(ctx, args, io.Discard); err != nil {
			t.Fatal(err)
		}
	}
	db, err := store.Open(ctx, store.Options{URL: address})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if v, err := db.VerifyAudit(ctx, operator); err != nil || v.Problem != "" {
		t.Errorf("the audit chain: %+v, %v", v, err)
	}
	evaluations := 0
	var some []string
	if err := db.EachEvaluation(ctx, operator, store.EvaluationFilter{}, func(e judge.Evaluation) error {
		if evaluations++; evaluations%20 == 0 {
			some = append(some, e.ID)
		}
		if e.Attempts != 1 || e.Repairs != 0 || e.Engine != judge.EngineOpenAI {
			t.Errorf("evaluation %s by %s: %d attempts, %d repairs; want one attempt", e.ID, e.Judge, e.Attempts, e.Repairs)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if evaluations != 800 {
		t.Errorf("%d evaluations, want 800", evaluations)
	}
	for _, id := range some {
		v, err := db.GetEvaluation(ctx, operator, id)
		if err != nil {
			t.Fatal(err)
		}
		call := v.Evaluation.Calls[0]
		var reply bytes.Buffer
		if err := json.Compact(&reply, []byte(call.Reply)); err != nil {
			t.Fatal(err)
		}
		if reply.Len() < 700 || reply.Len() > 3000 {
			t.Errorf("evaluation %s by %s: a reply of %d bytes, want 700 to 3,000", id, v.Evaluation.Judge, reply.Len())
		}
		if !strings.Contains(call.Prompt, "Step 1") {
			t.Errorf("evaluation %s by %s: the prompt does not show the trace", id, v.Evaluation.Judge)
		}
	}
	decisions, labels := 0, 0
	if err := db.EachDecision(ctx, operator, store.EvaluationFilter{}, func(store.Decision) error { decisions++; return nil }); err != nil {
		t.Fatal(err)
	}
	if err := db.EachLabel(ctx, operator, store.EvaluationFilter{Judge: builtin.Citations}, func(l store.LabelRow) error {
		if l.Source == "imported" {
			labels++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if decisions != 40 || labels != 800 {
		t.Errorf("%d decisions and %d imported labels, want 40 and 800", decisions, labels)
	}
	counts, err := db.QueueCounts(ctx, operator, "")
	if err != nil {
		t.Fatal(err)
	}
	if counts.Total < 50 || counts.Total > 130 || len(counts.ByReason) < 5 {
		t.Errorf("the queue %+v, want about a tenth of the evaluations for several reasons", counts)
	}
}
