package evidence

import (
	"math"
	"slices"
	"unicode/utf8"
)

// Excerpt is a piece of a source to be shown, with the places in it to mark.
type Excerpt struct {
	Text       string
	Start, End int    // bytes of Text in the source
	Marks      []Span // matched or shared parts, in bytes of Text
	Omitted    []Span // parts of Text that a quotation left out
	// Shared and Wanted are how many different words of a claim the excerpt
	// has, and how many were looked for. Both 0 for the passage of a match.
	Shared, Wanted int
}

// Around is the passage of a match with up to context bytes on either side,
// cut at white space where there is some. It is empty when the match has no
// passage.
func (s *Source) Around(m Match, context int) Excerpt {
	if m.End <= m.Start || m.End > len(s.text) {
		return Excerpt{}
	}
	e := s.cut(m.Start, m.End, context)
	e.Marks = shifted(m.Spans, e)
	e.Omitted = shifted(m.Omitted, e)
	return e
}

// Passage is Source.Around for a source that is not prepared.
func Passage(source string, m Match, context int) Excerpt {
	s := Source{text: source}
	return s.Around(m, context)
}

// cut takes [start, end) with context bytes around, at white space.
func (s *Source) cut(start, end, context int) Excerpt {
	from, to := max(0, start-context), min(len(s.text), end+context)
	for from < start && from > 0 && !blank(s.text[from-1]) {
		from++
	}
	for to > end && to < len(s.text) && !blank(s.text[to]) {
		to--
	}
	for from < start && blank(s.text[from]) {
		from++
	}
	for to > end && blank(s.text[to-1]) {
		to--
	}
	// Text without spaces has been walked up to the passage itself, whose ends
	// are rune boundaries.
	return Excerpt{Text: s.text[from:to], Start: from, End: to}
}

func blank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func shifted(spans []Span, e Excerpt) []Span {
	var out []Span
	for _, sp := range spans {
		if sp.Start >= e.Start && sp.End <= e.End {
			out = append(out, Span{Start: sp.Start - e.Start, End: sp.End - e.Start})
		}
	}
	return out
}

// BestFor is the part of the source, about window bytes long, that shares most
// with a claim: each different word counts once, rarer words of the source
// more than common ones; the words of grammar count nothing. It is empty when
// no word is shared. That words are shared does not say that the claim holds.
func (s *Source) BestFor(claim string, window int) Excerpt {
	folded := Fold(claim).Text
	wanted := contentWords(folded)
	if len(wanted) == 0 || len(s.words) == 0 {
		return Excerpt{Wanted: len(wanted)}
	}
	type hit struct{ word, want int }
	var hits []hit
	weight := make([]float64, len(wanted))
	for n, w := range wanted {
		count := 0
		k := s.first[bucket(w.hash)&s.mask]
		for steps := 0; k > 0 && steps < maxChain; steps++ {
			if i := int(k - 1); s.isWord(i, w.hash, folded[w.start:w.end]) {
				hits = append(hits, hit{i, n})
				count++
			}
			k = s.next[k-1]
		}
		if count > 0 {
			weight[n] = math.Log(1 + float64(len(s.words))/float64(count))
		}
	}
	if len(hits) == 0 {
		return Excerpt{Wanted: len(wanted)}
	}
	slices.SortFunc(hits, func(a, b hit) int { return a.word - b.word })
	have := make([]int, len(wanted))
	sum, best := 0.0, -1.0
	lo, bestLo, bestHi := 0, 0, 0
	place := func(i int) int { return int(s.words[hits[i].word].start) }
	for hi := range hits {
		if have[hits[hi].want]++; have[hits[hi].want] == 1 {
			sum += weight[hits[hi].want]
		}
		for place(hi)-place(lo) > window {
			if have[hits[lo].want]--; have[hits[lo].want] == 0 {
				sum -= weight[hits[lo].want]
			}
			lo++
		}
		if sum > best+1e-9 {
			best, bestLo, bestHi = sum, lo, hi
		}
	}
	passage := s.span(hits[bestLo].word, hits[bestHi].word)
	e := s.cut(passage.Start, passage.End, max(0, (window-passage.Len())/2))
	e.Wanted = len(wanted)
	seen := make([]bool, len(wanted))
	for _, h := range hits {
		sp := s.span(h.word, h.word)
		if sp.Start < e.Start || sp.End > e.End {
			continue
		}
		if !seen[h.want] {
			seen[h.want] = true
			e.Shared++
		}
		sp = Span{Start: sp.Start - e.Start, End: sp.End - e.Start}
		if n := len(e.Marks); n > 0 && e.Marks[n-1].End >= sp.Start {
			e.Marks[n-1].End = max(e.Marks[n-1].End, sp.End)
			continue
		}
		e.Marks = append(e.Marks, sp)
	}
	return e
}

// BestPassage is Source.BestFor for a source that is not prepared.
func BestPassage(claim, source string, window int) Excerpt {
	return NewSource(source).BestFor(claim, window)
}

// sentenceReach is how far around a passage the ends of its sentences are
// looked for, in bytes.
const sentenceReach = 600

// Sentences is the passage [start, end) of the source widened to whole
// sentences, at most 600 bytes to either side.
func (s *Source) Sentences(start, end int) Span {
	from, to := max(0, start-sentenceReach), min(len(s.text), end+sentenceReach)
	for from > 0 && from < start && s.text[from]&0xC0 == 0x80 {
		from++
	}
	for to < len(s.text) && to > end && s.text[to]&0xC0 == 0x80 {
		to--
	}
	around := Span{Start: from, End: to}
	for _, e := range sentenceEnds(s.text, from, to, nil, false) {
		if e <= start {
			around.Start = e
		}
		if e >= end {
			around.End = e
			break
		}
	}
	return around
}

// ContentWords are the different words of a text that are not grammar, folded, in
// the order in which each first stands there.
func ContentWords(text string) []string {
	folded := Fold(text).Text
	words := contentWords(folded)
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = folded[w.start:w.end]
	}
	return list
}

// contentWords are the different words of a folded text that are not grammar.
func contentWords(folded string) []word {
	words := splitWords(folded, nil)
	out := words[:0]
	seen := make(map[string]bool, len(words))
	for _, w := range words {
		t := folded[w.start:w.end]
		r, _ := utf8.DecodeRuneInString(t)
		if seen[t] || grammar[t] || len(t) == 1 && !isDigit(t[0]) || classOf(r) == sign && !aloneScript(r) {
			continue
		}
		seen[t] = true
		out = append(out, w)
	}
	return out
}

// grammar are English words that say little by themselves. Negations and
// "may", "must" and "shall" are not among them.
var grammar = setOf(`a about also an and any are as at be because been being both but by can could did do does
during each either else etc for from further had has have having he her hers him his how however i if in
including into is it its itself just like many me more most much my of often on once one only or other our ours
out over own per same she should so some such than that the their theirs them themselves then there therefore
these they this those through thus to too under up upon us very was we well were what when where whether which
while who whom whose why will with within would you your yours`)

func setOf(words string) map[string]bool {
	set := make(map[string]bool)
	for i, from := 0, 0; i <= len(words); i++ {
		if i == len(words) || blank(words[i]) {
			if i > from {
				set[words[from:i]] = true
			}
			from = i + 1
		}
	}
	return set
}
