package evidence

import "strings"

// isoOrSlashDate reads 2020-01-31.
func (s *numberScanner) isoOrSlashDate(i int) (Number, bool) {
	t := s.text
	if i+10 > len(t) || t[i+4] != '-' || t[i+7] != '-' || i+10 < len(t) && isDigit(t[i+10]) {
		return Number{}, false
	}
	for k, c := range []byte(t[i : i+10]) {
		if k != 4 && k != 7 && !isDigit(c) {
			return Number{}, false
		}
	}
	return Number{Value: t[i : i+10], Unit: "date", Start: i, End: i + 10}, true
}

// dayFirst reads "31 January 2020" and "31st of January", the day read.
func (s *numberScanner) dayFirst(start, end int, day string) (Number, bool) {
	t := s.text
	if len(day) > 2 || s.afterWord(start) {
		return Number{}, false
	}
	i := ordinalEnd(t, end)
	if i >= len(t) || t[i] != ' ' {
		return Number{}, false
	}
	i++
	if strings.HasPrefix(t[i:], "of ") {
		i += 3
	}
	e := wordEnd(t, i)
	if e-i < 3 || e-i > 9 {
		return Number{}, false
	}
	m := months[strings.ToLower(t[i:e])]
	// "may" after a number is more often the verb.
	if m == "" || t[i] >= 'a' && t[i] <= 'z' && m == "05" {
		return Number{}, false
	}
	year, e := s.yearAt(e)
	return Number{Value: year + "-" + m + "-" + twoDigits(day), Unit: "date", Start: start, End: e}, true
}

// monthFirst reads "January 31, 2020", "Jan 24" and "January 2020". A month
// alone is no number.
func (s *numberScanner) monthFirst(start, end int, month string) bool {
	t := s.text
	i := end
	if i < len(t) && t[i] == '.' {
		i++
	}
	if i >= len(t) || t[i] != ' ' || t[start] >= 'a' && t[start] <= 'z' && month == "05" {
		return false
	}
	if year, e := s.yearAt(end); year != "-" {
		s.add(Number{Value: year + "-" + month, Unit: "date", Start: start, End: e})
		return true
	}
	i++
	e := i
	for e < len(t) && isDigit(t[e]) {
		e++
	}
	if e == i || e-i > 2 {
		return false
	}
	day := t[i:e]
	e = ordinalEnd(t, e)
	year, e := s.yearAt(e)
	s.add(Number{Value: year + "-" + month + "-" + twoDigits(day), Unit: "date", Start: start, End: e})
	return true
}

// yearAt reads " 2020" or ", 2020" at i; "-" and i when there is none.
func (s *numberScanner) yearAt(i int) (year string, end int) {
	t := s.text
	k := i
	for k < len(t) && k-i < 2 && (t[k] == ',' || t[k] == '.' || t[k] == ' ') {
		k++
	}
	if k == i || k+4 > len(t) || !isDigit(t[k]) || !threeDigits(t, k+1) {
		return "-", i
	}
	return t[k : k+4], k + 4
}

func ordinalEnd(t string, i int) int {
	if i+2 <= len(t) {
		switch t[i : i+2] {
		case "st", "nd", "rd", "th":
			return i + 2
		}
	}
	return i
}

func twoDigits(day string) string {
	if len(day) == 1 {
		return "0" + day
	}
	return day
}

// sameDate tells whether a date is said by another: each part that a names, b
// names the same.
func sameDate(a, b string) bool {
	ay, am, ad := dateParts(a)
	by, bm, bd := dateParts(b)
	return (ay == "" || ay == by) && (am == "" || am == bm) && (ad == "" || ad == bd)
}

func dateParts(v string) (year, month, day string) {
	if rest, ok := strings.CutPrefix(v, "--"); ok {
		month, day, _ = strings.Cut(rest, "-")
		return "", month, day
	}
	year, rest, _ := strings.Cut(v, "-")
	month, day, _ = strings.Cut(rest, "-")
	return year, month, day
}
