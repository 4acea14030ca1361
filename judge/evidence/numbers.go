package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Number is an amount, date, time, or a word with a digit in it (B12,
// covid-19) in a text.
type Number struct {
	// Value is normalised: 1,000 and "1 thousand" are 1000, .50 is 0.5; a date
	// is 2020-01-31, 2020-01 or --01-31; an identifier is its folded word.
	Value string
	// Unit is normalised ("percent" and "%" are "%"); "date" and "id" mark
	// dates and identifiers; empty: none.
	Unit       string
	Spelled    bool   // written as a word: "seven"
	Text       string // text[Start:End]
	Start, End int
}

// Numbers finds the numbers of a text, in order. Spelled numbers are two to
// ninety-nine: "one" is more often a pronoun. It knows common units; a word
// after a number that is no unit is not part of it.
func Numbers(text string) []Number {
	s := numberScanner{text: text}
	for s.next() {
	}
	return s.found
}

type numberScanner struct {
	text  string
	pos   int
	found []Number
}

// next reads the word at or after pos.
func (s *numberScanner) next() bool {
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case c >= '0' && c <= '9':
			s.digits()
			return true
		case c == '.' && s.pos+1 < len(s.text) && isDigit(s.text[s.pos+1]) && !s.afterWord(s.pos):
			s.digits()
			return true
		case c >= utf8.RuneSelf || asciiClass[c] == letter:
			s.letters()
			return true
		}
		s.pos++
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// afterWord tells whether a letter or digit stands before i.
func (s *numberScanner) afterWord(i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s.text[:i])
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// wordEnd is where the letters that start at i end.
func wordEnd(text string, i int) int {
	for i < len(text) {
		if c := text[i]; c < utf8.RuneSelf {
			if asciiClass[c] != letter {
				return i
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return i
		}
		i += size
	}
	return i
}

// letters reads a word: a month, a spelled number, an identifier, or nothing.
func (s *numberScanner) letters() {
	start := s.pos
	end := wordEnd(s.text, start)
	if end == start { // a sign outside ASCII
		_, size := utf8.DecodeRuneInString(s.text[start:])
		s.pos += size
		return
	}
	s.pos = end
	if end < len(s.text) && (isDigit(s.text[end]) ||
		s.text[end] == '-' && end+1 < len(s.text) && isDigit(s.text[end+1])) {
		if s.identifier(start, end) {
			return
		}
	}
	if end-start < 3 || end-start > 9 {
		return
	}
	w := lookFolded(numberWords, s.text[start:end])
	switch {
	case w == "":
	case w[0] == 'm':
		s.monthFirst(start, end, w[1:])
	default:
		s.spelledNumber(start, end, spelled[w])
	}
}

// numberWords says of a word whether it is a month ("m05") or a spelled number
// (itself): one look-up for each word of a text.
var numberWords = func() map[string]string {
	t := make(map[string]string, len(months)+len(spelled))
	for w, m := range months {
		t[w] = "m" + m
	}
	for w := range spelled {
		t[w] = w
	}
	return t
}()

// identifier reads a word whose letters end at end and go on in digits: B12,
// covid-19, v1.2. A range or a date joined to a word is none.
func (s *numberScanner) identifier(start, end int) bool {
	if currencyCode(s.text[start:end]) {
		return false
	}
	i := end
	for i < len(s.text) {
		c := s.text[i]
		joined := (c == '-' || c == '.') && i+1 < len(s.text) && isDigit(s.text[i+1])
		if !isDigit(c) && asciiClass[c&0x7f] != letter && !joined || c >= utf8.RuneSelf {
			break
		}
		i++
	}
	value := strings.ReplaceAll(strings.ToLower(s.text[start:i]), "-", "")
	s.add(Number{Value: value, Unit: "id", Start: start, End: i})
	return true
}

func (s *numberScanner) add(n Number) {
	n.Text = s.text[n.Start:n.End]
	s.found = append(s.found, n)
	s.pos = max(s.pos, n.End)
}

// digits reads a number that starts with a digit, its sign, currency, scale
// and unit; or a date or time.
func (s *numberScanner) digits() {
	start := s.pos
	if n, ok := s.isoOrSlashDate(start); ok {
		s.add(n)
		return
	}
	whole, end := s.readDigits(start)
	// 10:30, 1.2.3, 12/5: not one number, kept as written.
	if end+1 < len(s.text) && (s.text[end] == ':' || s.text[end] == '.' || s.text[end] == '/') && isDigit(s.text[end+1]) {
		i := end
		for i+1 < len(s.text) && (s.text[i] == ':' || s.text[i] == '.' || s.text[i] == '/') && isDigit(s.text[i+1]) {
			i++
			for i < len(s.text) && isDigit(s.text[i]) {
				i++
			}
		}
		s.add(Number{Value: s.text[start:i], Start: start, End: i})
		return
	}
	if n, ok := s.dayFirst(start, end, whole); ok {
		s.add(n)
		return
	}
	n := Number{Value: canonical(whole), Start: start, End: end}
	n.Start, n.Unit = s.before(start)
	if n.Start < start && s.text[n.Start] == '-' || strings.HasPrefix(s.text[n.Start:start], "−") {
		n.Value = "-" + n.Value
	}
	s.after(&n)
	s.add(n)
}

// readDigits reads digits with thousands separators and a decimal point, and
// gives them without separators.
func (s *numberScanner) readDigits(i int) (digits string, end int) {
	t := s.text
	start := i
	for i < len(t) && isDigit(t[i]) {
		i++
	}
	plain := true
	for {
		size := 0
		switch {
		case i < len(t) && (t[i] == ','):
			size = 1
		case strings.HasPrefix(t[i:], "\u00a0"):
			size = 2
		case strings.HasPrefix(t[i:], "\u202f"), strings.HasPrefix(t[i:], "\u2009"):
			size = 3
		}
		if size == 0 || i-start > 3 && plain || !threeDigits(t, i+size) {
			break
		}
		plain = false
		i += size + 3
	}
	if i+1 < len(t) && t[i] == '.' && isDigit(t[i+1]) {
		i++
		for i < len(t) && isDigit(t[i]) {
			i++
		}
	}
	if plain {
		return t[start:i], i
	}
	return strings.Map(func(r rune) rune {
		if r == '.' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, t[start:i]), i
}

func threeDigits(t string, i int) bool {
	return i+3 <= len(t) && isDigit(t[i]) && isDigit(t[i+1]) && isDigit(t[i+2]) && (i+3 == len(t) || !isDigit(t[i+3]))
}

// canonical takes needless zeros off a decimal.
func canonical(d string) string {
	whole, fraction, _ := strings.Cut(d, ".")
	whole = strings.TrimLeft(whole, "0")
	fraction = strings.TrimRight(fraction, "0")
	if whole == "" {
		whole = "0"
	}
	if fraction == "" {
		return whole
	}
	return whole + "." + fraction
}

// before reads a sign and a currency before a number.
func (s *numberScanner) before(start int) (from int, unit string) {
	i := start
	t := s.text[:i]
	t = strings.TrimSuffix(t, " ")
	for _, c := range currencies {
		if strings.HasSuffix(t, c.sign) && !(c.code && len(t) > len(c.sign) && asciiClass[t[len(t)-len(c.sign)-1]&0x7f] == letter) {
			i, unit = len(t)-len(c.sign), c.unit
			break
		}
	}
	t = s.text[:i]
	for _, minus := range [...]string{"-", "−"} {
		if rest, ok := strings.CutSuffix(t, minus); ok {
			r, _ := utf8.DecodeLastRuneInString(rest)
			if rest == "" || unicode.IsSpace(r) || r == '(' {
				return i - len(minus), unit
			}
		}
	}
	return i, unit
}

// after reads what follows a number: a scale, a unit, an ordinal's ending.
func (s *numberScanner) after(n *Number) {
	t := s.text
	i := n.End
	gap := 0
	for gap < 2 && i+gap < len(t) && (t[i+gap] == ' ' || t[i+gap] == '-') {
		gap++
	}
	end := wordEnd(t, i+gap)
	word := strings.ToLower(t[i+gap : min(end, i+gap+24)])
	if gap == 0 && word != "" {
		switch word {
		case "st", "nd", "rd", "th", "s":
			n.End = end
			return
		}
	}
	if zeros, ok := scales[word]; ok && (gap == 1 || len(word) < 3 && gap == 0) {
		n.Value = shift(n.Value, zeros)
		n.End = end
		i = end
		gap = 0
		for gap < 1 && i < len(t) && t[i] == ' ' {
			gap++
		}
		end = wordEnd(t, i+gap)
		word = strings.ToLower(t[i+gap : min(end, i+gap+24)])
	}
	rest := t[i+gap:]
	switch {
	case strings.HasPrefix(rest, "%"):
		n.Unit, n.End = "%", i+gap+1
		return
	case strings.HasPrefix(rest, "‰"), strings.HasPrefix(rest, "°"):
		_, size := utf8.DecodeRuneInString(rest)
		n.Unit, n.End = rest[:size], i+gap+size
		if e := wordEnd(t, n.End); e-n.End == 1 {
			n.Unit, n.End = n.Unit+strings.ToLower(t[n.End:e]), e
		}
		return
	}
	if word == "per" && strings.HasPrefix(rest[len(word):], " cent") {
		n.Unit, n.End = "%", i+gap+len("per cent")
		return
	}
	unit, ok := units[word]
	switch {
	case ok && (n.Unit == "" || n.Unit == unit):
		n.Unit, n.End = unit, end
		// mg/kg/day, km/h
		for parts := 1; parts < 4 && n.End+1 < len(t) && t[n.End] == '/'; parts++ {
			e := wordEnd(t, n.End+1)
			per, ok := units[strings.ToLower(t[n.End+1:min(e, n.End+25)])]
			if !ok {
				break
			}
			n.Unit, n.End = n.Unit+"/"+per, e
		}
	case gap == 0 && word != "" && !ok:
		// 1a, 12b: an identifier.
		n.Value, n.Unit, n.End = strings.ToLower(t[n.Start:end]), "id", end
	}
}

// shift moves the decimal point of a canonical number to the right.
func shift(value string, zeros int) string {
	whole, fraction, _ := strings.Cut(value, ".")
	for range zeros {
		d := "0"
		if fraction != "" {
			d, fraction = fraction[:1], fraction[1:]
		}
		whole += d
	}
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	return sign + canonical(whole+"."+fraction)
}

// spelledNumber reads "seven", "twenty-one", "two million".
func (s *numberScanner) spelledNumber(start, end, v int) {
	if v >= 20 && v%10 == 0 && end+1 < len(s.text) && (s.text[end] == '-' || s.text[end] == ' ') {
		e := wordEnd(s.text, end+1)
		if u := spelled[strings.ToLower(s.text[end+1:min(e, end+7)])]; u > 0 && u < 10 || strings.EqualFold(s.text[end+1:e], "one") {
			v, end = v+max(1, u), e
		}
	}
	n := Number{Value: itoa(v), Spelled: true, Start: start, End: end}
	s.after(&n)
	if n.Unit == "id" { // a word cannot run into another
		n.Unit, n.End = "", end
	}
	s.add(n)
}

func itoa(v int) string {
	if v >= 10 {
		return string([]byte{byte('0' + v/10), byte('0' + v%10)})
	}
	return string([]byte{byte('0' + v)})
}
