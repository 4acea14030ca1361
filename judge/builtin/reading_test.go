package builtin_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

func TestJudges(t *testing.T) {
	var got []string
	for _, j := range builtin.Judges() {
		got = append(got, j.Name)
		if !j.Builtin || j.Read == nil || j.Examine == nil || len(j.PromptVersion) != 64 {
			t.Errorf("judge %s is not whole", j.Name)
		}
		if _, err := judge.CompileSchema(j.Schema); err != nil {
			t.Errorf("judge %s: %v", j.Name, err)
		}
		if strings.Contains(string(j.Source), "_file:") {
			t.Errorf("judge %s: its source refers to files", j.Name)
		}
	}
	want := []string{"steps", "reference", "logic", "citations", "steps-comparison", "logic-steps"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("judges (-want +got):\n%s", diff)
	}
	repairs := map[string]int{"steps": 2, "steps-comparison": 2, "reference": 1, "logic": 2, "logic-steps": 2, "citations": 1}
	for _, j := range builtin.Judges() {
		if j.MaxRepairs != repairs[j.Name] || j.Band != judge.DefaultBand {
			t.Errorf("judge %s: %d repairs, band %v", j.Name, j.MaxRepairs, j.Band)
		}
	}
	if diff := cmp.Diff(want[:4], builtin.Default()); diff != "" {
		t.Errorf("default (-want +got):\n%s", diff)
	}
}

