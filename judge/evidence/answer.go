package evidence

import (
	"regexp"
	"strconv"
	"strings"
)

// answerMark is what solutions put before their final answer: "#### 18",
// "Answer: 18", "A: $18", "The answer is 18."
var answerMark = regexp.MustCompile(`(?i)(?:####|\b(?:final answer|answer|a)\b\s*(?:is\s*:?|:|=))\s*(.+)$`)

// numberAlone is a number with nothing but signs of currency, emphasis,
// brackets or per cent around it.
var numberAlone = regexp.MustCompile(`^[*_\\(\[{"'\s]*[$€£]?\s*([-+−]?(?:\d{1,3}(?:,\d{3})+|\d+)?(?:\.\d+)?)\s*(%?)[*_\\)\]}"'.\s]*$`)

// Answer is the final answer of a solution: its last line.
type Answer struct {
	Text   string // without its mark
	Before string // what stands before the mark in that line
	Marked bool   // the line says that it is the answer
	// Numeric: it is a number and nothing else. Only then the next three count. It
	// is rather not than taken from a text that says more.
	Numeric  bool
	Number   float64 // as written: 18% is 18
	Percent  bool
	Decimals int // places after the point, as written
}

// FinalAnswer reads the final answer of a solution.
func FinalAnswer(text string) Answer {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	a := Answer{Text: last}
	if m := answerMark.FindStringSubmatchIndex(last); m != nil {
		a.Text, a.Before, a.Marked = last[m[2]:m[3]], last[:m[0]], true
	}
	m := numberAlone.FindStringSubmatch(a.Text)
	if m == nil {
		return a
	}
	plain := strings.NewReplacer(",", "", "−", "-").Replace(m[1])
	number, err := strconv.ParseFloat(plain, 64)
	if err != nil { // signs without a digit
		return a
	}
	_, decimals, _ := strings.Cut(plain, ".")
	a.Numeric, a.Number, a.Percent, a.Decimals = true, number, m[2] != "", len(decimals)
	return a
}
