package evidence

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/countersign/countersign/judge"
)

// Marker is one occurrence of a citation in an output. "[1, 2]" and "[1-2]"
// are two occurrences with the same range.
type Marker struct {
	Number     int    // occurrence in the output, from 1
	CitationID string // as written, without brackets
	Step       int    // from 1
	Start, End int    // bytes of the whole marker, brackets included
}

const (
	// maxRange is the longest range a marker may name: "[1-999999]" is text.
	maxRange = 50
	// maxMarkers bounds what one output can ask for; what comes after is text.
	maxMarkers = 50_000
	// maxBracket is the longest text in brackets that is looked at, in bytes.
	maxBracket = 400
)

// Markers finds the citation markers of an output, in order.
//
// Without a pattern a marker is a pair of square brackets around one or more
// ids, parted by commas or semicolons: an id is a number, a range of numbers,
// a word with a digit in it, or the id of one of the sources. Other text in
// brackets is text. With a pattern, each match is a marker and its first group
// (or the whole match) holds the id, or several ids parted by commas when each
// of them is a number, a range or the id of a source.
func Markers(output string, sources []judge.Source, pattern *regexp.Regexp) []Marker {
	return MarkersIn(output, Steps(output), sources, pattern)
}

// MarkersIn is Markers for an output whose steps are known.
func MarkersIn(output string, steps []Step, sources []judge.Source, pattern *regexp.Regexp) []Marker {
	f := finder{steps: steps, sources: make(map[string]bool, len(sources))}
	for i := range sources {
		f.sources[sources[i].ID] = true
	}
	if pattern != nil {
		f.byPattern(output, pattern)
	} else {
		f.byBrackets(output)
	}
	return f.found
}

type finder struct {
	steps   []Step
	sources map[string]bool // their ids
	found   []Marker
	ids     []string // of the bracket at hand
}

func (f *finder) byBrackets(output string) {
	for i := 0; i < len(output); {
		open := strings.IndexByte(output[i:], '[')
		if open < 0 {
			return
		}
		open += i
		i = open + 1
		rest := output[i:min(len(output), i+maxBracket)]
		end := strings.IndexAny(rest, "[]\n")
		if end < 0 || rest[end] != ']' {
			continue
		}
		if f.readIDs(rest[:end], true) {
			f.add(open, i+end+1)
			i += end + 1
		}
	}
}

func (f *finder) byPattern(output string, pattern *regexp.Regexp) {
	for _, m := range pattern.FindAllStringSubmatchIndex(output, maxMarkers) {
		from, to := m[0], m[1]
		if len(m) >= 4 {
			from, to = m[2], m[3]
		}
		if from < 0 || m[0] == m[1] {
			continue // the group took no part, or the match is empty
		}
		content := strings.TrimSpace(output[from:to])
		if content == "" {
			continue
		}
		if !f.readIDs(content, false) {
			f.ids = append(f.ids[:0], content)
		}
		f.add(m[0], m[1])
	}
}

func (f *finder) add(start, end int) {
	step := StepAt(f.steps, start)
	for _, id := range f.ids {
		if len(f.found) == maxMarkers {
			return
		}
		f.found = append(f.found, Marker{Number: len(f.found) + 1, CitationID: id, Step: step, Start: start, End: end})
	}
}

// readIDs reads the ids of a marker's content into f.ids and tells whether
// there is any. Words with a digit are ids only when words is set. The first
// item must be an id; later ones may be notes ("[1, p. 5]").
func (f *finder) readIDs(content string, words bool) bool {
	f.ids = f.ids[:0]
	if content = strings.TrimSpace(content); f.sources[content] {
		f.ids = append(f.ids, content)
		return true
	}
	for first := true; content != ""; first = false {
		item := content
		if i := strings.IndexAny(content, ",;"); i >= 0 {
			item, content = content[:i], content[i+1:]
		} else {
			content = ""
		}
		item = strings.TrimPrefix(strings.TrimSpace(item), "^")
		if !f.readItem(item, words) && (first || !words) {
			f.ids = f.ids[:0]
			return false
		}
	}
	return len(f.ids) > 0
}

func (f *finder) readItem(item string, words bool) bool {
	if f.sources[item] || isNumber(item) {
		f.ids = append(f.ids, item)
		return true
	}
	if prefix, from, to, ok := readRange(item); ok {
		if to-from >= maxRange {
			return false
		}
		for n := from; n <= to; n++ {
			f.ids = append(f.ids, prefix+strconv.Itoa(n))
		}
		return true
	}
	if words && wordWithDigit(item) {
		f.ids = append(f.ids, item)
		return true
	}
	return false
}

func isNumber(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// readRange reads "1-3", "1–3" and "doc_1-doc_3".
func readRange(s string) (prefix string, from, to int, ok bool) {
	left, right, ok := strings.Cut(s, "-")
	if !ok {
		if left, right, ok = strings.Cut(s, "–"); !ok {
			return "", 0, 0, false
		}
	}
	left, right = strings.TrimSpace(left), strings.TrimSpace(right)
	number := strings.TrimLeftFunc(left, func(r rune) bool { return r < '0' || r > '9' })
	prefix = left[:len(left)-len(number)]
	right, ok = strings.CutPrefix(right, prefix)
	if !ok || !isNumber(number) || !isNumber(right) || len(number) > 9 || len(right) > 9 || number[0] == '0' {
		return "", 0, 0, false
	}
	from, _ = strconv.Atoi(number) // at most nine digits
	to, _ = strconv.Atoi(right)
	return prefix, from, to, from <= to
}

func wordWithDigit(s string) bool {
	digit := false
	for _, r := range s {
		switch {
		case r >= '0' && r <= '9':
			digit = true
		case unicode.IsSpace(r), unicode.IsControl(r), strings.ContainsRune(`"'()<>{}=*|`, r):
			return false
		}
	}
	return digit
}
