package builtin_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

// Traces and reports of a megabyte, of kinds that were once read again for each
// evaluation or flag. Every case is told by what the checks and the reading find
// in it; where a check took quadratic time these did not end.
func TestCitationsOfAMegabyte(t *testing.T) {
	const n = 20_000
	tests := []struct {
		name    string
		part    func(i int) string // of the output
		id      func(i int) string
		step    func(i int) int // that the evaluation names
		flag    func(i int) string
		quote   bool
		sources int
		want    map[string]string
		found   int // findings
	}{
		{name: "one source, a step each", part: func(int) string { return "So it is shown there, in the words of the source itself [1].\n" }, id: func(int) string { return "1" },
			step: func(i int) int { return i + 1 }, quote: true, sources: 1, want: map[string]string{}},
		{name: "steps counted otherwise", part: func(int) string { return "So it is shown there, in the words of the source itself [1].\n" }, id: func(int) string { return "1" },
			step: func(i int) int { return n + i + 2 }, quote: true, sources: 1, want: map[string]string{}},
		{name: "all in one step, flagged by flags without a step", part: func(int) string { return "so it is shown in the words of the source itself [1] " }, id: func(int) string { return "1" },
			step: func(int) int { return 1 }, flag: func(int) string { return "" }, quote: true, sources: 1, want: map[string]string{}, found: n},
		{name: "all flagged in a step of their own", part: func(int) string { return "So it is shown there, in the words of the source itself [1].\n" }, id: func(int) string { return "1" },
			step: func(i int) int { return i + 1 }, flag: func(i int) string { return fmt.Sprintf(`"reasoning_step_index": %d, `, i+1) }, quote: true, sources: 1, want: map[string]string{}, found: n},
		{name: "flags of other steps", part: func(int) string { return "So it is shown there, in the words of the source itself [1].\n" }, id: func(int) string { return "1" },
			step: func(i int) int { return i + 1 }, flag: func(i int) string { return fmt.Sprintf(`"reasoning_step_index": %d, `, n+i+1) }, quote: true, sources: 1,
			want: map[string]string{"flag.matches": "and 19980 more"}, found: n},
		{name: "side by side, a source each, with a quotation", part: func(i int) string {
			if i == 0 {
				return `It says "nothing of that kind was ever said by anybody" [s0]`
			}
			return fmt.Sprintf("[s%d]", i)
		}, id: func(i int) string { return fmt.Sprintf("s%d", i) }, step: func(int) int { return 1 }, quote: true, sources: n,
			want: map[string]string{"quote.agrees": "does not occur"}},
		{name: "a number each", part: func(i int) string {
			return fmt.Sprintf("There were %d of them, as far as anybody knows [1].\n", i+1_000_000)
		}, id: func(int) string { return "1" },
			step: func(i int) int { return i + 1 }, quote: true, sources: 1, want: map[string]string{"numbers.agree": `"1000000" is nowhere`}},
	}
	j := named(t, builtin.Citations)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			trace := judge.Trace{}
			for i := range tt.sources {
				id := "1"
				if tt.sources > 1 {
					id = tt.id(i)
				}
				trace.Sources = append(trace.Sources, judge.Source{ID: id, Text: "It is shown that so it is there."})
			}
			var output, evaluations, flags strings.Builder
			for i := range n {
				output.WriteString(tt.part(i))
				comma := ","
				if i == 0 {
					comma = ""
				}
				fmt.Fprintf(&evaluations, `%s{"citation_id": %q, "reasoning_step_index": %d, "reasoning_step_text": "t", "citation_exists": true, "quote_accurate": %v,
					"context_fidelity": "accurate", "claim_support_strength": "fully_supported", "explanation": "", "flagged": %v}`, comma, tt.id(i), tt.step(i), tt.quote, tt.flag != nil)
				if tt.flag != nil {
					fmt.Fprintf(&flags, `%s{"citation_id": %q, %s"flag_type": "unsupported", "severity": "minor", "detail": "d"}`, comma, tt.id(i), tt.flag(i))
				}
			}
			trace.Output = output.String()
			score := "1"
			if tt.flag != nil {
				score = "0"
			}
			report := json.RawMessage(`{"overall_citation_accuracy_score": ` + score + fmt.Sprintf(`, "total_citations_evaluated": %d, "summary": "", "citation_evaluations": [`, n) +
				evaluations.String() + `], "misattribution_flags": [` + flags.String() + `]}`)
			checks, read := j.Examine(report, &trace)
			for _, c := range checks {
				switch part, bad := tt.want[c.Name]; {
				case c.OK == bad:
					t.Errorf("check %s: OK is %v: %s", c.Name, c.OK, c.Detail)
				case bad && !strings.Contains(c.Detail, part):
					t.Errorf("check %s: got %q, want it to say %q", c.Name, c.Detail, part)
				}
			}
			reading, err := read()
			if err != nil {
				t.Fatal(err)
			}
			if len(reading.Findings) != tt.found {
				t.Errorf("findings: got %d, want %d", len(reading.Findings), tt.found)
			}
		})
	}
}

