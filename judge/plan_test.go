package judge_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
)

func needs(name string, fields ...string) judge.Judge {
	j := judge.Judge{Name: name, PromptVersion: name + "-v1"}
	for _, f := range fields {
		j.Inputs = append(j.Inputs, judge.Input{Field: f, Required: true})
	}
	return j
}

// planning has three judges: tone by default, match by default where there is a
// reference, and spare for who asks.
func planning(targets ...judge.Target) judge.Planning {
	cites := needs("cites", "output")
	cites.Refuse = func(t *judge.Trace) (string, string) {
		if !strings.Contains(t.Output, "[") {
			return "output", "output has no citation marker"
		}
		return "", ""
	}
	return judge.Planning{
		Judges:  []judge.Judge{needs("tone", "output"), needs("match", "output", "reference"), cites, needs("spare", "output")},
		Default: []string{"tone", "match", "cites"}, Targets: targets,
		Where: func(key string) judge.Endpoint {
			if _, name, ok := strings.Cut(key, "/"); ok {
				return judge.Endpoint{Name: name, Host: name + ".example"}
			}
			return judge.Endpoint{Name: "main", Host: "main.example"}
		},
	}
}

// planText writes evaluations as lines: judge engine model endpoint samples refused.
func planText(planned []judge.Planned) (lines []string) {
	for _, p := range planned {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s %s %s %d %s", p.Judge, p.EngineKey(), p.Model, p.PromptVersion, p.Samples, p.RefusedField)))
	}
	return lines
}

func TestPlanTargets(t *testing.T) {
	gpt, qwen := judge.Target{Engine: "openai", Model: "gpt"}, judge.Target{Engine: "openai", Model: "qwen", Endpoint: "ward", Samples: 3}
	tests := []struct {
		name    string
		targets []judge.Target
		policy  string
		change  func(*judge.Planning, *judge.Trace)
		want    []string
	}{
		{"two models", []judge.Target{gpt, qwen, gpt}, "", nil, []string{"tone openai gpt tone-v1 0", "tone openai/ward qwen tone-v1 3"}},
		{"one sample is none", []judge.Target{{Engine: "openai", Model: "gpt", Samples: 1}, gpt}, "", nil, []string{"tone openai gpt tone-v1 0"}},
		{"rules and recorded take no samples", []judge.Target{{Engine: "rules", Model: "x", Samples: 4}}, "samples: 5", nil, []string{"tone rules rules tone-v1 0"}},
		{"the policy's samples", []judge.Target{gpt, qwen}, "samples: 5", nil, []string{"tone openai gpt tone-v1 5", "tone openai/ward qwen tone-v1 3"}},
		{"the policy's models", []judge.Target{gpt}, "models: [a, {model: b, endpoint: ward}]", nil, []string{"tone openai a tone-v1 0", "tone openai/ward b tone-v1 0"}},
		{"the policy's models of a judge", []judge.Target{gpt}, "models: [a]\nrules: [{judge: tone, models: [c], samples: 2}]", nil, []string{"tone openai c tone-v1 2"}},
		{"models asked for by name", []judge.Target{gpt}, "models: [a]", func(w *judge.Planning, _ *judge.Trace) { w.ModelsByName = true }, []string{"tone openai gpt tone-v1 0"}},
		{"rules are no model of the policy", []judge.Target{{Engine: "rules"}}, "models: [a]", nil, []string{"tone rules rules tone-v1 0"}},
		{"an endpoint that the policy does not name", []judge.Target{gpt, qwen}, "endpoints: [ward]", nil, []string{"tone openai gpt tone-v1 0 endpoint", "tone openai/ward qwen tone-v1 3"}},
		{"an endpoint by its host", []judge.Target{gpt}, "endpoints: [main.example]", nil, []string{"tone openai gpt tone-v1 0"}},
		{"no endpoint at all", []judge.Target{gpt, {Engine: "rules"}}, "endpoints: []", nil, []string{"tone openai gpt tone-v1 0 endpoint", "tone rules rules tone-v1 0"}},
		{"endpoints of a domain", []judge.Target{gpt}, "rules: [{domain: medical, endpoints: [ward]}]", func(_ *judge.Planning, t *judge.Trace) { t.Domain = "medical" }, []string{"tone openai gpt tone-v1 0 endpoint"}},
		{"endpoints of another domain", []judge.Target{gpt}, "rules: [{domain: medical, endpoints: [ward]}]", func(_ *judge.Planning, t *judge.Trace) { t.Domain = "tax" }, []string{"tone openai gpt tone-v1 0"}},
		{"what lacks an input is refused for that", []judge.Target{gpt}, "endpoints: []", func(_ *judge.Planning, t *judge.Trace) { t.Judges = []string{"match"} }, []string{"match openai gpt match-v1 0 reference"}},
		{"recorded, and a model asked for", []judge.Target{gpt, qwen}, "", func(w *judge.Planning, t *judge.Trace) {
			w.ByName = true
			t.Judgments = []judge.Judgment{{Judge: "tone", Model: "old"}}
		}, []string{"tone recorded old unknown 0", "tone openai gpt tone-v1 0", "tone openai/ward qwen tone-v1 3"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, trace := planning(tt.targets...), judge.Trace{ID: "t", Output: "o", Judges: []string{"tone"}}
			p := parsePolicy(t, tt.policy+"\nlease_minutes: 5\n")
			w.Policy = &p
			if tt.change != nil {
				tt.change(&w, &trace)
			}
			planned, err := w.Plan(&trace)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, planText(planned)); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			for _, p := range planned {
				if p.Refused() != (p.Message != "") {
					t.Errorf("%s: refused for %q with the message %q", p.Judge, p.RefusedField, p.Message)
				}
			}
		})
	}
}

