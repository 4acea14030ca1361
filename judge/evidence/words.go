package evidence

import (
	"unicode"
	"unicode/utf8"
)

// word is a word, or a sign that changes what is said (%, $, <, …), of a
// folded text.
type word struct {
	start, end int32 // in the folded text
	hash       uint32
}

const (
	hashBasis = 2166136261 // FNV-1a, 32 bits
	hashPrime = 16777619
)

// Classes of characters in words.
const (
	gap    = iota // parts words
	letter        // makes words, with digits
	digit
	joiner // . , ' inside a word
	sign   // is a word by itself
)

var asciiClass = func() (t [utf8.RuneSelf]uint8) {
	for c := range t {
		switch r := rune(c); {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r == '_':
			t[c] = letter
		case r >= '0' && r <= '9':
			t[c] = digit
		case r == '.', r == ',', r == '\'':
			t[c] = joiner
		case r == '%', r == '$', r == '<', r == '>', r == '=', r == '+', r == '#':
			t[c] = sign
		}
	}
	return t
}()

func classOf(r rune) uint8 {
	if r < utf8.RuneSelf {
		return asciiClass[r]
	}
	switch {
	case aloneScript(r):
		return sign
	case unicode.IsLetter(r), unicode.IsMark(r):
		return letter
	case unicode.IsNumber(r):
		return digit
	}
	switch r {
	case '€', '£', '¥', '§', '°', '±', '×', '÷', '≤', '≥', '≠', '≈':
		return sign
	}
	return gap
}

// aloneScript tells scripts that put no spaces between words: each of their
// characters counts as a word.
func aloneScript(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana,
		unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// splitWords cuts a folded text into words.
func splitWords(folded string, into []word) []word {
	for i := 0; i < len(folded); {
		size, class := classAt(folded, i)
		switch class {
		case gap, joiner:
			i += size
			continue
		case sign:
			into = append(into, word{int32(i), int32(i + size), hashOf(folded[i : i+size])})
			i += size
			continue
		}
		start, h := i, uint32(hashBasis)
		prev := class
		for i < len(folded) {
			c := folded[i]
			if k := asciiClass[c&0x7f]; c < utf8.RuneSelf && (k == letter || k == digit) {
				h = (h ^ uint32(c)) * hashPrime
				prev = k
				i++
				continue
			}
			n, k := classAt(folded, i)
			if k == joiner && i+1 < len(folded) {
				_, next := classAt(folded, i+1)
				// 1,000.5 is one word; so is don't.
				inNumber := c != '\'' && prev == digit && next == digit
				inWord := c == '\'' && prev == letter && next == letter
				if !inNumber && !inWord {
					break
				}
			} else if k != letter && k != digit {
				break
			}
			for _, b := range []byte(folded[i : i+n]) {
				h = (h ^ uint32(b)) * hashPrime
			}
			prev = k
			i += n
		}
		into = append(into, word{int32(start), int32(i), h})
	}
	return into
}

func classAt(s string, i int) (size int, class uint8) {
	if c := s[i]; c < utf8.RuneSelf {
		return 1, asciiClass[c]
	}
	r, size := utf8.DecodeRuneInString(s[i:])
	return size, classOf(r)
}

func hashOf(s string) uint32 {
	h := uint32(hashBasis)
	for i := range len(s) {
		h = (h ^ uint32(s[i])) * hashPrime
	}
	return h
}

// countWords counts the words of a text up to a limit.
func countWords(s string, limit int) int {
	n, inside := 0, false
	for _, r := range s {
		switch classOf(r) {
		case letter, digit:
			if !inside {
				n++
			}
			inside = true
		case sign:
			if aloneScript(r) {
				n++
			}
			inside = false
		case joiner:
		default:
			inside = false
		}
		if n >= limit {
			return n
		}
	}
	return n
}
