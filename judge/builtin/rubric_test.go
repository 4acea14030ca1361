package builtin_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
)

// The rubric that the documentation shows, run: prompt, schema, checks, reading.
func TestLogicWith(t *testing.T) {
	data, err := os.ReadFile("../../docs/rubric.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rubric, err := judge.ParseRubric("docs/rubric.yaml", data)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"premise_support", "causal_validity", "quantitative_correctness", "conclusion_alignment"}
	logic, logicSteps := builtin.LogicWith(rubric)
	for _, j := range []judge.Judge{logic, logicSteps} {
		usual := named(t, j.Name)
		if j.PromptVersion == usual.PromptVersion {
			t.Errorf("judge %s: the rubric is not part of the prompt version", j.Name)
		}
		for _, n := range names {
			if !strings.Contains(j.Blocks["RUBRIC_DIMENSIONS"], n+": ") || !strings.Contains(j.Blocks["EXAMPLES"], n) {
				t.Errorf("judge %s: the prompt does not name %s", j.Name, n)
			}
		}
		if _, err := judge.CompileSchema(j.Schema); err != nil {
			t.Errorf("judge %s: %v", j.Name, err)
		}
	}
	var schema struct {
		Properties struct {
			Dimensions struct {
				Properties map[string]struct{ Required []string }
			} `json:"dimension_scores"`
		}
	}
	if err := json.Unmarshal(logic.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if got := schema.Properties.Dimensions.Properties[n].Required; len(got) != 2 {
			t.Errorf("schema: dimension %s requires %v", n, got)
		}
	}
	if got := len(schema.Properties.Dimensions.Properties); got != len(names) {
		t.Errorf("schema: got %d dimensions, want %d", got, len(names))
	}

	trace := &judge.Trace{Output: "1. Sales fell in May.\n2. The price rose in April, so the price made sales fall.\n3. They fell from 80 to 60, by 20%."}
	dimension := func(score, violations string) string {
		return `{"violations": [` + violations + `], "score": ` + score + `}`
	}
	report := func(fallacy, extra string) json.RawMessage {
		return json.RawMessage(`{"dimension_scores": {"premise_support": ` + dimension("5", "") + `, "causal_validity": ` +
			dimension("2", `{"step_citation": "so the price made sales fall", "explanation": "order in time alone", "fallacy_type": `+fallacy+`, "severity": "critical"}`) +
			`, "quantitative_correctness": ` + dimension("1", `{"step_citation": "by 20%", "explanation": "20 of 80 is 25%", "severity": "critical"}`) +
			`, "conclusion_alignment": ` + dimension("4", "") + extra + `}, "overall_assessment": "", "overall_validity_score": 3.0}`)
	}
	tests := []struct {
		name   string
		report json.RawMessage
		want   map[string]string
	}{
		{"sound", report(`"post hoc"`, ""), map[string]string{}},
		{"a fallacy is asked for where the rubric lists some, and only there", report("null", ""), map[string]string{"fallacy.named": "/dimension_scores/causal_validity/violations/0: the violation names no fallacy"}},
		{"a dimension of another rubric", report(`"post hoc"`, `, "formal_fallacy_detection": `+dimension("3", "")),
			map[string]string{"dimensions.complete": `/dimension_scores/formal_fallacy_detection/score: "formal_fallacy_detection" is no dimension of the rubric`,
				"violations.required": "/dimension_scores/formal_fallacy_detection/score: formal_fallacy_detection has 3, under 4, and no violation"}},
		{"a dimension that is null", json.RawMessage(strings.Replace(string(report(`"post hoc"`, "")), dimension("4", ""), "null", 1)),
			map[string]string{"dimensions.complete": "/dimension_scores: dimension conclusion_alignment is not scored",
				"overall.mean": "/overall_validity_score: it is 3, but the mean of the dimension scores is 2.667"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := map[string]string{}
			checks, _ := logic.Examine(tt.report, trace)
			for _, c := range checks {
				if !c.OK {
					got[c.Name] = c.Detail
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("failing checks (-want +got):\n%s", diff)
			}
		})
	}
	reading, err := logic.Read(report(`"post hoc"`, ""), trace)
	if err != nil || reading.Label != "3" || len(reading.PartLabels) != 4 || !reading.Critical {
		t.Errorf("reading: got %+v, %v", reading, err)
	}
}

func TestJudgesWith(t *testing.T) {
	rubric := builtin.DefaultRubric()
	rubric[0].Check = "another question"
	changed := map[string]bool{builtin.Logic: true, builtin.LogicSteps: true}
	usual := builtin.Judges()
	for i, j := range builtin.JudgesWith(builtin.Setup{Rubric: rubric}) {
		if j.Name != usual[i].Name {
			t.Errorf("judge %d is %s, want %s", i, j.Name, usual[i].Name)
		}
		if differs := j.PromptVersion != usual[i].PromptVersion; differs != changed[j.Name] {
			t.Errorf("judge %s: another version is %v", j.Name, differs)
		}
		if strings.Contains(j.Blocks["EXAMPLES"], "another rubric") {
			t.Errorf("judge %s: the same dimensions are called another rubric", j.Name)
		}
	}
	if builtin.DefaultRubric()[0].Check == rubric[0].Check {
		t.Error("the default rubric can be changed from outside")
	}
}
