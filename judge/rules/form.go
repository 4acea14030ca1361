package rules

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/countersign/countersign/judge/evidence"
)

// form is a text taken down to what must be the same in two answers that
// differ in form only.
type form struct {
	text      string
	words     []string // folded, without punctuation and articles
	numbers   []evidence.Number
	negations []evidence.Negation
	signs     string // characters of formulas, in order
	source    *evidence.Source
}

// unmarked takes out emphasis and escapes, which are no signs of a formula.
var unmarked = strings.NewReplacer("**", "", "__", "", "\\", "", " / ", "/")

func formOf(text string) form {
	f := form{
		text: strings.TrimSpace(text), numbers: evidence.Numbers(text), negations: evidence.Negations(text),
		source: evidence.NewSource(text),
	}
	for w := range f.source.Words() {
		if w != "a" && w != "an" && w != "the" {
			f.words = append(f.words, w)
		}
	}
	if strings.ContainsFunc(text, unicode.IsDigit) || strings.ContainsAny(text, "=^") {
		f.signs = strings.Map(func(r rune) rune {
			if strings.ContainsRune("^*/|~!<>=+≤≥≠±×÷√", r) {
				return r
			}
			return -1
		}, unmarked.Replace(text))
	}
	return f
}

// same tells whether two texts differ in form only.
func (f form) same(g form) bool {
	if len(f.words) == 0 || f.signs != g.signs ||
		!slices.EqualFunc(f.numbers, g.numbers, func(a, b evidence.Number) bool {
			return a.Value == b.Value && a.Unit == b.Unit
		}) {
		return false
	}
	// Equal numbers may be written in different ways; where a negation stands
	// must be the same.
	return slices.Equal(f.words, g.words) ||
		len(f.numbers) > 0 && len(f.negations)+len(g.negations) == 0 && slices.Equal(f.bare(), g.bare())
}

// bare are the words of a text that are in no number and no negation.
func (f form) bare() []string {
	// Words, numbers and negations are all in the order of the text.
	n, g := 0, 0
	covered := func(sp evidence.Span) bool {
		for n < len(f.numbers) && f.numbers[n].End <= sp.Start {
			n++
		}
		for g < len(f.negations) && f.negations[g].End <= sp.Start {
			g++
		}
		return n < len(f.numbers) && f.numbers[n].Start < sp.End || g < len(f.negations) && f.negations[g].Start < sp.End
	}
	var out []string
	for w, sp := range f.source.Words() {
		// Forms of "do" come and go with "not".
		if !covered(sp) && w != "a" && w != "an" && w != "the" && w != "do" && w != "does" && w != "did" {
			out = append(out, w)
		}
	}
	return out
}

// changedFrom says what numbers or negations differ between an output and
// references that have the same words otherwise. Empty when nothing does, or
// when one of the references may be met in a way that text does not show.
func changedFrom(output form, alternatives []form) []string {
	bare := output.bare()
	var least []string
	for _, alt := range alternatives {
		if output.signs != alt.signs || !slices.Equal(bare, alt.bare()) {
			continue
		}
		changed, sure := changes(output, alt)
		if !sure || len(changed) == 0 {
			return nil
		}
		if least == nil || len(changed) < len(least) {
			least = changed
		}
	}
	return least
}

// changes lists the differences in numbers and negations. sure is false when a
// difference may be one of form: another unit, a rounding, a missing part.
func changes(f, ref form) (changed []string, sure bool) {
	if len(f.numbers) != len(ref.numbers) {
		return nil, false
	}
	for i, n := range f.numbers {
		r := ref.numbers[i]
		switch {
		case n.Value == r.Value && n.Unit == r.Unit:
		case n.Value == r.Value && n.Unit != "" && r.Unit != "", n.Unit == r.Unit && !rounds(n.Value, r.Value) && !rounds(r.Value, n.Value):
			changed = append(changed, fmt.Sprintf("“%s” instead of “%s”", n.Text, r.Text))
		default:
			return nil, false
		}
	}
	if a, b := len(f.negations), len(ref.negations); a != b {
		// Two negations may cancel out: only one against none is plain.
		if a+b != 1 {
			return nil, false
		}
		which := "the output"
		if b > a {
			which = "the reference"
		}
		changed = append(changed, "a negation that only "+which+" has")
	}
	return changed, true
}

// rounds tells whether decimal a may be b with fewer decimals or figures, or a
// part of a date that b gives whole.
func rounds(a, b string) bool {
	if strings.HasPrefix(b, a) && (strings.Contains(b, ".") || strings.Contains(b, "-")) {
		return true
	}
	whole, fraction, found := strings.Cut(b, ".")
	if !found {
		return false
	}
	_, short, _ := strings.Cut(a, ".")
	if len(short) >= len(fraction) {
		return false
	}
	// Round b up at the length of a.
	digits := []byte(whole + fraction[:len(short)])
	if fraction[len(short)] < '5' {
		return false // rounding down keeps the digits: a prefix, seen above
	}
	for i := len(digits) - 1; ; i-- {
		if i < 0 {
			digits = append([]byte{'1'}, digits...)
			break
		}
		if digits[i] == '-' {
			digits = slices.Insert(digits, i+1, '1')
			break
		}
		if digits[i] != '9' {
			digits[i]++
			break
		}
		digits[i] = '0'
	}
	rounded := string(digits[:len(digits)-len(short)])
	if short != "" {
		rounded += "." + string(digits[len(digits)-len(short):])
	}
	return rounded == a
}

const (
	// longestContained is the longest reference, in words, that an output may
	// answer by containing it.
	longestContained = 12
)

// contains tells whether an output holds a short reference whole, with the
// same numbers, in a sentence without a negation.
func (f form) contains(ref form) bool {
	if len(ref.words) == 0 || len(ref.words) > longestContained {
		return false
	}
	m := f.source.LocateNear(strings.Join(ref.words, " "))
	if m.Kind != evidence.Exact {
		if m = f.source.LocateNear(ref.text); m.Kind != evidence.Exact {
			return false
		}
	}
	text := f.source.Text()
	if joined(text[m.End:]) || m.Start > 0 && joined(text[m.Start-1:]) {
		return false
	}
	around := f.source.Sentences(m.Start, m.End)
	outside := text[around.Start:m.Start] + " " + text[m.End:around.End]
	return len(evidence.Negations(outside)) == 0
}

// joined tells whether a text begins in a sign that makes one thing of what
// stands on its two sides: C++, non-smoker, 5/6.
func joined(s string) bool {
	return s != "" && strings.IndexByte("+#%$*^/-=<>_&@", s[0]) >= 0
}
