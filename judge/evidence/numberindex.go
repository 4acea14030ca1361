package evidence

// NumberIndex answers whether a text says a number without reading its numbers
// again for each question. The zero value says nothing.
type NumberIndex struct {
	units map[string][]string // of each value, different ones
	dates map[[3]string]bool  // each date, whole and with parts left out
	parts map[string]bool     // years, and days of the month, that dates name
}

// IndexNumbers prepares the numbers of a text.
func IndexNumbers(have []Number) NumberIndex {
	x := NumberIndex{units: make(map[string][]string, len(have)), dates: map[[3]string]bool{}, parts: map[string]bool{}}
	type amount struct{ value, unit string }
	seen := make(map[amount]bool, len(have))
	for _, h := range have {
		if a := (amount{h.Value, h.Unit}); seen[a] {
			continue
		} else {
			seen[a] = true
		}
		if h.Unit != "date" {
			x.units[h.Value] = append(x.units[h.Value], h.Unit)
			continue
		}
		year, month, day := dateParts(h.Value)
		for _, y := range []string{"", year} {
			for _, m := range []string{"", month} {
				for _, d := range []string{"", day} {
					x.dates[[3]string{y, m, d}] = true
				}
			}
		}
		x.parts[year] = true
		if day != "" {
			x.parts[canonical(day)] = true
		}
	}
	return x
}

// Missing are those numbers that the text does not say; spelled ones are not
// asked for. It is MissingNumbers for a text that is asked often.
func (x NumberIndex) Missing(want []Number) []Number {
	var missing []Number
	for _, w := range want {
		if !w.Spelled && !x.Says(w) {
			missing = append(missing, w)
		}
	}
	return missing
}

// Says tells whether the text says a number, by the rule of MissingNumbers.
func (x NumberIndex) Says(w Number) bool {
	if w.Unit == "date" {
		year, month, day := dateParts(w.Value)
		return x.dates[[3]string{year, month, day}]
	}
	if w.Unit == "" && x.parts[w.Value] {
		return true
	}
	for _, unit := range x.units[w.Value] {
		if w.Unit == unit || w.Unit == "" || unit == "" || perUnit(w.Unit, unit) {
			return true
		}
	}
	return false
}
