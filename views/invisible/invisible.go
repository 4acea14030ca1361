// Package invisible makes characters that cannot be seen visible in a finished
// page: directional controls, zero-width and control characters, blanks that
// are not spaces, and combining marks piled higher than any language piles them.
// It works on the page's HTML, so that no field of no page can be forgotten. It
// changes neither attributes nor the contents of text fields, scripts and styles.
package invisible

import (
	"bytes"
	"fmt"
	"unicode"
	"unicode/utf8"
)

// mostMarks is how many combining marks on one letter are drawn. Writing systems
// need four at most (Hebrew with cantillation, Vietnamese, phonetic notation).
const mostMarks = 6

// Show returns the page with each such character inside an element of class
// "control", which names it and still holds the character, so that what is
// copied is what was written. In <title> and <option>, which hold no elements,
// the name stands in its place. A page without any is returned as it is.
func Show(page []byte) []byte {
	if !suspect(page) {
		return page
	}
	out := bytes.NewBuffer(make([]byte, 0, len(page)+len(page)/8))
	for at := 0; at < len(page); {
		if page[at] == '<' {
			end := tagEnd(page, at)
			tag := page[at:end]
			out.Write(tag)
			at = end
			switch name := tagName(tag); name {
			case "textarea", "script", "style":
				end := closing(page, at, name)
				out.Write(page[at:end])
				at = end
			case "title", "option":
				end := closing(page, at, name)
				text(out, page[at:end], named)
				at = end
			}
			continue
		}
		end := bytes.IndexByte(page[at:], '<')
		if end < 0 {
			end = len(page) - at
		}
		text(out, page[at:at+end], boxed)
		at += end
	}
	return out.Bytes()
}

// suspect says whether anything in the page could be invisible; quick, because
// nearly every page is free of it.
func suspect(page []byte) bool {
	marks := 0
	for i := 0; i < len(page); {
		if b := page[i]; b < utf8.RuneSelf {
			if b < 0x20 && b != '\n' && b != '\t' && b != '\r' || b == 0x7f {
				return true
			}
			marks = 0
			i++
			continue
		}
		r, n := utf8.DecodeRune(page[i:])
		i += n
		if isInvisible(r) {
			return true
		}
		if isMark(r) {
			if marks++; marks > mostMarks {
				return true
			}
		} else {
			marks = 0
		}
	}
	return false
}

// text writes a stretch between two tags.
func text(out *bytes.Buffer, s []byte, draw func(*bytes.Buffer, string, []byte)) {
	var before rune
	marks, kept := 0, 0 // of s, what comes before kept is written
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRune(s[i:])
		next := i + n
		if isMark(r) && !isInvisible(r) {
			if marks++; marks > mostMarks {
				next = endOfMarks(s, i)
				out.Write(s[kept:i])
				draw(out, fmt.Sprintf("%d more combining marks", utf8.RuneCount(s[i:next])), s[i:next])
				kept = next
			}
			i = next
			continue
		}
		marks = 0
		if isInvisible(r) && !joins(before, r, s[next:]) {
			out.Write(s[kept:i])
			draw(out, name(r), s[i:next])
			kept = next
		}
		before, i = r, next
	}
	out.Write(s[kept:])
}

func endOfMarks(s []byte, at int) int {
	for at < len(s) {
		r, n := utf8.DecodeRune(s[at:])
		if !isMark(r) {
			break
		}
		at += n
	}
	return at
}

// boxed keeps the character in an element that shows its name. The element is an
// atom to the direction of the text round it.
func boxed(out *bytes.Buffer, name string, c []byte) {
	fmt.Fprintf(out, `<bdi class="control" role="img" data-name="%s" aria-label="%s" title="%s">`, short(name), name, name)
	if c[0] != 0 { // HTML has no such character
		out.Write(c)
	}
	out.WriteString(`</bdi>`)
}

func named(out *bytes.Buffer, name string, _ []byte) { out.WriteString("⟦" + short(name) + "⟧") }

// short is a name without the words behind its number.
func short(name string) string {
	if len(name) > 2 && name[:2] == "U+" {
		before, _, _ := bytes.Cut([]byte(name), []byte(" "))
		return string(before)
	}
	return name
}

