package builtin

import (
	"math"
	"regexp"
	"strconv"
	"strings"
)

// answerLine finds what a solution marks as its final answer: "#### 18",
// "Answer: 18", "A: $18", "The answer is 18."
var answerLine = regexp.MustCompile(`(?i)(?:####|\b(?:final answer|answer|a)\b\s*(?:is\s*:?|:|=))\s*(.+)$`)

// plainNumber is a number alone, with a sign of currency or a unit of per cent.
var plainNumber = regexp.MustCompile(`^[*_\\(\[{"'\s]*[$€£]?\s*([-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?)\s*%?[*_\\)\]}"'.\s]*$`)

// FinalAnswer is what the last line of a solution gives as its answer: what stands
// after a mark of the answer, else the whole line.
func FinalAnswer(text string) string {
	text = strings.TrimSpace(text)
	last := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	if m := answerLine.FindStringSubmatch(last); m != nil {
		return m[1]
	}
	return last
}

// CompareAnswers says whether two solutions have the same number as their final
// answer; compared is false unless both are a number and nothing else.
func CompareAnswers(candidate, reference string) (same, compared bool) {
	a, ok1 := finalNumber(candidate)
	b, ok2 := finalNumber(reference)
	return ok1 && ok2 && sameNumber(a, b), ok1 && ok2
}

// finalNumber is the final answer of a solution where it is a number and nothing
// else: after a mark of the answer, or alone, in the last line. It would rather
// find none than take a number that is not the answer.
func finalNumber(text string) (float64, bool) {
	m := plainNumber.FindStringSubmatch(FinalAnswer(text))
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseFloat(strings.NewReplacer(",", "", "−", "-").Replace(m[1]), 64)
	return n, err == nil
}

// sameNumber compares answers: equal but for rounding in the last places of a
// double.
func sameNumber(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}
