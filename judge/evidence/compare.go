package evidence

import "strings"

// MissingNumbers are those of want that have does not say: no number of the
// same value and, where both name one, the same unit. A year is said by a date
// in it. Spelled numbers are not asked for, but they answer: "seven" in have
// says the 7 of want.
func MissingNumbers(want, have []Number) []Number {
	var missing []Number
	for _, w := range want {
		if !w.Spelled && !said(w, have) {
			missing = append(missing, w)
		}
	}
	return missing
}

// ChangedNumbers compares a quotation with the passage that it quotes: the
// numbers of either that the other does not say, spelled ones too.
func ChangedNumbers(quote, passage []Number) []Number {
	var changed []Number
	for _, n := range quote {
		if !saidAlike(n, passage) {
			changed = append(changed, n)
		}
	}
	for _, n := range passage {
		if !saidAlike(n, quote) {
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

// saidAlike is said for a quotation: the units must be equal.
func saidAlike(w Number, have []Number) bool {
	for _, h := range have {
		if w.Value == h.Value && w.Unit == h.Unit {
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
	used := make([]bool, len(y))
next:
	for _, n := range x {
		for i, m := range y {
			if !used[i] && n.Word == m.Word {
				used[i] = true
				continue next
			}
		}
		return false
	}
	return true
}
