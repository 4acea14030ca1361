package rules_test

import (
	"context"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/rules"
)

// The shipped traces of ExpertQA cite 58 times a source that is not there; each
// is found, and nothing else is called missing.
func TestEveryMissingSourceIsFound(t *testing.T) {
	found, traces := 0, 0
	for _, trace := range embedded(t, "expertqa") {
		there := map[string]bool{}
		for _, s := range trace.Sources {
			there[s.ID] = true
		}
		r, _ := rules.Engine{}.Citations(&trace, judge.DefaultBand)
		flagged := map[string]bool{}
		for _, f := range r.Flags {
			flagged[f.ID+" "+f.Type] = true
		}
		before := found
		for _, c := range r.Evaluations {
			if c.Exists != there[c.ID] {
				t.Errorf("%s: citation %q: exists is %v, want %v", trace.ID, c.ID, c.Exists, there[c.ID])
			}
			if c.Exists {
				continue
			}
			found++
			if !flagged[c.ID+" citation_not_found"] || !c.Flagged {
				t.Errorf("%s: citation %q has no source and no flag", trace.ID, c.ID)
			}
		}
		if found > before {
			traces++
		}
	}
	if found != 58 || traces != 27 {
		t.Errorf("%d markers without a source in %d traces, want 58 in 27", found, traces)
	}
}

// What is decided as a pass is right nearly always, on every set that the
// program ships; the thresholds of what is decided at all keep the test from
// passing by deciding nothing.
func TestDecidedPassesAreRight(t *testing.T) {
	tests := []struct {
		set, judge string
		passes     int // at least
	}{
		{"openqa_eval", "reference", 200},
		{"expertqa", "citations", 0},
		{"legalbench_cuad", "citations", 0},
		{"sara_statutory", "citations", 0},
	}
	for _, tt := range tests {
		o := decide(t, named(t, tt.judge), embedded(t, tt.set))
		if o.pass.all < tt.passes {
			t.Errorf("%s: %d passes, want %d at least", tt.set, o.pass.all, tt.passes)
		}
		if o.pass.all > 0 && o.pass.share() < leastRight {
			t.Errorf("%s: passes right in %v, want %v%%", tt.set, o.pass, 100*leastRight)
		}
		if o.people+o.decided < o.traces {
			t.Errorf("%s: of %d traces %d are decided and %d go to people", tt.set, o.traces, o.decided, o.people)
		}
	}
}

// refusingModel is an engine that must not be asked.
type refusingModel struct{ t *testing.T }

func (refusingModel) Name() string { return judge.EngineOpenAI }

func (m refusingModel) Reply(context.Context, judge.Conversation, judge.Params) (judge.Reply, error) {
	m.t.Error("a model is asked about identical texts")
	return judge.Reply{}, context.Canceled
}

func TestIdenticalAnswersNeedNoModel(t *testing.T) {
	j := named(t, "reference")
	h, err := harness.New(harness.Config{
		Judges: []judge.Judge{*j}, Engines: map[string]judge.Engine{judge.EngineOpenAI: refusingModel{t}}, Engine: judge.EngineOpenAI, Model: "m",
	})
	if err != nil {
		t.Fatal(err)
	}
	identical := 0
	for _, trace := range embedded(t, "openqa_eval") {
		if strings.TrimSpace(trace.Output) != strings.TrimSpace(trace.Reference) {
			continue
		}
		identical++
		e, _, err := h.EvaluateWith(context.Background(), j, &trace, judge.Planned{Judge: j.Name, Engine: judge.EngineOpenAI, Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		if e.Verdict != judge.Pass || e.Engine != judge.EngineRules {
			t.Errorf("%s: verdict %s by engine %s, want pass by rules", trace.ID, e.Verdict, e.Engine)
		}
	}
	if identical != 49 {
		t.Errorf("%d identical answers, want 49: the set is another", identical)
	}
}
