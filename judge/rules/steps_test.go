package rules_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/rules"
)

const ducks = `Janet sells 16 - 3 - 4 = <<16-3-4=9>>9 duck eggs a day.
She makes 9 * 2 = $<<9*2=18>>18 every day at the market.
A: 18`

func TestSteps(t *testing.T) {
	tests := []struct {
		name, output, reference string
		want                    []string // judgment and candidate steps, one a reference step
		extras                  []string
		verdict                 judge.Verdict
	}{
		{name: "identical", output: ducks, reference: ducks,
			want: []string{"CORRECT [1]", "CORRECT [2]", "CORRECT [3]"}, verdict: judge.Pass},
		{name: "identical, one step", output: "It is void.", reference: "It is void.\n", want: []string{"CORRECT [1]"}, verdict: judge.Pass},
		{name: "numbered and marked otherwise", output: "1. Janet sells 16 - 3 - 4 = 9 duck eggs a day.\n2. She makes 9 * 2 = $18 every day at the market.\n3. Answer: $18.00", reference: ducks,
			want: []string{"CORRECT [1]", "CORRECT [2]", "CORRECT [3]"}, verdict: judge.Pass},
		{name: "same calculations", output: "What is left over is 16-3-4=9.\nSo that brings in 2*9=18 dollars.\n#### 18", reference: ducks,
			want: []string{"EQUIVALENT [1]", "EQUIVALENT [2]", "CORRECT [3]"}, verdict: judge.Pass},
		{name: "two calculations in one step", output: "What is left over is 16-3-4=9, which brings in 2*9=18 dollars.\n#### 18", reference: ducks,
			want: []string{"EQUIVALENT [1]", "EQUIVALENT [1]", "CORRECT [2]"}, verdict: judge.Pass},
		{name: "another way", output: "Janet uses 3 + 4 = 7 duck eggs.\n16 - 7 = 9 are left, and 2*9=18.\nA: 18", reference: ducks,
			want: []string{"PARTIALLY_CORRECT [1]", "EQUIVALENT [2]", "CORRECT [3]"}, verdict: judge.Borderline},
		{name: "wrong answer", output: "She eats all of them.\nA: 0", reference: ducks,
			want: []string{"MISSING []", "MISSING []", "INCORRECT [2]"}, extras: []string{"1 EXTRA_VALID"}, verdict: judge.Fail},
		{name: "right answer, wrong sum", output: "Janet sells 16 - 3 - 4 = 8 duck eggs a day.\nShe makes 9 * 2 = $18 every day at the market.\nA: 18", reference: ducks,
			want: []string{"INCORRECT [1]", "CORRECT [2]", "CORRECT [3]"}, verdict: judge.Borderline},
		{name: "a wrong sum besides", output: ducks[:strings.LastIndex(ducks, "\n")] + "\nBy the way, 2 + 2 = 5.\nA: 18", reference: ducks,
			want: []string{"CORRECT [1]", "CORRECT [2]", "CORRECT [4]"}, extras: []string{"3 EXTRA_ERRONEOUS"}, verdict: judge.Borderline},
		{name: "answer rounded", output: "So it is.\nA: 6.67", reference: "Twenty by three.\nA: 6.6667",
			want: []string{"MISSING []", "MISSING []"}, extras: []string{"1 EXTRA_VALID", "2 EXTRA_VALID"}, verdict: judge.Borderline},
		{name: "answer in another unit", output: "So it is.\nA: 120", reference: "Twice an hour.\nA: 2",
			want: []string{"MISSING []", "MISSING []"}, extras: []string{"1 EXTRA_VALID", "2 EXTRA_VALID"}, verdict: judge.Borderline},
		{name: "number changed", output: "The buyer must give notice within 60 days of delivery.\nSo the claim is late.", reference: "The buyer must give notice within 30 days of delivery.\nSo the claim is late.",
			want: []string{"INCORRECT [1]", "CORRECT [2]"}, verdict: judge.Borderline},
		{name: "negation put in", output: "The clause does not bind the buyer at all.\nSo the claim is late.", reference: "The clause does bind the buyer at all.\nSo the claim is late.",
			want: []string{"INCORRECT [1]", "CORRECT [2]"}, verdict: judge.Borderline},
		{name: "nothing but the answer", output: "A: 18", reference: "#### 18", want: []string{"CORRECT [1]"}, verdict: judge.Borderline},
		{name: "answer cut off", output: "Janet sells 16 - 3 - 4 = 9 duck eggs a day.", reference: ducks,
			want: []string{"CORRECT [1]", "MISSING []", "MISSING []"}, verdict: judge.Borderline},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			trace := judge.Trace{ID: "t", Question: "q", Output: tt.output, Reference: tt.reference}
			given := report(t, "steps", trace)
			var r struct {
				Alignments []struct {
					Steps    []int  `json:"candidate_step_indices"`
					Judgment string `json:"alignment_judgment"`
				} `json:"step_alignments"`
				Extras []struct {
					Step  int    `json:"candidate_step_index"`
					Class string `json:"classification"`
				} `json:"unaligned_candidate_steps"`
			}
			if err := json.Unmarshal(given.Report, &r); err != nil {
				t.Fatal(err)
			}
			var got, extras []string
			for _, a := range r.Alignments {
				got = append(got, fmt.Sprint(a.Judgment, " ", a.Steps))
			}
			for _, x := range r.Extras {
				extras = append(extras, fmt.Sprint(x.Step, " ", x.Class))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("alignments (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.extras, extras); diff != "" {
				t.Errorf("unaligned (-want +got):\n%s", diff)
			}
			if got := verdict(t, "steps", trace, given); got != tt.verdict {
				t.Errorf("verdict = %s (%s), want %s", got, given.Explanation, tt.verdict)
			}
			if got := verdict(t, "steps-comparison", trace, report(t, "steps-comparison", trace)); got != tt.verdict {
				t.Errorf("verdict of steps-comparison = %s, want %s", got, tt.verdict)
			}
		})
	}
}

