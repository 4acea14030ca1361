package builtin_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

// workedExamples reads the examples of a prompt: texts under their names, and the
// report of each.
func workedExamples(t testing.TB, judgeName string) (traces []judge.Trace, reports []string) {
	t.Helper()
	data, err := os.ReadFile(judgeName + "/examples.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(data), "\nReport:\n")[1:] {
		end := len(part)
		if i := strings.Index(part, "}\n\n"); i >= 0 {
			end = i + 1
		}
		reports = append(reports, part[:end])
	}
	var tr judge.Trace
	under := ""
	for line := range strings.Lines(string(data)) {
		name, rest, ok := strings.Cut(line, ":")
		if ok && slices.Contains([]string{"Question", "Premises", "Reference", "Candidate", "Trace", "Report"}, name) {
			under, line = name, rest
			if name == "Report" {
				traces = append(traces, tr)
				tr = judge.Trace{}
			}
		}
		switch under {
		case "Question":
			tr.Question += line
		case "Reference":
			tr.Reference += line
		case "Candidate", "Trace":
			tr.Output += line
		}
	}
	return traces, reports
}

// The reports that the prompts show as examples fit their schema and pass every
// check, soft ones too: a model learns from them.
func TestWorkedExamples(t *testing.T) {
	verdicts := map[string][]string{ // labels that the examples are read as
		builtin.Steps: {"invalid"}, builtin.StepsComparison: {"invalid"}, builtin.Logic: {"3", "5"}, builtin.LogicSteps: {"3", "5"},
	}
	for name, want := range verdicts {
		t.Run(name, func(t *testing.T) {
			j := named(t, name)
			schema, err := judge.CompileSchema(j.Schema)
			if err != nil {
				t.Fatal(err)
			}
			traces, reports := workedExamples(t, name)
			if len(traces) != len(want) || len(reports) != len(want) {
				t.Fatalf("got %d traces and %d reports, want %d", len(traces), len(reports), len(want))
			}
			for i, report := range reports {
				value, err := jsonschema.UnmarshalJSON(strings.NewReader(report))
				if err != nil {
					t.Fatalf("example %d: %v", i+1, err)
				}
				if err := schema.Validate(value); err != nil {
					t.Errorf("example %d: %v", i+1, err)
				}
				checks, read := j.Examine(json.RawMessage(report), &traces[i])
				for _, c := range checks {
					if !c.OK {
						t.Errorf("example %d: check %s: %s", i+1, c.Name, c.Detail)
					}
				}
				reading, err := read()
				if err != nil || reading.Label != want[i] {
					t.Errorf("example %d: label %q, %v; want %q", i+1, reading.Label, err, want[i])
				}
				for _, f := range reading.Findings {
					if f.Step == 0 {
						t.Errorf("example %d: the finding %q points at no step of the trace", i+1, f.Class)
					}
				}
			}
		})
	}
}

// In every schema what explains stands before what it explains: models write the
// properties in this order.
func TestExplanationFirst(t *testing.T) {
	orders := map[string][]string{
		builtin.Steps:           {"explanation", "alignment_judgment", "explanation", "classification", "critical_errors", "summary", "reasoning_score"},
		builtin.StepsComparison: {"explanation", "match_type", "critical_errors", "overall_alignment_score"},
		builtin.Reference:       {"rationale", "key_differences", "equivalence_class", "similarity_score", "partial_credit"},
		builtin.Logic:           {"violations", "explanation", "fallacy_type", "severity", "score", "overall_assessment", "overall_validity_score"},
		builtin.LogicSteps:      {"description", "rule_violated", "severity", "rationale", "score", "validity_score"},
		builtin.Citations:       {"explanation", "citation_exists", "claim_support_strength", "flagged", "detail", "flag_type", "severity", "overall_citation_accuracy_score"},
	}
	for name, order := range orders {
		rest := string(named(t, name).Schema)
		for _, property := range order {
			_, after, ok := strings.Cut(rest, `"`+property+`":{`)
			if !ok {
				t.Errorf("judge %s: %s does not stand after what comes before it", name, property)
				break
			}
			rest = after
		}
	}
}
