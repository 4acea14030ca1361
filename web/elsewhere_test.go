package web_test

import (
	"context"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestWorkThatWaitsForAnotherServer is told on the overview and on its own run,
// and work for engines that are here is not.
func TestWorkThatWaitsForAnotherServer(t *testing.T) {
	s := newSite(t)
	s.user("ann@example.org", store.Lead)
	var items []store.ImportItem
	for id, p := range map[string]judge.Planned{
		"ward":    {Engine: judge.EngineOpenAI, Model: "m", Endpoint: "ward-7"},
		"default": {Engine: judge.EngineOpenAI, Model: "m"},
		"here":    {Engine: judge.EngineRules, Model: judge.EngineRules},
	} {
		trace := citationTrace(id)
		trace.Run = id
		p.Judge, p.PromptVersion, p.Judgment = "citations", "v", judge.NoJudgment
		items = append(items, store.ImportItem{Trace: trace, Plan: []judge.Planned{p}})
	}
	if _, err := s.store.ImportTraces(context.Background(), store.Operator("test"), "default", items); err != nil {
		t.Fatal(err)
	}
	const ward, byDefault = "1 evaluation waits for a server that has the endpoint ward-7.", "1 evaluation waits for a server that has the default model endpoint."
	p := s.signIn("ann@example.org")
	for path, want := range map[string][2]bool{
		"/": {true, true}, "/runs/ward": {true, false}, "/runs/default": {false, true}, "/runs/here": {false, false},
	} {
		page := p.get(path)
		for i, words := range []string{ward, byDefault} {
			if got := strings.Contains(page.body, words); got != want[i] {
				t.Errorf("%s says %q: %v, want %v", path, words, got, want[i])
			}
		}
	}
}
