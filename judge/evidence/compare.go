package evidence

import "strings"

// MissingNumbers are those of want that have does not say: no number of the
// same value and, where both name one, the same unit. A year is said by a date
// in it. Spelled numbers are not asked for, but they answer: "seven" in have
// says the 7 of want.
func MissingNumbers(want, have []Number) []Number {
	says := func(w Number) bool { return said(w, have) }
	if len(want)*len(have) > 1024 { // long texts: neither is read again for each number
		says = IndexNumbers(have).Says
	}
	var missing []Number
	for _, w := range want {
		if !w.Spelled && !says(w) {
			missing = append(missing, w)
		}
	}
	return missing
}

// ChangedNumbers compares a quotation with the passage that it quotes: the
// numbers of either that the other does not say, spelled ones too.
func ChangedNumbers(quote, passage []Number) []Number {
	type amount struct{ value, unit string } // for a quotation the units must be equal
	amounts := func(list []Number) map[amount]bool {
		set := make(map[amount]bool, len(list))
		for _, n := range list {
			set[amount{n.Value, n.Unit}] = true
		}
		return set
	}
	var changed []Number
	inPassage, inQuote := amounts(passage), amounts(quote)
	for _, n := range quote {
		if !inPassage[amount{n.Value, n.Unit}] {
			changed = append(changed, n)
		}
	}
	for _, n := range passage {
		if !inQuote[amount{n.Value, n.Unit}] {
			changed = append(changed, n)
		}
	}
	return changed
}

func said(w Number, have []Number) bool {
	for _, h := range have {
		switch {
		case w.Unit == "date" && h.Unit == "date":
			if sameDate(w.Value, h.Value) {
				return true
			}
		case h.Unit == "date" && w.Unit == "":
			y, _, d := dateParts(h.Value)
			if w.Value == y || d != "" && w.Value == canonical(d) {
				return true
			}
		case w.Value == h.Value && (w.Unit == h.Unit || w.Unit == "" || h.Unit == "" || perUnit(w.Unit, h.Unit)):
			return true
		}
	}
	return false
}

// perUnit tells mg from mg/kg: the same unit where only one says "per".
func perUnit(a, b string) bool {
	return strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// SameNegations tells whether two texts hold the same negations, whatever
// their order.
func SameNegations(a, b string) bool {
	x, y := Negations(a), Negations(b)
	if len(x) != len(y) {
		return false
	}
	left := map[string]int{}
	for _, n := range x {
		left[n.Word]++
	}
	for _, n := range y {
		if left[n.Word]--; left[n.Word] < 0 {
			return false
		}
	}
	return true
}
