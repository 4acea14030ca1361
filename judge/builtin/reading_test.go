package builtin_test

import (
	"encoding/json"
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
	if diff := cmp.Diff(want[:4], builtin.Default()); diff != "" {
		t.Errorf("default (-want +got):\n%s", diff)
	}
}

func TestReadings(t *testing.T) {
	standard, high := judge.Trace{Stakes: judge.StandardStakes}, judge.Trace{Stakes: judge.HighStakes}
	cites := citationsTrace()
	citesHigh := cites
	citesHigh.Stakes = judge.HighStakes
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
	tests := []struct {
		name, judge, report string
		trace               judge.Trace
		want                judge.Reading
	}{
		{"valid", "steps", steps("0.8", "[]", "CORRECT"), standard, judge.Reading{Score: 0.8, Label: "valid"}},
		{"flawed by score", "steps", steps("0.79", "[]", "EQUIVALENT"), standard, judge.Reading{Score: 0.79, Label: "flawed", BelowThreshold: "score 0.79 is below 0.80"}},
		{"flawed by a step", "steps", steps("0.9", "[]", "PARTIALLY_CORRECT"), standard, judge.Reading{Score: 0.9, Label: "flawed",
			Findings: []judge.Finding{{Step: 1, Class: "PARTIALLY_CORRECT", Explanation: "reference step 1 (s): e"}}}},
		{"invalid by score", "steps", steps("0.59", "[]", "CORRECT"), standard, judge.Reading{Score: 0.59, Label: "invalid", BelowThreshold: "score 0.59 is below 0.80"}},
		{"invalid by a critical error", "steps", steps("0.9", `["divides by zero"]`, "CORRECT"), standard, judge.Reading{Score: 0.9, Label: "invalid", Critical: true,
			Findings: []judge.Finding{{Class: "critical_error", Severity: "critical", Explanation: "divides by zero"}}}},
		{"comparison", "steps-comparison", `{"step_comparisons":[{"step_number":1,"reference_step":"r","model_step":"m","match_type":"contradiction","explanation":"e"}],"overall_alignment_score":0.7,"critical_errors":[1]}`, standard,
			judge.Reading{Score: 0.7, Label: "invalid", Critical: true, BelowThreshold: "score 0.70 is below 0.80",
				Findings: []judge.Finding{{Step: 1, Class: "contradiction", Severity: "critical", Quote: "m", Explanation: "e"}}}},
		{"difference at standard stakes", "reference", reference("0.3", "substantive_difference"), standard,
			judge.Reading{Score: 0.3, Label: "substantive_difference", Findings: difference}},
		{"difference at high stakes", "reference", reference("0.3", "substantive_difference"), high,
			judge.Reading{Score: 0.3, Label: "substantive_difference", Findings: difference, Reasons: []judge.Reason{{Code: "substantive_difference", Detail: "the fee"}}}},
		{"variation", "reference", reference("0.75", "acceptable_variation"), high, judge.Reading{Score: 0.75, Label: "acceptable_variation", Findings: difference}},
		{"all fours pass", "logic", logic("4", "4", "4", "4", ""), standard, judge.Reading{Score: 0.8, Label: "4"}},
		{"all threes", "logic", logic("3", "3", "3", "3", ""), standard, judge.Reading{Score: 0.6, Label: "3",
			BelowThreshold: "conclusion_alignment has 3, formal_fallacy_detection has 3, inference_rule_adherence has 3, premise_support has 3 (3 or less)"}},
		{"rounded half up, mean unrounded", "logic", logic("5", "5", "4", "4", ""), standard, judge.Reading{Score: 0.9, Label: "5"}},
		{"critical violation", "logic", logic("5", "5", "1", "5", `{"step_citation":"q","explanation":"e","fallacy_type":"non sequitur","severity":"critical"}`), standard,
			judge.Reading{Score: 0.8, Label: "4", Critical: true, BelowThreshold: "formal_fallacy_detection has 1 (3 or less)",
				Findings: []judge.Finding{{Dimension: "formal_fallacy_detection", Class: "non sequitur", Severity: "critical", Quote: "q", Explanation: "e"}}}},
		{"citations", "citations", citationsReport, cites, judge.Reading{Score: 0.5, Label: "inaccurate",
			Findings: []judge.Finding{
				{Step: 2, Citation: 2, CitationID: "2", Class: "partially_supported", Quote: "b", Explanation: "weaker"},
				{Step: 3, Citation: 3, CitationID: "9", Class: "citation_not_found", Severity: "minor", Quote: "c", Explanation: "no source 9"}},
			BelowThreshold: "overall 0.50; citation 2, [2], counts 0.5; citation 3, [9], counts 0 (below 0.80)"}},
		{"misattribution at high stakes", "citations", citationsReport, citesHigh, judge.Reading{Score: 0.5, Label: "inaccurate",
			Reasons: []judge.Reason{{Code: "misattribution", Detail: "[9] citation_not_found: no source 9"}}}},
		{"misattribution of severity major", "citations", strings.Replace(citationsReport, `"minor"`, `"major"`, 1), cites, judge.Reading{Score: 0.5, Label: "inaccurate",
			Reasons: []judge.Reason{{Code: "misattribution", Detail: "[9] citation_not_found: no source 9"}}}},
		{"critical flag", "citations", strings.Replace(citationsReport, `"minor"`, `"critical"`, 1), cites, judge.Reading{Score: 0.5, Label: "inaccurate", Critical: true,
			Reasons: []judge.Reason{{Code: "misattribution", Detail: "[9] citation_not_found: no source 9"}}}},
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
			ignore := cmpopts.IgnoreFields(judge.Reading{}, "Uncited")
			if tt.judge == "citations" && tt.want.Findings == nil {
				ignore = cmpopts.IgnoreFields(judge.Reading{}, "Uncited", "Findings", "BelowThreshold")
			}
			if diff := cmp.Diff(tt.want, got, ignore, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("reading (-want +got):\n%s", diff)
			}
		})
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
	if want := "without any citation: steps 4"; r.Uncited != want {
		t.Errorf("uncited: got %q, want %q", r.Uncited, want)
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
