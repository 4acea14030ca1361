package evidence

import "strings"

// Negation is a word that denies or takes back what is said around it.
type Negation struct {
	Word       string // folded; "n't" is "not", "cannot" is "not"
	Start, End int
}

var negations = map[string]string{
	"not": "not", "cannot": "not", "no": "no", "never": "never", "none": "none", "nobody": "nobody",
	"nothing": "nothing", "nowhere": "nowhere", "neither": "neither", "nor": "nor", "without": "without",
	"unless": "unless", "except": "except", "excluding": "except", "lack": "lack", "lacks": "lack", "lacking": "lack",
	"fail": "fail", "fails": "fail", "failed": "fail", "hardly": "hardly", "rarely": "rarely", "seldom": "rarely",
	"false": "false", "incorrect": "false", "untrue": "false",
}

// Negations finds the negating and restricting words of a text, in order:
// not, n't, no, never, without, unless, except and their kind. It reads words,
// not sense: "not only" counts.
func Negations(text string) []Negation {
	var found []Negation
	for i := 0; i < len(text); {
		end := wordEnd(text, i)
		if end == i {
			i++
			continue
		}
		// An apostrophe joins what follows: don't, can’t.
		stop := end
		size := 0
		if strings.HasPrefix(text[end:], "'") {
			size = 1
		} else if strings.HasPrefix(text[end:], "’") {
			size = len("’")
		}
		if size > 0 && end+size < len(text) && (text[end+size] == 't' || text[end+size] == 'T') &&
			wordEnd(text, end+size) == end+size+1 && (text[end-1] == 'n' || text[end-1] == 'N') {
			stop = end + size + 1
			found = append(found, Negation{"not", i, stop})
		} else if n := end - i; n >= 2 && n <= 9 {
			if w := lookFolded(negations, text[i:end]); w != "" {
				found = append(found, Negation{w, i, end})
			}
		}
		i = stop
	}
	return found
}

// lookFolded looks an ASCII word up in lower case without allocating.
func lookFolded(table map[string]string, word string) string {
	var buf [16]byte
	if len(word) > len(buf) {
		return ""
	}
	for i := range len(word) {
		c := word[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		buf[i] = c
	}
	return table[string(buf[:len(word)])]
}
