package rules

import (
	"regexp"
	"strings"

	"github.com/countersign/countersign/judge/evidence"
)

// answerMark is what solutions put before their final answer: "#### 18",
// "Answer: 18", "A: $18", "The answer is 18."
var answerMark = regexp.MustCompile(`(?i)(?:####|\b(?:final answer|answer|a)\b\s*(?:is\s*:?|:|=))\s*(.+)$`)

// numberAlone is a number with nothing but signs of currency, emphasis,
// brackets or per cent around it.
var numberAlone = regexp.MustCompile(`^[*_\\(\[{"'\s]*[$€£]?\s*([-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?)\s*(%?)[*_\\)\]}"'.\s]*$`)

// answer is the final answer of a solution.
type answer struct {
	text    string // as the last line gives it, without its mark
	marked  bool   // the line says that it is the answer
	alone   bool   // the last step is the answer and nothing else
	number  float64
	numeric bool // a number and nothing else
	percent bool
	places  int // decimals
}

// answerOf reads the last line of a solution, of which steps are the steps.
func answerOf(text string, steps []evidence.Step) answer {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	a := answer{text: last}
	mark := 0
	if m := answerMark.FindStringSubmatchIndex(last); m != nil {
		a.text, a.marked, mark = last[m[2]:m[3]], true, m[0]
	}
	if m := numberAlone.FindStringSubmatch(a.text); m != nil {
		plain := strings.NewReplacer("−", "-", "+", "").Replace(m[1])
		sign := 1.0
		if rest, ok := strings.CutPrefix(plain, "-"); ok {
			plain, sign = rest, -1
		}
		if run := scan(plain); len(run) == 1 && run[0].kind == number {
			a.numeric, a.number, a.percent, a.places = true, sign*run[0].value, m[2] != "", run[0].decimals
		}
	}
	if n := len(steps); n > 0 {
		own := strings.TrimSpace(stepLabel.ReplaceAllString(last[:mark], ""))
		a.alone = (a.marked || a.numeric) && own == "" && !strings.Contains(strings.TrimSpace(steps[n-1].Text), "\n")
	}
	return a
}

// How two final answers compare.
const (
	answersOpen   = iota // text cannot tell
	answersSame          //
	answersDiffer        // numbers that no rounding, sign or unit makes the same
)

// compareAnswers compares final answers. match is what a report says:
// numbers are equal or not, whatever a rounding may explain.
func compareAnswers(a, b answer) (result int, match bool) {
	if a.numeric && b.numeric {
		switch {
		case near(a.number, b.number):
			if a.percent != b.percent {
				return answersOpen, true
			}
			return answersSame, true
		case a.percent != b.percent, a.places+b.places > 0 && close(a.number, b.number, 0.02),
			near(a.number, -b.number):
			return answersOpen, false
		}
		for _, unit := range []float64{60, 100, 1000} {
			if near(a.number*unit, b.number) || near(a.number, b.number*unit) {
				return answersOpen, false
			}
		}
		return answersDiffer, false
	}
	if a.marked && b.marked && formOf(a.text).same(formOf(b.text)) {
		return answersSame, true
	}
	return answersOpen, false
}
