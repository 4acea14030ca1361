package evidence

import "strings"

// Altered says what of a near quotation is changed in a way that changes what is
// said: a number that the passage has not (or not in that order, or not with
// that unit), a unit, or a negation put in or left out. Empty: nothing is. What
// a quotation leaves out where it shows an ellipsis is its own affair, except a
// negation of up to three words. Other words may be changed too: Altered does
// not know what they mean.
func Altered(quote string, s *Source, m Match) string {
	passage := s.text[m.Start:m.End]
	if changed := FirstChanged(Numbers(quote), Numbers(passage)); changed != "" {
		return "the number " + changed
	}
	if unit := changedUnit(m, s); unit != "" {
		return "the unit " + unit
	}
	if !elided(quote) {
		if !SameNegations(quote, passage) {
			return "a negation"
		}
		return ""
	}
	// What an ellipsis leaves out may hold negations of its own, but the words
	// kept may have none that the source has not.
	kept := map[string]bool{}
	for _, n := range Negations(passage) {
		kept[n.Word] = true
	}
	for _, n := range Negations(quote) {
		if !kept[n.Word] {
			return "a negation"
		}
	}
	for _, sp := range m.Omitted {
		if gone := s.text[sp.Start:sp.End]; len(strings.Fields(gone)) <= 3 && len(Negations(gone)) > 0 {
			return "a negation"
		}
	}
	return ""
}

func elided(quote string) bool {
	return strings.Contains(quote, "...") || strings.Contains(quote, "…") || strings.Contains(quote, ". . .")
}

// FirstChanged gives the first number of a quotation that the passage has not,
// with its unit and in the same order, between quotation marks; empty when
// there is none.
func FirstChanged(quote, passage []Number) string {
	k := 0
	for _, q := range quote {
		for k < len(passage) && (passage[k].Value != q.Value || passage[k].Unit != q.Unit) {
			k++
		}
		if k == len(passage) {
			return "“" + q.Text + "”"
		}
		k++
	}
	return ""
}

// changedUnit gives a unit that the quotation has in place of another.
func changedUnit(m Match, s *Source) string {
	var gone map[string]bool // units that the quotation has not; read when first needed
	for _, w := range m.Missing {
		unit := units[w]
		if unit == "" {
			continue
		}
		if gone == nil {
			gone = omittedUnits(m, s)
		}
		if len(gone) > 1 || len(gone) == 1 && !gone[unit] {
			return "“" + w + "”"
		}
	}
	return ""
}

func omittedUnits(m Match, s *Source) map[string]bool {
	gone := map[string]bool{}
	for _, sp := range m.Omitted {
		for word := range strings.FieldsSeq(s.text[sp.Start:sp.End]) {
			if unit := units[Fold(strings.Trim(word, ".,;:()")).Text]; unit != "" {
				gone[unit] = true
			}
		}
	}
	return gone
}