var words = map[rune]string{
	0x00ad: "soft hyphen", 0x034f: "combining grapheme joiner", 0x061c: "Arabic letter mark", 0x180e: "Mongolian vowel separator",
	0x200b: "zero width space", 0x200c: "zero width non-joiner", 0x200d: "zero width joiner", 0x200e: "left-to-right mark",
	0x200f: "right-to-left mark", 0x2028: "line separator", 0x2029: "paragraph separator", 0x202a: "left-to-right embedding",
	0x202b: "right-to-left embedding", 0x202c: "pop directional formatting", 0x202d: "left-to-right override",
	0x202e: "right-to-left override", 0x2060: "word joiner", 0x2066: "left-to-right isolate", 0x2067: "right-to-left isolate",
	0x2068: "first strong isolate", 0x2069: "pop directional isolate", 0xfeff: "zero width no-break space",
	0x115f: "Hangul filler", 0x1160: "Hangul filler", 0x3164: "Hangul filler", 0xffa0: "Hangul filler", 0x2800: "braille blank",
}

// name of a character as Unicode writes it, with what it does where that is known.
func name(r rune) string {
	code := fmt.Sprintf("U+%04X", r)
	what := words[r]
	switch {
	case what != "":
	case unicode.IsControl(r):
		what = "control character"
	case r >= 0xe0000 && r < 0xe0080:
		what = "tag character"
	default:
		what = "invisible character"
	}
	return code + " " + what
}

// isInvisible says that a character draws nothing, or changes the order of others.
// White space that sets text apart is none of these.
func isInvisible(r rune) bool {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r < 0xad:
		return false
	case r == 0xad, r == 0x34f, r == 0x61c:
		return true
	case r < 0x115f, r > 0x206f && r < 0x2800: // most of what people write
		return false
	case r >= 0x200b && r <= 0x200f, r >= 0x2028 && r <= 0x202e, r == 0x2060, r == 0xfeff, r == 0x180e, r == 0x2800,
		r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0:
		return true
	case r >= 0x17b4 && r <= 0x17b5, r >= 0x2061 && r <= 0x206f, r >= 0xfff0 && r <= 0xfffb, r >= 0x1bca0 && r <= 0x1bca3,
		r >= 0x1d173 && r <= 0x1d17a, r >= 0xe0000 && r <= 0xe00ff, r >= 0xe01f0 && r <= 0xe0fff:
		return true
	}
	return false
}

// isMark says that a character is drawn over or under the one before.
func isMark(r rune) bool {
	return r >= 0x300 && (r < 0x2010 || r > 0x2027) && unicode.In(r, unicode.Mn, unicode.Me)
}

// joining are scripts whose letters take other shapes beside a joiner.
var joining = []*unicode.RangeTable{unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali,
	unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala,
	unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Thai, unicode.Lao}

// joins says that a joiner does its work where it stands: between letters of a
// script that needs it, or between the parts of one emoji. There it is seen by
// what it does, and a mark in its place would break the word.
func joins(before, r rune, after []byte) bool {
	if r != 0x200c && r != 0x200d {
		return false
	}
	next, _ := utf8.DecodeRune(after)
	if unicode.In(before, joining...) && unicode.In(next, joining...) {
		return true
	}
	emoji := func(r rune) bool {
		return unicode.Is(unicode.So, r) || r == 0xfe0f || r >= 0x1f3fb && r <= 0x1f3ff || r == 0x2640 || r == 0x2642
	}
	return r == 0x200d && emoji(before) && emoji(next)
}

// tagEnd is the offset behind the tag, comment or doctype that begins at at.
func tagEnd(page []byte, at int) int {
	if bytes.HasPrefix(page[at:], []byte("<!--")) {
		if end := bytes.Index(page[at:], []byte("-->")); end >= 0 {
			return at + end + 3
		}
		return len(page)
	}
	quote := byte(0)
	for i := at; i < len(page); i++ {
		switch c := page[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return len(page)
}

func tagName(tag []byte) string {
	end := 1
	for end < len(tag) && (tag[end] >= 'a' && tag[end] <= 'z' || tag[end] >= 'A' && tag[end] <= 'Z') {
		end++
	}
	return string(bytes.ToLower(tag[1:end]))
}

// closing is the offset of the end tag of an element that holds no others.
func closing(page []byte, at int, name string) int {
	if end := bytes.Index(page[at:], []byte("</"+name)); end >= 0 {
		return at + end
	}
	return len(page)
}