// The other judges on a megabyte: what they find is told, and nothing in them is
// read again for each violation, comparison or alternative.
func TestReportsOfAMegabyte(t *testing.T) {
	const n = 20_000
	list := func(part func(i int) string) string {
		parts := make([]string, n)
		for i := range parts {
			parts[i] = part(i)
		}
		return strings.Join(parts, ",")
	}
	lines := func(part func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(part(i) + "\n")
		}
		return b.String()
	}
	line := func(i int) string { return fmt.Sprintf("Thus number %d follows from what stands above.", i+1) }
	dimensions := `{"dimension": "premise_support", "score": 1, "rationale": ""}, {"dimension": "inference_rule_adherence", "score": 1, "rationale": ""},
		{"dimension": "formal_fallacy_detection", "score": 1, "rationale": ""}, {"dimension": "conclusion_alignment", "score": 1, "rationale": ""}`
	tests := []struct {
		name, judge string
		trace       judge.Trace
		report      string
		want        map[string]string
		findings    int
		lastStep    int
	}{
		{"violations that cite a step each", builtin.LogicSteps, judge.Trace{Output: lines(line)}, `{"validity_score": 1, "dimension_scores": [` + dimensions + `], "violations": [` +
			list(func(i int) string {
				return fmt.Sprintf(`{"step_index": %d, "rule_violated": "r", "description": "d", "severity": "minor", "step_citation": %q}`, i+1, line(i))
			}) + `]}`, map[string]string{}, n, n},
		{"violations that cite what is not there", builtin.LogicSteps, judge.Trace{Output: lines(line)}, `{"validity_score": 1, "dimension_scores": [` + dimensions + `], "violations": [` +
			list(func(i int) string {
				return fmt.Sprintf(`{"step_index": %d, "rule_violated": "r", "description": "d", "severity": "minor", "step_citation": "penguin %d cannot fly at all"}`, i+1, i)
			}) + `]}`, map[string]string{"citation.verbatim": "and 19980 more"}, n, n},
		{"dimensions that nobody asked for", builtin.LogicSteps, judge.Trace{Output: lines(line)}, `{"validity_score": 1, "violations": [{"step_index": 1, "rule_violated": "r", "description": "d", "severity": "critical"}], "dimension_scores": [` + dimensions + `,` +
			list(func(i int) string { return fmt.Sprintf(`{"dimension": "d%d", "score": 1, "rationale": ""}`, i) }) + `]}`,
			map[string]string{"dimensions.complete": "and 19980 more"}, 1, 1},
		{"comparisons", builtin.StepsComparison, judge.Trace{Output: lines(line)}, `{"overall_alignment_score": 0.5, "critical_errors": [` + list(func(i int) string { return fmt.Sprint(i + 2) }) + `], "step_comparisons": [` +
			list(func(i int) string {
				return fmt.Sprintf(`{"step_number": %d, "reference_step": "r", "model_step": %q, "match_type": "contradiction", "explanation": ""}`, i+1, line(i))
			}) + `]}`, map[string]string{"comparison.critical_refs": "/critical_errors/19999"}, n, n},
		{"alternatives", builtin.Reference, judge.Trace{Stakes: judge.HighStakes, Output: "It is not 7 mg.", Reference: strings.TrimSuffix(strings.ReplaceAll(lines(func(i int) string { return fmt.Sprintf("It may be %d mg", i+1000) }), "\n", " | "), " | ")},
			`{"similarity_score": 0.9, "equivalence_class": "semantic_equivalent", "partial_credit": 0.95, "key_differences": [], "rationale": "` + strings.Repeat(`\"nothing of the kind\" `, n) + `"}`,
			map[string]string{"numbers.changed": "1000 mg", "negation.flipped": "the reference never", "rationale.cites": "quotes nothing"}, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := named(t, tt.judge)
			checks, read := j.Examine(json.RawMessage(tt.report), &tt.trace)
			for _, c := range checks {
				switch part, bad := tt.want[c.Name]; {
				case c.OK == bad:
					t.Errorf("check %s: OK is %v: %.300s", c.Name, c.OK, c.Detail)
				case bad && !strings.Contains(c.Detail, part):
					t.Errorf("check %s: got %q, want it to say %q", c.Name, c.Detail, part)
				}
			}
			reading, err := read()
			if err != nil {
				t.Fatal(err)
			}
			if len(reading.Findings) != tt.findings {
				t.Fatalf("findings: got %d, want %d", len(reading.Findings), tt.findings)
			}
			if tt.findings > 0 && reading.Findings[tt.findings-1].Step != tt.lastStep {
				t.Errorf("the last finding is at step %d, want %d", reading.Findings[tt.findings-1].Step, tt.lastStep)
			}
		})
	}
}