func TestReadings(t *testing.T) {
	oneStep, cites := judge.Trace{Output: "One step."}, citationsTrace()
	steps := func(score, critical, judgment string) string {
		return `{"reference_step_count":1,"candidate_step_count":1,"step_alignments":[{"reference_step_index":1,"reference_step_summary":"s","candidate_step_indices":[1],"alignment_judgment":"` +
			judgment + `","explanation":"e"}],"unaligned_candidate_steps":[],"final_answer_match":true,"overall_assessment":{"reasoning_score":` + score + `,"critical_errors":` + critical + `,"summary":""}}`
	}
	logic := func(a, b, c, d, violations string) string {
		return `{"overall_validity_score":1,"overall_assessment":"","dimension_scores":{"premise_support":{"score":` + a + `,"violations":[]},"inference_rule_adherence":{"score":` + b +
			`,"violations":[]},"formal_fallacy_detection":{"score":` + c + `,"violations":[` + violations + `]},"conclusion_alignment":{"score":` + d + `,"violations":[]}}}`
	}
	reference := func(score, class string) string {
		return `{"similarity_score":` + score + `,"equivalence_class":"` + class + `","partial_credit":1,"rationale":"","key_differences":["the fee"]}`
	}
	difference := []judge.Finding{{Class: "difference", Explanation: "the fee"}}
	stepOne := func(label string) []judge.PartLabel { return []judge.PartLabel{{Kind: "step", Key: "1", Label: label}} }
	// Dimensions come in the order of their names.
	dimensions := func(conclusion, fallacy, inference, premise float64) []judge.Part {
		return []judge.Part{{Name: "conclusion_alignment", Value: conclusion, Max: 5}, {Name: "formal_fallacy_detection", Value: fallacy, Max: 5},
			{Name: "inference_rule_adherence", Value: inference, Max: 5}, {Name: "premise_support", Value: premise, Max: 5}}
	}
	dimensionLabels := func(labels ...string) (list []judge.PartLabel) {
		for i, d := range dimensions(0, 0, 0, 0) {
			list = append(list, judge.PartLabel{Kind: "dimension", Key: d.Name, Label: labels[i]})
		}
		return list
	}
	cited := judge.Reading{Score: 0.5, Label: "inaccurate", UncitedSteps: []int{},
		Findings: []judge.Finding{
			{Step: 2, Citation: 2, CitationID: "2", Class: "partially_supported", Quote: "b", Explanation: "weaker"},
			{Step: 3, Citation: 3, CitationID: "9", Class: "citation_not_found", Severity: "minor", Quote: "c", Explanation: "no source 9"}},
		Parts:          []judge.Part{{Name: "overall", Value: 0.5}, {Name: "citation 1, [1]", Value: 1}, {Name: "citation 2, [2]", Value: 0.5}, {Name: "citation 3, [9]"}},
		PartLabels:     []judge.PartLabel{{Kind: "citation", Key: "1", Label: "fully_supported"}, {Kind: "citation", Key: "2", Label: "partially_supported"}, {Kind: "citation", Key: "3", Label: "unsupported"}},
		Misattribution: &judge.Misattribution{Severity: "minor", Detail: "[9] citation_not_found: no source 9"}}
	graver := cited
	graver.Misattribution = &judge.Misattribution{Severity: "critical", Detail: "[9] unsupported: nothing supports it"}
	graver.Critical = true
	tests := []struct {
		name, judge, report string
		trace               judge.Trace
		want                judge.Reading
	}{
		{"valid", "steps", steps("0.8", "[]", "CORRECT"), oneStep, judge.Reading{Score: 0.8, Label: "valid", PartLabels: stepOne("CORRECT")}},
		{"flawed by score", "steps", steps("0.79", "[]", "EQUIVALENT"), oneStep, judge.Reading{Score: 0.79, Label: "flawed", PartLabels: stepOne("EQUIVALENT")}},
		{"flawed by a step", "steps", steps("0.9", "[]", "PARTIALLY_CORRECT"), oneStep, judge.Reading{Score: 0.9, Label: "flawed", PartLabels: stepOne("PARTIALLY_CORRECT"),
			Findings: []judge.Finding{{Step: 1, Class: "PARTIALLY_CORRECT", Explanation: "reference step 1 (s): e"}}}},
		{"steps cut otherwise than the trace's", "steps", steps("0.9", "[]", "PARTIALLY_CORRECT"), judge.Trace{Output: "One.\nTwo."}, judge.Reading{Score: 0.9, Label: "flawed", PartLabels: stepOne("PARTIALLY_CORRECT"),
			Findings: []judge.Finding{{Class: "PARTIALLY_CORRECT", Explanation: "candidate step 1 of 1 as the judge counts: reference step 1 (s): e"}}}},
		{"invalid by score", "steps", steps("0.59", "[]", "CORRECT"), oneStep, judge.Reading{Score: 0.59, Label: "invalid", PartLabels: stepOne("CORRECT")}},
		{"invalid by a critical error", "steps", steps("0.9", `["divides by zero"]`, "CORRECT"), oneStep, judge.Reading{Score: 0.9, Label: "invalid", Critical: true, PartLabels: stepOne("CORRECT"),
			Findings: []judge.Finding{{Class: "critical_error", Severity: "critical", Explanation: "divides by zero"}}}},
		{"comparison", "steps-comparison", `{"step_comparisons":[{"step_number":1,"reference_step":"r","model_step":"x = 2","match_type":"exact_match","explanation":"e"},
			{"step_number":2,"reference_step":null,"model_step":"X =  2","match_type":"extra_step","explanation":"again"},
			{"step_number":3,"reference_step":"s","model_step":"Hence it holds","match_type":"contradiction","explanation":"e"},
			{"step_number":4,"reference_step":"t","model_step":null,"match_type":"missing_step","explanation":"m"},
			{"step_number":5,"reference_step":"u","model_step":"nothing of the trace at all","match_type":"order_mismatch","explanation":"o"}],"overall_alignment_score":0.7,"critical_errors":[3]}`,
			judge.Trace{Output: "1. x = 2\n2. x = 2\n3. Hence it holds, as was to be shown."},
			judge.Reading{Score: 0.7, Label: "invalid", Critical: true,
				PartLabels: []judge.PartLabel{{Kind: "step", Key: "1", Label: "exact_match"}, {Kind: "step", Key: "2", Label: "contradiction"}, {Kind: "step", Key: "3", Label: "missing_step"}, {Kind: "step", Key: "4", Label: "order_mismatch"}},
				Findings: []judge.Finding{{Step: 2, Class: "extra_step", Quote: "X =  2", Explanation: "again"}, {Step: 3, Class: "contradiction", Severity: "critical", Quote: "Hence it holds", Explanation: "e"},
					{Class: "missing_step", Explanation: "m"}, {Class: "order_mismatch", Quote: "nothing of the trace at all", Explanation: "o"}}}},
		{"difference", "reference", reference("0.3", "substantive_difference"), judge.Trace{},
			judge.Reading{Score: 0.3, Label: "substantive_difference", Findings: difference, SubstantiveDifference: "the fee"}},
		{"variation", "reference", reference("0.75", "acceptable_variation"), judge.Trace{}, judge.Reading{Score: 0.75, Label: "acceptable_variation", Findings: difference}},
		{"all fours", "logic", logic("4", "4", "4", "4", ""), judge.Trace{}, judge.Reading{Score: 0.8, Label: "4", Parts: dimensions(4, 4, 4, 4), PartLabels: dimensionLabels("4", "4", "4", "4")}},
		{"all threes", "logic", logic("3", "3", "3", "3", ""), judge.Trace{}, judge.Reading{Score: 0.6, Label: "3", Parts: dimensions(3, 3, 3, 3), PartLabels: dimensionLabels("3", "3", "3", "3")}},
		{"rounded half up, mean unrounded", "logic", logic("5", "5", "4", "3.5", ""), judge.Trace{}, judge.Reading{Score: 0.875, Label: "4", Parts: dimensions(3.5, 4, 5, 5), PartLabels: dimensionLabels("4", "4", "5", "5")}},
		{"critical violation", "logic", logic("5", "5", "1", "5", `{"step_citation":"so it swims","explanation":"e","fallacy_type":"non sequitur","severity":"critical"}`), judge.Trace{Output: "It is a duck.\nHence, so it swims."},
			judge.Reading{Score: 0.8, Label: "4", Critical: true, Parts: dimensions(5, 1, 5, 5), PartLabels: dimensionLabels("5", "1", "5", "5"),
				Findings: []judge.Finding{{Step: 2, Dimension: "formal_fallacy_detection", Class: "non sequitur", Severity: "critical", Quote: "so it swims", Explanation: "e"}}}},
		{"citations", "citations", citationsReport, cites, cited},
		{"the gravest flag", "citations", strings.Replace(citationsReport, `"flag_type": "unsupported", "severity": "minor"`, `"flag_type": "unsupported", "severity": "critical"`, 1), cites, graver},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			j := named(t, tt.judge)
			got, err := j.Read(json.RawMessage(tt.report), &tt.trace)
			if err != nil {
				t.Fatal(err)
			}
			_, read := j.Examine(json.RawMessage(tt.report), &tt.trace)
			if again, err := read(); err != nil || !cmp.Equal(got, again) {
				t.Errorf("Examine reads otherwise: %+v, %v", again, err)
			}
			if tt.want.Parts == nil { // one score, one part
				tt.want.Parts = []judge.Part{{Name: "overall", Value: tt.want.Score}}
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("reading (-want +got):\n%s", diff)
			}
		})
	}
}