// Every judge is told of, with a sentence where there is nothing to be made, and
// what is planned is the plan.
func TestExplain(t *testing.T) {
	rules := judge.Target{Engine: "rules"}
	tests := []struct {
		name   string
		trace  judge.Trace
		change func(*judge.Planning)
		want   []string // judge state field
	}{
		{"defaults", judge.Trace{Output: "o [1]"}, nil,
			[]string{"tone planned", "match lacks reference", "cites planned", "spare not_asked"}},
		{"nothing to cite", judge.Trace{Output: "o", Reference: "r"}, nil,
			[]string{"tone planned", "match planned", "cites refused output", "spare not_asked"}},
		{"asked for", judge.Trace{Output: "o", Judges: []string{"spare", "match", "spare"}}, nil,
			[]string{"spare planned", "match refused reference", "tone not_asked", "cites not_asked"}},
		{"a report came", judge.Trace{Output: "o", Judges: []string{"tone"}, Judgments: []judge.Judgment{{Judge: "tone"}}}, nil,
			[]string{"tone planned", "tone recorded judgments", "match not_asked", "cites not_asked", "spare not_asked"}},
		{"a report of a default that lacks input", judge.Trace{Output: "o", Judgments: []judge.Judgment{{Judge: "match"}}}, nil,
			[]string{"match planned", "tone planned", "cites refused output", "spare not_asked"}},
		{"a report of another one", judge.Trace{Output: "o", Judgments: []judge.Judgment{{Judge: "match"}}}, func(w *judge.Planning) { w.Only = []string{"tone"} },
			[]string{"tone planned", "match not_asked", "cites not_asked", "spare not_asked"}},
		{"recorded engine without a report", judge.Trace{Output: "o", Judges: []string{"tone"}}, func(w *judge.Planning) { w.Targets = []judge.Target{{Engine: "recorded"}} },
			[]string{"tone refused judgments", "match not_asked", "cites not_asked", "spare not_asked"}},
		{"unknown", judge.Trace{Output: "o", Judges: []string{"tone", "nobody", "nobody"}, Judgments: []judge.Judgment{{Judge: "nobody"}}}, nil,
			[]string{"nobody unknown", "tone planned", "match not_asked", "cites not_asked", "spare not_asked"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := planning(rules)
			if tt.change != nil {
				tt.change(&w)
			}
			list, err := w.Explain(&tt.trace)
			var unknown *judge.UnknownJudgeError
			if asks := strings.Contains(fmt.Sprint(tt.want), "unknown"); errors.As(err, &unknown) != asks {
				t.Errorf("error: %v", err)
			}
			var got []string
			var planned []judge.Planned
			for _, why := range list {
				got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", why.Judge, why.State, why.Field)))
				if why.Planned != nil {
					planned = append(planned, *why.Planned)
				}
				if (why.State == judge.WhyPlanned) != (why.Message == "") {
					t.Errorf("%s is %s with the message %q", why.Judge, why.State, why.Message)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("explanation (-want +got):\n%s", diff)
			}
			plan, _ := w.Plan(&tt.trace)
			if diff := cmp.Diff(planned, plan); diff != "" {
				t.Errorf("plan (-explained +planned):\n%s", diff)
			}
		})
	}
}

// Ids of evaluations that were made before there were endpoints and samples stay.
func TestEvaluationIDStays(t *testing.T) {
	trace := judge.Trace{ID: "t-1", Output: "o"}
	hashes := judge.Hashes{Trace: "abc"}
	p := judge.Planned{Judge: "logic", PromptVersion: "v", Engine: "openai", Model: "m", Judgment: judge.NoJudgment}
	const before = "2203fcc3-6166-8020-ba1d-d4d19da2d30d"
	if got := judge.EvaluationID(&trace, hashes, p); got != before {
		t.Errorf("id: got %s, want %s", got, before)
	}
	seen := map[string]bool{before: true}
	for _, change := range []func(*judge.Planned){
		func(p *judge.Planned) { p.Endpoint = "ward" }, func(p *judge.Planned) { p.Samples = 3 }, func(p *judge.Planned) { p.Endpoint, p.Samples = "ward", 3 },
	} {
		other := p
		change(&other)
		id := judge.EvaluationID(&trace, hashes, other)
		if seen[id] {
			t.Errorf("%+v has the id of another", other)
		}
		seen[id] = true
	}
}
