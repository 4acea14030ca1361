package ruling_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/ruling"
)

// What a report lists stands at the differences that it speaks of, and at no other that
// happens to hold one of its numbers.
func TestListedDifferences(t *testing.T) {
	for _, tt := range []struct {
		name, reference, output string
		listed                  []string
		want                    map[string]string // by the reference's and the output's words of a difference: entries
	}{
		{
			name:      "a number of another difference",
			reference: "Give 20 mmol in a litre of sodium chloride over 4 hours. Do not exceed 10 mmol an hour.",
			output:    "Give 20 mg in a litre of sodium chloride over 2 hours. Do not exceed 20 mmol an hour.",
			listed:    []string{"The amount is 20 mg and not 20 mmol.", "The infusion runs over 2 hours and not 4."},
			want: map[string]string{
				"mmol→mg": "The amount is 20 mg and not 20 mmol.",
				"4→2":     "The infusion runs over 2 hours and not 4.",
				"10→20":   "The judge does not list this.",
			},
		},
		{
			name:      "one side is enough where no difference has both",
			reference: "The rate is 16 per cent.",
			output:    "The rate is 19 per cent.",
			listed:    []string{"It says 19 where the statute has another rate."},
			want:      map[string]string{"16→19": "It says 19 where the statute has another rate."},
		},
		{
			name:      "words that only one text has",
			reference: "Take it daily with food for a week.",
			output:    "Take it daily for a week.",
			listed:    []string{"It leaves out that the drug goes with food."},
			want:      map[string]string{"with food→": "It leaves out that the drug goes with food."},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			trace := judge.Trace{Reference: tt.reference, Output: tt.output}
			report := `{"similarity_score": 0.5, "equivalence_class": "substantive_difference", "partial_credit": 0.4, "rationale": "r", "critical_error_count": 1,
				"key_differences": ["` + strings.Join(tt.listed, `", "`) + `"]}`
			j := named(t, builtin.Reference)
			sheet, err := ruling.New(j, &trace, evaluated(t, j, &trace, report))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for _, u := range sheet.Units {
				if d := u.Difference; d != nil {
					key := strings.TrimSpace(tt.reference[d.Reference.Start:d.Reference.End]) + "→" + strings.TrimSpace(tt.output[d.Candidate.Start:d.Candidate.End])
					got[key] = u.Parts[0].JudgeNote
				}
			}
			for key, want := range tt.want {
				if have, ok := got[key]; !ok || have != want {
					t.Errorf("%s has %q (there: %v), want %q; all: %v", key, have, ok, want, got)
				}
			}
		})
	}
}
