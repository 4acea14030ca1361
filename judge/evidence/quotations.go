package evidence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quotation is text that stands in quotation marks.
type Quotation struct {
	Text       string // text[Start:End], without the marks
	Start, End int
}

// minQuoted is the fewest words that are taken for a quotation: one or two
// words in quotation marks are mostly a term or irony.
const minQuoted = 3

// Quotations finds the quotations of at least three words in a text: between
// straight or curly double quotation marks, « » and 「 」. Apostrophes and
// single marks are no quotation marks. A mark without a partner in its
// paragraph is ignored, as is one that follows a digit (inches).
func Quotations(text string) []Quotation {
	var found []Quotation
	open := -1         // where the text of an open quotation starts
	var closing string // the marks that close it
	for i := 0; i < len(text); {
		if open < 0 {
			// Only ASCII's mark and runes outside ASCII can start a quotation.
			for i < len(text) && text[i] != '"' && text[i] < utf8.RuneSelf {
				i++
			}
			if i == len(text) {
				break
			}
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case open < 0:
			closing = closes(text, i, r)
			if closing != "" {
				open = i + size
			}
		case r == '\n' && strings.HasPrefix(strings.TrimLeft(text[i+1:min(len(text), i+16)], " \t\r"), "\n"):
			open = -1
		case strings.ContainsRune(closing, r) && !(r == '"' && opensHere(text, i)):
			q := Quotation{Start: open, End: i}
			q.Start, q.End = trimBlank(text, q.Start, q.End)
			q.Text = text[q.Start:q.End]
			if countWords(q.Text, minQuoted) >= minQuoted && !title(q.Text) && !speech(text[:open]) {
				found = append(found, q)
			}
			open = -1
		}
		i += size
	}
	return found
}

// closes gives the marks that close a quotation that r at i opens; empty when
// it opens none.
func closes(text string, i int, r rune) string {
	switch r {
	case '“':
		return "”"
	case '„':
		return "“”"
	case '«':
		return "»"
	case '「':
		return "」"
	case '"':
		if opensHere(text, i) {
			return "\""
		}
	}
	return ""
}

// opensHere tells whether a straight mark at i can open a quotation: what
// stands before it is no word and what follows is no space.
func opensHere(text string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:i])
	after, _ := utf8.DecodeRuneInString(text[i+1:])
	if i+1 >= len(text) || unicode.IsSpace(after) {
		return false
	}
	return i == 0 || unicode.IsSpace(before) || strings.ContainsRune("([{-–—:/*_‘'", before)
}

func trimBlank(text string, start, end int) (int, int) {
	trimmed := strings.TrimSpace(text[start:end])
	if trimmed == "" {
		return start, start
	}
	start += strings.Index(text[start:end], trimmed)
	return start, start + len(trimmed)
}

// title tells whether each word of a text but grammar begins in a capital or a
// digit, and two or more of them do in a capital.
func title(text string) bool {
	if strings.ToUpper(text) == text { // shouted, as clauses of contracts are
		return false
	}
	capitals := 0
	for w := range strings.FieldsSeq(text) {
		w = strings.Trim(w, ".,:;!?()-–—'’|")
		r, _ := utf8.DecodeRuneInString(w)
		switch {
		case w == "" || unicode.IsDigit(r):
		case unicode.IsUpper(r):
			capitals++
		case !unicode.IsLower(r): // no script with capitals
			return false
		case !grammar[w]:
			return false
		}
	}
	return capitals >= 2
}

// speech tells whether what stands before a quotation introduces an example of
// what somebody might say. "says" and "said" introduce quotations.
//
// It looks back a few bytes only: text without spaces would else be read from
// its beginning for each quotation.
func speech(before string) bool {
	const reach = 32 // holds the mark, what parts it from the word, and the longest word below
	cut := len(before) > reach
	before = before[max(0, len(before)-reach):]
	before = before[:max(0, strings.LastIndexAny(before, "\"“„«「"))]
	before = strings.TrimRight(before, " ,:\n")
	from := strings.LastIndexAny(before, " \n")
	if from < 0 && cut {
		return false // the word is longer than any of them, or stands too far away
	}
	switch strings.ToLower(before[from+1:]) {
	case "say", "ask", "saying", "asking", "reply":
		return true
	}
	return false
}
