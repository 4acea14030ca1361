package evidence_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge/evidence"
)

func TestFinalAnswer(t *testing.T) {
	number := func(text string, n float64, decimals int) evidence.Answer {
		return evidence.Answer{Text: text, Numeric: true, Number: n, Decimals: decimals}
	}
	marked := func(a evidence.Answer, before string) evidence.Answer {
		a.Marked, a.Before = true, before
		return a
	}
	percent := number("12.5 %", 12.5, 1)
	percent.Percent = true
	for text, want := range map[string]evidence.Answer{
		"18":                             number("18", 18, 0),
		"First.\n\n#### 18 ":             marked(number("18", 18, 0), ""),
		"So the answer is $1,234.50.":    marked(number("$1,234.50.", 1234.5, 2), "So the "),
		"3. **Answer:** 5":               marked(number("** 5", 5, 0), "3. **"),
		"3. Final answer: −.5":           marked(number("−.5", -0.5, 1), "3. "),
		"A: +7":                          marked(number("+7", 7, 0), ""),
		"**42**":                         number("**42**", 42, 0),
		"12.5 %":                         percent,
		"The answer is 18 apples":        marked(evidence.Answer{Text: "18 apples"}, "The "),
		"18\nno more than that":          {Text: "no more than that"},
		"$":                              {Text: "$"},
		"-":                              {Text: "-"},
		"1,23":                           {Text: "1,23"},
		"":                               {},
		"Answer: 3.0\nAnswer: (\\ 4 \\)": marked(number("(\\ 4 \\)", 4, 0), ""),
	} {
		if diff := cmp.Diff(want, evidence.FinalAnswer(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}