// verdict of a report as the harness would give it.
func verdict(t *testing.T, name string, trace judge.Trace, given judge.Given) judge.Verdict {
	t.Helper()
	if given.NoReport {
		return judge.Borderline
	}
	j := named(t, name)
	reading, err := j.Read(given.Report, &trace)
	if err != nil {
		t.Fatal(err)
	}
	return j.Band.Verdict(reading.Score, reading.Critical, given.Undecided)
}

func TestStepsComparison(t *testing.T) {
	trace := judge.Trace{ID: "t", Question: "q", Reference: ducks,
		Output: "Janet sells 16 - 3 - 4 = 9 duck eggs a day.\nThis is nothing like it.\nIt brings in 2 * 9 = 18.\nA: 20"}
	given := report(t, "steps-comparison", trace)
	var r struct {
		Comparisons []struct {
			Number           int
			Reference, Model *string
			Match            string `json:"match_type"`
		} `json:"step_comparisons"`
	}
	if err := json.Unmarshal(given.Report, &r); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range r.Comparisons {
		got = append(got, c.Match)
	}
	want := []string{"exact_match", "logical_equivalent", "contradiction", "extra_step"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
	// Every reference step is there, and one more: this contract calls that
	// flawed, so a person decides.
	trace.Output = strings.Replace(trace.Output, "A: 20", "A: 18", 1)
	if given := report(t, "steps-comparison", trace); !given.Undecided {
		t.Error("an extra step is decided, want a person")
	}
}

func TestStepsWithoutStepsOrWithTooMany(t *testing.T) {
	for name, trace := range map[string]judge.Trace{
		"no reference step": {Output: "A.\nB.", Reference: " \n"},
		"too many":          {Output: strings.Repeat("So.\n", 10_001), Reference: "So."},
	} {
		for _, j := range []string{"steps", "steps-comparison"} {
			if given := report(t, j, trace); !given.NoReport || given.Explanation == "" {
				t.Errorf("%s, %s: a report, want none and an explanation", name, j)
			}
		}
	}
}

// Whatever the texts are, a report holds every check of its judge, the soft ones
// too, and a pass is never given to an output whose last number is another.
func FuzzSteps(f *testing.F) {
	f.Add(ducks, ducks)
	f.Add("1. 3 + 4 = 8\n2. A: 7", "3 + 4 = 7\nA: 7")
	f.Add("#### -0.5%", "A: 50")
	f.Add("a\nb\nc\na", "c\na\na\n1. 2 + 2 = 4\n\nAnswer: (D)")
	f.Add("Answer: 1,000", "A: $1000.")
	f.Fuzz(func(t *testing.T, output, reference string) {
		if !utf8.ValidString(output) || !utf8.ValidString(reference) || strings.TrimSpace(output) == "" || strings.TrimSpace(reference) == "" {
			t.Skip("a trace file with it is refused")
		}
		trace := judge.Trace{ID: "t", Question: "q", Output: output, Reference: reference}
		for _, name := range []string{"steps", "steps-comparison"} {
			report(t, name, trace)
		}
	})
}

func BenchmarkSteps(b *testing.B) {
	var out, ref strings.Builder
	for i := range 20 {
		fmt.Fprintf(&out, "Step %d: She then pays for %d more of them, and so %d * 3 = %d dollars are gone from what she had.\n", i+1, i, i, 3*i)
		fmt.Fprintf(&ref, "The next %d of them cost 3 dollars each, together %d * 3 = %d.\n", i, i, 3*i)
	}
	t := judge.Trace{Question: "q", Output: out.String() + "A: 18", Reference: ref.String() + "#### 18"}
	j := judge.Judge{Name: "steps"}
	b.SetBytes(int64(len(t.Output) + len(t.Reference)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := (rules.Engine{}).Report(b.Context(), &j, &t, judge.Planned{}); err != nil {
			b.Fatal(err)
		}
	}
}