// Flags of one citation are dealt out to its occurrences, each flag to one where
// there are as many.
func TestFindingsOfFlags(t *testing.T) {
	evaluation := func(step int) string {
		return fmt.Sprintf(`{"citation_id": "1", "reasoning_step_index": %d, "reasoning_step_text": "t", "citation_exists": true, "quote_accurate": false, "context_fidelity": "accurate",
			"claim_support_strength": "partially_supported", "explanation": "own words", "flagged": true}`, step)
	}
	flag := func(step, detail string) string {
		return fmt.Sprintf(`{"citation_id": "1", "reasoning_step_index": %s, "flag_type": "quote_mismatch", "severity": "minor", "detail": %q}`, step, detail)
	}
	report := `{"overall_citation_accuracy_score": 0, "total_citations_evaluated": 4, "summary": "", "citation_evaluations": [` +
		strings.Join([]string{evaluation(1), evaluation(1), evaluation(2), evaluation(3)}, ",") + `], "misattribution_flags": [` +
		strings.Join([]string{flag("1", "first"), flag("1", "second"), flag("2", "a"), flag("2", "b")}, ",") + `]}`
	trace := &judge.Trace{Output: "It is so [1], and so [1].\nIt is [1].\nIt was [1].", Sources: []judge.Source{{ID: "1", Text: "s"}}}
	j := named(t, "citations")
	r, err := j.Read(json.RawMessage(report), trace)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range r.Findings {
		got = append(got, fmt.Sprintf("%d %s: %s", f.Citation, f.Class, f.Explanation))
	}
	want := []string{"1 quote_mismatch: first", "2 quote_mismatch: second", "3 quote_mismatch: a", "3 quote_mismatch: b", "4 quote_mismatch: own words"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}

func TestRefuse(t *testing.T) {
	logic, citations := named(t, "logic"), named(t, "citations")
	sources := []judge.Source{{ID: "1", Text: "s"}}
	tests := []struct {
		judge  judge.Judge
		trace  judge.Trace
		field  string
		detail string
	}{
		{logic, judge.Trace{Output: "It is so."}, "output", "single step"},
		{logic, judge.Trace{Output: "1. It is so.\n2. Hence."}, "", ""},
		{citations, judge.Trace{Output: "no marker [sic]", Sources: sources}, "output", "no citation marker"},
		{citations, judge.Trace{Output: "a marker [1]", Sources: sources}, "", ""},
		{citations, judge.Trace{Output: "a marker [1]"}, "sources", "sources is missing: judge citations needs it"},
		{named(t, "reference"), judge.Trace{Output: "x", Reference: " \n"}, "reference", "reference is missing: judge reference needs it"},
		{named(t, "steps"), judge.Trace{Output: "x", Question: "q"}, "reference", "reference is missing: judge steps needs it"},
	}
	for _, tt := range tests {
		field, message := tt.judge.Lacks(&tt.trace)
		if field != tt.field || !strings.Contains(message, tt.detail) {
			t.Errorf("%s on %q: got %q, %q; want %q, %q", tt.judge.Name, tt.trace.Output, field, message, tt.field, tt.detail)
		}
	}
}

func TestSettle(t *testing.T) {
	j := named(t, "reference")
	if got := j.Settle(&judge.Trace{Output: "a", Reference: "b"}); got != nil {
		t.Errorf("different texts are settled: %s", got)
	}
	trace := &judge.Trace{Output: " a\n", Reference: "a", Stakes: judge.HighStakes}
	report := j.Settle(trace)
	checks, _ := j.Examine(report, trace)
	for _, c := range checks {
		if !c.OK {
			t.Errorf("check %s: %s", c.Name, c.Detail)
		}
	}
}

func TestUncited(t *testing.T) {
	j := named(t, "citations")
	trace := citationsTrace()
	trace.Output += "\nSo everyone should always take this drug."
	r, err := j.Read(json.RawMessage(citationsReport), &trace)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{4}, r.UncitedSteps); diff != "" {
		t.Errorf("uncited steps (-want +got):\n%s", diff)
	}
}

func TestJudgesWithMarkers(t *testing.T) {
	var j judge.Judge
	for _, c := range builtin.JudgesWithMarkers(regexp.MustCompile(`\((\w+ \d{4})\)`)) {
		if c.Name == builtin.Citations {
			j = c
		}
	}
	trace := &judge.Trace{Output: "It fell (Smith 2020) [1].", Sources: []judge.Source{{ID: "Smith 2020", Text: "It fell."}}}
	if field, message := j.Lacks(trace); field != "" {
		t.Errorf("refused: %s", message)
	}
	if want := `occurrence 1: citation_id "Smith 2020" in step 1`; j.Derive(trace)["CITATION_MARKERS"] != want {
		t.Errorf("markers: got %q, want %q", j.Derive(trace)["CITATION_MARKERS"], want)
	}
	if j.PromptVersion == named(t, builtin.Citations).PromptVersion {
		t.Error("the pattern is not part of the prompt version")
	}
}
