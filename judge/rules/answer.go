package rules

import (
	"strings"

	"github.com/countersign/countersign/judge/evidence"
)

// answer is the final answer of a solution.
type answer struct {
	evidence.Answer
	alone bool // the last step is the answer and nothing else
}

// answerOf reads the last line of a solution, of which steps are the steps.
func answerOf(text string, steps []evidence.Step) answer {
	a := answer{Answer: evidence.FinalAnswer(text)}
	if n := len(steps); n > 0 {
		own := strings.TrimSpace(stepLabel.ReplaceAllString(a.Before, ""))
		a.alone = (a.Marked || a.Numeric) && own == "" && !strings.Contains(strings.TrimSpace(steps[n-1].Text), "\n")
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
	if a.Numeric && b.Numeric {
		switch {
		case near(a.Number, b.Number):
			if a.Percent != b.Percent {
				return answersOpen, true
			}
			return answersSame, true
		case a.Percent != b.Percent, a.Decimals+b.Decimals > 0 && close(a.Number, b.Number, 0.02),
			near(a.Number, -b.Number):
			return answersOpen, false
		}
		for _, unit := range []float64{60, 100, 1000} {
			if near(a.Number*unit, b.Number) || near(a.Number, b.Number*unit) {
				return answersOpen, false
			}
		}
		return answersDiffer, false
	}
	if a.Marked && b.Marked && formOf(a.Text).same(formOf(b.Text)) {
		return answersSame, true
	}
	return answersOpen, false
}
