package builtin

import (
	"math"

	"github.com/countersign/countersign/judge/evidence"
)

// CompareAnswers says whether two solutions have the same number as their final
// answer; compared is false unless both are a number and nothing else.
func CompareAnswers(candidate, reference string) (same, compared bool) {
	a, b := evidence.FinalAnswer(candidate), evidence.FinalAnswer(reference)
	compared = a.Numeric && b.Numeric
	return compared && sameNumber(a.Number, b.Number), compared
}

// sameNumber compares answers: equal but for rounding in the last places of a
// double.
func sameNumber(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}
