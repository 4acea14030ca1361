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

// finalNumber is the final answer of a solution where it is a number and nothing
// else: after a mark of the answer, or alone, in the last line. It would rather
// find none than take a number that is not the answer.
func finalNumber(text string) (float64, bool) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	if m := answerLine.FindStringSubmatch(last); m != nil {
		last = m[1]
	}
	m := plainNumber.FindStringSubmatch(last)
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
