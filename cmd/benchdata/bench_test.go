package main

import (
	"context"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

// What the generator itself costs: it must not hide what the store costs.
func BenchmarkTrace(b *testing.B) {
	said, err := learn()
	if err != nil {
		b.Fatal(err)
	}
	m := maker{said: said, seed: 1, traces: 250_000}
	for n := 0; b.Loop(); n++ {
		m.trace(n)
	}
}

// The harness with its prompt, checks and routing round a report made up.
func BenchmarkEvaluate(b *testing.B) {
	said, err := learn()
	if err != nil {
		b.Fatal(err)
	}
	m := maker{said: said, seed: 1, traces: 250_000}
	h, err := newHarness(m, builtin.Judges(), judge.DefaultPolicy())
	if err != nil {
		b.Fatal(err)
	}
	builder := build{make: m, harness: h}
	t := m.trace(1)
	for _, name := range builtin.Default() {
		j, _ := h.Judge(name)
		w := judge.Work{Trace: t, Planned: judge.Planned{Judge: name, PromptVersion: j.PromptVersion, Engine: judge.EngineOpenAI, Model: modelName, Judgment: judge.NoJudgment}}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := builder.evaluate(context.Background(), w); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
