package rules_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/rules"
)

func TestReference(t *testing.T) {
	const undecided = ""
	tests := []struct {
		name, output, reference string
		class                   string
		differences             []string
	}{
		{name: "identical", output: " Lexie Grey\n", reference: "Lexie Grey", class: "exact_match"},
		{name: "case", output: "lexie grey", reference: "Lexie Grey", class: "semantic_equivalent"},
		{name: "articles and punctuation", output: "The Golan Heights.", reference: "Golan Heights", class: "semantic_equivalent"},
		{name: "one of several", output: "Washington metropolitan area", reference: "Washington | the Washington metropolitan area", class: "semantic_equivalent"},
		{name: "one of several that share no word", output: "Washington metropolitan area", reference: "FedExField in Landover, Maryland | the Washington metropolitan area", class: undecided},
		{name: "a part of a list", output: "chest", reference: "chest | shoulders | torso", class: undecided},
		{name: "an alternative alone is no exact match", output: "Lexie", reference: "Dr. Lexie Grey | Lexie", class: "semantic_equivalent"},
		{name: "thousands", output: "It costs $1,000 now", reference: "It costs $1000 now", class: "semantic_equivalent"},
		{name: "another number", output: "The penalty is 500 dollars a day.", reference: "The penalty is 50 dollars a day.", class: "substantive_difference",
			differences: []string{"“500 dollars” instead of “50 dollars”"}},
		{name: "another unit", output: "Take 5 mg a day", reference: "Take 5 g a day", class: "substantive_difference", differences: []string{"“5 mg” instead of “5 g”"}},
		{name: "another year", output: "2018", reference: "2017 | following the 2017 season", class: "substantive_difference", differences: []string{"“2018” instead of “2017”"}},
		{name: "a year of several", output: "2018", reference: "2017 | 2018", class: undecided},
		{name: "a year written twice", output: "in 2018", reference: "In 2018 | 2018", class: "semantic_equivalent"},
		{name: "negation put in", output: "The clause is not void.", reference: "The clause is void.", class: "substantive_difference",
			differences: []string{"a negation that only the output has"}},
		{name: "negation left out", output: "The clause applies.", reference: "The clause does not apply.", class: undecided},
		{name: "don't", output: "You don't owe tax on it.", reference: "You do owe tax on it.", class: "substantive_difference",
			differences: []string{"a negation that only the output has"}},
		{name: "same amount in another unit", output: "It weighs 5 kg", reference: "It weighs 5000 g", class: undecided},
		{name: "rounded", output: "3.14", reference: "3.14159", class: undecided},
		{name: "rounded up", output: "3.142", reference: "3.14159", class: undecided},
		{name: "less exact date", output: "January 2020", reference: "5 January 2020", class: undecided},
		{name: "formula", output: "x^2", reference: "x*2", class: undecided},
		{name: "sign", output: "-5", reference: "5", class: "substantive_difference", differences: []string{"“-5” instead of “5”"}},
		{name: "language", output: "C++", reference: "C", class: undecided},
		{name: "contained", output: "The character who died in the crash was Lexie Grey (Chyler Leigh).", reference: "Lexie Grey | Lexie", class: "acceptable_variation"},
		{name: "contained but denied", output: "It was not Lexie Grey who died in the crash.", reference: "Lexie Grey", class: undecided},
		{name: "denied in another sentence", output: "It was Lexie Grey. Nobody else died.", reference: "Lexie Grey", class: "acceptable_variation"},
		{name: "inside a word", output: "The Lexieville Greyhound", reference: "Lexie", class: undecided},
		{name: "another answer", output: "Meredith Grey", reference: "Lexie Grey", class: undecided},
		{name: "empty output", output: "", reference: "Lexie Grey", class: undecided},
		{name: "signs only", output: "!!", reference: "??", class: undecided},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			trace := judge.Trace{ID: "t", Stakes: judge.HighStakes, Output: tt.output, Reference: tt.reference}
			given := report(t, "reference", trace)
			if given.NoReport {
				if tt.class != undecided {
					t.Fatalf("no report (%s), want %s", given.Explanation, tt.class)
				}
				if given.Explanation == "" {
					t.Error("no report and no explanation")
				}
				return
			}
			var r rules.ReferenceReport
			if err := json.Unmarshal(given.Report, &r); err != nil {
				t.Fatal(err)
			}
			if r.Class != tt.class {
				t.Errorf("class = %q (%s), want %q", r.Class, r.Rationale, tt.class)
			}
			if tt.differences != nil {
				if diff := cmp.Diff(tt.differences, r.Differences); diff != "" {
					t.Errorf("differences (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// What the question names already is no answer to it.
func TestReferenceNamedByTheQuestion(t *testing.T) {
	trace := judge.Trace{ID: "t", Question: "What lies to the east of the Jordan river?", Output: "East of the Jordan lies the West Bank.", Reference: "Golan Heights | Jordan"}
	if given := report(t, "reference", trace); !given.NoReport {
		t.Errorf("%s, want no report", given.Report)
	}
	trace.Output = "East of the Jordan lie the Golan Heights."
	if given := report(t, "reference", trace); given.NoReport {
		t.Errorf("no report (%s), want one: the answer is there", given.Explanation)
	}
}

func TestReferenceWithConstraints(t *testing.T) {
	trace := judge.Trace{ID: "t", Output: "lexie grey", Reference: "Lexie Grey", Constraints: []string{"The spelling must be the same."}}
	if given := report(t, "reference", trace); !given.NoReport || !strings.Contains(given.Explanation, "rules of its own") {
		t.Errorf("%+v, want no report: the constraints are not for text comparison to apply", given)
	}
	trace.Output = "Lexie Grey "
	if given := report(t, "reference", trace); given.NoReport {
		t.Errorf("identical texts need no rule: %+v", given)
	}
}
