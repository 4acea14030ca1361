package evidence

import "strings"

// Kind says how well a text was found in another.
type Kind string

const (
	// Exact: the same text, folded.
	Exact Kind = "exact"
	// Near: the same words but for a quarter of them at most, or with words of
	// the source left out in between, or other punctuation.
	Near Kind = "near"
	// None: not there.
	None Kind = "none"
)

// Match says where a quotation is in a source, and what differs.
type Match struct {
	Kind Kind
	// Start and End are the whole passage in the source. When Kind is None they
	// are the closest passage, or both 0 where none shares a quarter of the words.
	Start, End int
	// Spans are the matched parts of the passage, in order, in bytes of the
	// source.
	Spans []Span
	// Omitted are parts of the passage whose words the quotation has not.
	Omitted []Span
	// Missing are words of the quotation, folded, that the passage has not.
	Missing []string
	// Distance is the least number of words to change, add or take away to
	// make the quotation of the passage. Words left out where the quotation
	// shows an ellipsis are not counted.
	Distance int
	Words    int // of the quotation
}

// Found tells whether the quotation is there, exactly or nearly.
func (m Match) Found() bool { return m.Kind != None && m.Kind != "" }

const (
	// maxPiece is the longest run of words that is aligned as one; longer
	// quotations are aligned in pieces, so that cost stays in proportion.
	maxPiece = 160
	// maxQuote is the longest quotation looked for, in words.
	maxQuote = 20_000
)

// Locate finds a quotation in a source. See Source.Locate.
func Locate(quote, source string) Match { return NewSource(source).Locate(quote) }

// Locate finds a quotation in the source: exactly, or nearly by aligning its
// words with the passages that share its rarer ones. An ellipsis ("…", "...",
// "[...]") may stand for any words; brackets inside a word ("[T]he") are
// ignored. The search is bounded: among many passages that share words it
// looks at a few of the best, so that a near match can be missed; an exact one
// cannot.
func (s *Source) Locate(quote string) Match {
	return s.locate(quote, true, new(Effort))
}

// LocateNear is Locate without the closest passage: None comes back at once
// when too few words of the quotation are in the source at all.
func (s *Source) LocateNear(quote string) Match {
	return s.locate(quote, false, new(Effort))
}

// Effort counts what searches cost: bytes compared, words looked up, cells of
// alignments. Who searches for many texts can stop at a bound that does not
// depend on the machine.
type Effort struct{ Steps int }

// LocateNearCounting is LocateNear that adds to effort what it cost.
func (s *Source) LocateNearCounting(quote string, effort *Effort) Match {
	return s.locate(quote, false, effort)
}

func (s *Source) locate(quote string, closest bool, effort *Effort) Match {
	q := foldedTrim(quote)
	effort.Steps += len(quote)
	if start, end, ok := s.exact(q, effort); ok {
		span := s.folded.Span(start, end)
		return Match{Kind: Exact, Start: span.Start, End: span.End, Spans: []Span{span}, Words: len(splitWords(q, nil))}
	}
	q = unbracket(q)
	pieces, total := cutPieces(q)
	m := Match{Kind: None, Words: total}
	if total == 0 || len(s.words) == 0 || total > maxQuote {
		return m
	}
	if !closest && !s.mayBeNear(q, pieces, total, effort) {
		return m
	}
	a := s.alignPieces(q, pieces, effort)
	if a.matched == 0 {
		return m
	}
	s.describe(&m, a)
	switch {
	case a.near(total):
		m.Kind = Near
	case a.matched*4 < total:
		return Match{Kind: None, Words: total}
	}
	return m
}

// unbracket takes out brackets that touch a word on both sides, as in "[t]he".
func unbracket(folded string) string {
	if strings.IndexByte(folded, '[') < 0 {
		return folded
	}
	var b strings.Builder
	for i := range len(folded) {
		c := folded[i]
		if c == '[' || c == ']' {
			inner := i > 0 && i+1 < len(folded) && asciiWord(folded[i-1]) && asciiWord(folded[i+1])
			atStart := c == '[' && i+3 < len(folded) && folded[i+2] == ']' && asciiWord(folded[i+3])
			if inner || atStart {
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

func asciiWord(c byte) bool { return c >= 'a' && c <= 'z' || isDigit(c) }

// piece is a run of words of a folded quotation. marked says that an ellipsis
// stands before it.
type piece struct {
	words  []word
	marked bool
}

// cutPieces cuts a folded quotation at its ellipses, and long runs in parts.
func cutPieces(q string) (pieces []piece, total int) {
	marked := false
	for from := 0; from <= len(q); {
		to, resume := nextEllipsis(q, from)
		words := splitWords(q[from:to], nil)
		for i := range words {
			words[i].start += int32(from)
			words[i].end += int32(from)
		}
		total += len(words)
		for len(words) > 0 {
			n := len(words)
			if n > maxPiece {
				n = maxPiece
				if len(words) < maxPiece*3/2 { // no tiny rest
					n = len(words) / 2
				}
			}
			pieces = append(pieces, piece{words[:n], marked && len(pieces) > 0})
			words, marked = words[n:], false
		}
		marked = true
		from = resume
	}
	return pieces, total
}

// nextEllipsis finds "...", ". . ." or "[...]" at or after from: where it
// starts and where the text goes on. Both are past the end when there is none.
func nextEllipsis(q string, from int) (start, resume int) {
	for i := from; i < len(q); i++ {
		if q[i] != '.' {
			continue
		}
		j, dots := i, 0
		for j < len(q) && (q[j] == '.' || q[j] == ' ' && j+1 < len(q) && q[j+1] == '.') {
			if q[j] == '.' {
				dots++
			}
			j++
		}
		if dots >= 3 {
			start, resume = i, j
			if start > from && (q[start-1] == '[' || q[start-1] == '(') {
				start--
			}
			if resume < len(q) && (q[resume] == ']' || q[resume] == ')') {
				resume++
			}
			return start, resume
		}
		i = j - 1
	}
	return len(q), len(q) + 1
}

// mayBeNear tells whether enough words of a quotation are in the source at all
// for a near match.
func (s *Source) mayBeNear(q string, pieces []piece, total int, effort *Effort) bool {
	missing := 0
	for _, p := range pieces {
		for _, w := range p.words {
			if !s.has(w.hash, q[w.start:w.end], effort) {
				if missing++; missing > total/4 {
					return false
				}
			}
		}
	}
	return true
}
