package rules_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
)

func TestLogic(t *testing.T) {
	tests := []struct {
		name, output string
		premises     []string
		want         []string // step dimension rule severity
		verdict      judge.Verdict
	}{
		{name: "nothing to see", output: "All men are mortal.\nSocrates is a man.\nSo Socrates is mortal.", verdict: judge.Borderline},
		{name: "sums that hold", output: "1. 3 + 4 = 7\n2. 7 * 2 = 14", verdict: judge.Borderline},
		{name: "a wrong sum that is used", output: "1. They have 3 + 4 = 8 of them.\n2. Twice 8 is 16.",
			want: []string{"1 inference_rule_adherence arithmetic critical"}, verdict: judge.Fail},
		{name: "a wrong sum that is the answer", output: "1. There are 3 and 4.\n2. 3 + 4 = 8\nA: 8",
			want: []string{"2 inference_rule_adherence arithmetic critical"}, verdict: judge.Fail},
		{name: "a wrong sum that nothing uses", output: "1. They have 3 + 4 = 8 of them.\n2. So there are many.",
			want: []string{"1 inference_rule_adherence arithmetic major"}, verdict: judge.Borderline},
		{name: "a wrong sum put right", output: "1. They have 3 + 4 = 8 of them.\n2. No: 8 is too many.\n3. 3 + 4 = 7", verdict: judge.Borderline},
		{name: "a slip of the pen", output: "1. A = 6 - -5 = 6 - 5 = 11\n2. So A is 11.",
			want: []string{"1 inference_rule_adherence arithmetic minor", "1 inference_rule_adherence arithmetic minor"}, verdict: judge.Borderline},
		{name: "taken back", output: "The contract was signed by both parties.\nIt was sent by post.\nThe contract was not signed by both parties.",
			want: []string{"3 formal_fallacy_detection contradiction major"}, verdict: judge.Borderline},
		{name: "taken back in a case", output: "The contract was signed by both parties.\nSuppose the contract was not signed by both parties.", verdict: judge.Borderline},
		{name: "said twice", output: "The contract was not signed by both parties.\nThe contract was not signed by both parties.", verdict: judge.Borderline},
		{name: "numbers move on", output: "There are 5 marbles left inside the box.\nThere are 4 marbles left inside the box.", verdict: judge.Borderline},
		{name: "a premise with another number", output: "The buyer has 60 days to give notice.\nSo there is time.", premises: []string{"The buyer has 30 days to give notice."},
			want: []string{"1 premise_support premise changed major"}, verdict: judge.Borderline},
		{name: "a premise denied", output: "The notice was not given in time.\nSo the claim is lost.", premises: []string{"The notice was given in time. It was in writing."},
			want: []string{"1 premise_support premise changed major"}, verdict: judge.Borderline},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			trace := judge.Trace{ID: "t", Output: tt.output, Premises: tt.premises}
			given := report(t, "logic-steps", trace)
			var got []string
			if given.NoReport != (tt.want == nil) {
				t.Errorf("no report: %v (%s)", given.NoReport, given.Explanation)
			}
			if given.Explanation == "" || !given.NoReport && !given.Undecided {
				t.Errorf("undecided %v, explanation %q: something is always left to a person", given.Undecided, given.Explanation)
			}
			if !given.NoReport {
				var r struct {
					Violations []struct {
						Step      int    `json:"step_index"`
						Dimension string `json:"dimension"`
						Rule      string `json:"rule_violated"`
						Severity  string `json:"severity"`
					} `json:"violations"`
				}
				if err := json.Unmarshal(given.Report, &r); err != nil {
					t.Fatal(err)
				}
				for _, v := range r.Violations {
					got = append(got, fmt.Sprintf("%d %s %s %s", v.Step, v.Dimension, v.Rule, v.Severity))
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("violations (-want +got):\n%s", diff)
			}
			for _, name := range []string{"logic", "logic-steps"} {
				if got := verdict(t, name, trace, report(t, name, trace)); got != tt.verdict {
					t.Errorf("verdict of %s = %s, want %s", name, got, tt.verdict)
				}
			}
		})
	}
}

// Faults of a dimension that a rubric has not are not reported.
func TestLogicWithAnotherRubric(t *testing.T) {
	trace := judge.Trace{ID: "t", Output: "1. They have 3 + 4 = 8 of them.\n2. Twice 8 is 16."}
	j := *named(t, "logic")
	j.Blocks = map[string]string{"RUBRIC_DIMENSIONS": "inference_rule_adherence: every step follows.\n  5: yes\n\ncausal_validity: causes are shown.\n  5: yes\n"}
	given := reportBy(t, &j, trace)
	var r struct {
		Dimensions map[string]struct{ Score int } `json:"dimension_scores"`
		Overall    float64                        `json:"overall_validity_score"`
	}
	if err := json.Unmarshal(given.Report, &r); err != nil {
		t.Fatal(err)
	}
	want := map[string]struct{ Score int }{"inference_rule_adherence": {2}, "causal_validity": {4}}
	if diff := cmp.Diff(want, r.Dimensions); diff != "" || r.Overall != 3 {
		t.Errorf("overall %v, dimensions (-want +got):\n%s", r.Overall, diff)
	}
	j.Blocks = map[string]string{"RUBRIC_DIMENSIONS": "causal_validity: causes are shown.\n  5: yes\n"}
	if given := reportBy(t, &j, trace); !given.NoReport {
		t.Errorf("%s, want no report", given.Report)
	}
}

// Whatever a reasoning holds, its report holds every check, the soft ones too.
func FuzzLogic(f *testing.F) {
	f.Add("1. They have 3 + 4 = 8 of them.\n2. Twice 8 is 16.", "")
	f.Add("The contract was signed by both.\n\n- The contract was not signed by both.", "The contract was signed by both. 3")
	f.Add("Step 1: **2 + 2 = 5** = (3 * 2)\nStep 2: 5", "5")
	f.Fuzz(func(t *testing.T, output, premise string) {
		if !utf8.ValidString(output) || !utf8.ValidString(premise) {
			t.Skip("a trace file with it is refused")
		}
		trace := judge.Trace{ID: "t", Output: output, Premises: []string{premise}}
		if field, _ := named(t, "logic").Refuse(&trace); field != "" {
			return
		}
		for _, name := range []string{"logic", "logic-steps"} {
			report(t, name, trace)
		}
	})
}

// Long texts that are made of what the rules look for give reports in
// proportion. No clock decides: work that grew with the square of these lengths
// would not end before the test binary's own limit.
func TestLargeTextsGiveSmallReports(t *testing.T) {
	for name, line := range map[string]string{
		"sums":       "1 + 1 = 3 = ",
		"steps":      "1 + 1 = 3 is what it is.\n",
		"statements": "The contract was signed by both parties.\nThe contract was not signed by both parties.\n",
		"brackets":   "((((((((1 = (",
		"negations":  "not not not = 1 + ",
	} {
		trace := judge.Trace{ID: "t", Question: "q", Output: "Begin.\n" + strings.Repeat(line, 1<<18/len(line)), Reference: "1 + 1 = 2\nA: 2"}
		if len(trace.Output) > 200_000 && strings.HasSuffix(line, "\n") {
			trace.Output = trace.Output[:200_000] // under the number of steps that a report can have
		}
		for _, judgeName := range []string{"logic", "logic-steps", "steps", "steps-comparison"} {
			if given := report(t, judgeName, trace); len(given.Report) > 40*len(trace.Output) {
				t.Errorf("%s, %s: a report of %d bytes for a text of %d", name, judgeName, len(given.Report), len(trace.Output))
			}
		}
	}
}
