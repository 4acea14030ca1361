// Package fold takes the differences out of texts that do not change their words,
// so that two copies of a text compare equal. It never changes what a text says,
// and always knows where in the original each byte came from.
package fold

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Span is a half-open range of bytes [Start, End) of a text. Both ends lie on
// rune boundaries.
type Span struct{ Start, End int }

// Of is the text of the span. It panics when the span is not inside text, as
// a slice expression does.
func (s Span) Of(text string) string { return text[s.Start:s.End] }

// Len is the length of the span in bytes.
func (s Span) Len() int { return s.End - s.Start }

// Folded is a text with the differences taken out that do not change its
// words: Unicode compatibility forms (NFKC), case, kinds of quotation mark and
// dash, runs of white space (one space), and invisible characters. It
// remembers where each of its bytes came from.
type Folded struct {
	Text string
	// at[i] is where, in the original, the piece starts that gave byte i of
	// Text; at[len(Text)] is the length of the original.
	at []int32
}

// Text folds a text. Invalid UTF-8 becomes U+FFFD, byte by byte. Texts of
// 2 GiB and more are not supported.
func Text(text string) Folded {
	// Most texts do not grow when folded; one that does (NFKC can make three
	// letters of one) goes on in slices that grow.
	out := make([]byte, len(text))
	at := make([]int32, len(text)+1)
	n, i := 0, 0
	space := false // out ends in a space
	for i < len(text) {
		c := text[i]
		if c >= utf8.RuneSelf || i+1 < len(text) && text[i+1] >= utf8.RuneSelf {
			break
		}
		k := asciiFold[c]
		if k > ' ' {
			out[n], at[n] = k, int32(i)
			n, space = n+1, false
		} else if k == ' ' && !space {
			out[n], at[n] = ' ', int32(i)
			n, space = n+1, true
		}
		i++
	}
	out, at = out[:n], at[:n]
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf && (i+1 == len(text) || text[i+1] < utf8.RuneSelf) {
			if k := asciiFold[c]; k > ' ' || k == ' ' && (len(out) == 0 || out[len(out)-1] != ' ') {
				out, at = append(out, k), append(at, int32(i))
			}
			i++
			continue
		}
		size := segment(text[i:])
		out, at = foldSegment(out, at, text[i:i+size], int32(i))
		i += size
	}
	at = append(at, int32(len(text)))
	return Folded{Text: string(out), at: at}
}

// segment is the length of the first piece of s that NFKC may change as one.
func segment(s string) int {
	if r, size := utf8.DecodeRuneInString(s); r == utf8.RuneError && size == 1 {
		return 1
	}
	n := norm.NFKC.NextBoundaryInString(s, true)
	if n <= 0 {
		n = len(s)
	}
	// An invalid byte inside a segment starts a piece of its own.
	for i := 0; i < n; {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return n
}

func foldSegment(out []byte, at []int32, seg string, from int32) ([]byte, []int32) {
	piece := seg
	if !norm.NFKC.IsNormalString(seg) {
		piece = norm.NFKC.String(seg)
	}
	for _, r := range piece {
		r = foldRune(r)
		switch {
		case r < 0:
			continue
		case r == ' ':
			if len(out) > 0 && out[len(out)-1] == ' ' {
				continue
			}
		}
		before := len(out)
		out = utf8.AppendRune(out, r)
		for range len(out) - before {
			at = append(at, from)
		}
	}
	return out, at
}

// foldRune gives the folded rune, or -1 for one that is invisible.
func foldRune(r rune) rune {
	switch r {
	case '‘', '’', '‚', '‛', '′', '`', '´', '\'':
		return '\''
	case '“', '”', '„', '‟', '«', '»', '″', '「', '」', '"':
		return '"'
	case '‐', '‑', '‒', '–', '—', '―', '−', '⁃':
		return '-'
	case 0x00AD, 0x200B, 0x200C, 0x200D, 0x2060, 0xFEFF:
		return -1
	case 'ς':
		return 'σ'
	}
	if unicode.IsSpace(r) {
		return ' '
	}
	if unicode.IsControl(r) {
		return -1
	}
	return unicode.ToLower(r)
}

// asciiFold is foldRune for ASCII; 0 means invisible.
var asciiFold = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		if r := foldRune(rune(c)); r > 0 {
			t[c] = byte(r)
		}
	}
	return t
}()

// Span maps a range of bytes of f.Text to the range of the original that gave
// it. A range that cuts through a piece that was folded as one (a ligature)
// gives the whole piece.
func (f Folded) Span(start, end int) Span {
	if start >= end {
		p := int(f.at[start])
		return Span{p, p}
	}
	last := f.at[end-1]
	for end < len(f.at)-1 && f.at[end] <= last {
		end++
	}
	return Span{int(f.at[start]), int(f.at[end])}
}

// Quote folds a quotation and takes away white space and the punctuation that
// belongs to the sentence around it and not to it.
func Quote(s string) string { return strings.Trim(Text(s).Text, " .,;:!?\"'") }
