package evidence

import (
	"iter"
)

// Source is a text prepared once for many searches. It is safe for use by
// several goroutines.
type Source struct {
	text   string
	folded Folded
	words  []word
	// An index of words by hash: first[h&mask] is the number + 1 of the first
	// word in its bucket, next[i] that of the word after word i in the same.
	first []int32
	next  []int32
	mask  uint32
}

// NewSource prepares a text. It costs time and memory in proportion to the
// length of the text.
func NewSource(text string) *Source {
	s := &Source{text: text, folded: Fold(text)}
	s.words = splitWords(s.folded.Text, make([]word, 0, len(s.folded.Text)/5+4))
	size := 16
	for size < 2*len(s.words) {
		size *= 2
	}
	s.mask = uint32(size - 1)
	s.first = make([]int32, size)
	s.next = make([]int32, len(s.words))
	for i := len(s.words) - 1; i >= 0; i-- {
		b := &s.first[bucket(s.words[i].hash)&s.mask]
		s.next[i] = *b
		*b = int32(i + 1)
	}
	return s
}

// bucket mixes a hash whose low bits alone are weak.
func bucket(h uint32) uint32 { return h ^ h>>15 }

// Text is the text as it was given.
func (s *Source) Text() string { return s.text }

func (s *Source) wordText(i int) string {
	w := s.words[i]
	return s.folded.Text[w.start:w.end]
}

// isWord tells whether word i of the source is the folded word w.
func (s *Source) isWord(i int, hash uint32, w string) bool {
	return s.words[i].hash == hash && s.wordText(i) == w
}

// maxChain bounds how many words of one bucket are looked at, so that a source
// of one word repeated, or of words chosen to collide, costs no more.
const maxChain = 4096

// has tells whether a word is in the source.
func (s *Source) has(hash uint32, w string, effort *Effort) bool {
	i := s.first[bucket(hash)&s.mask]
	for steps := 0; i > 0 && steps < maxChain; steps++ {
		effort.Steps++
		if s.isWord(int(i-1), hash, w) {
			return true
		}
		i = s.next[i-1]
	}
	return false
}

// span is the range in the source's own text of words from to to (inclusive).
func (s *Source) span(from, to int) Span {
	return s.folded.Span(int(s.words[from].start), int(s.words[to].end))
}

// atBoundary tells whether no word runs across offset i of a folded text.
func atBoundary(t string, i int) bool {
	if i == 0 || i == len(t) {
		return true
	}
	_, after := classAt(t, i)
	k := i - 1
	for k > 0 && t[k]&0xC0 == 0x80 {
		k--
	}
	_, before := classAt(t, k)
	inWord := func(c uint8) bool { return c == letter || c == digit }
	if inWord(before) && inWord(after) {
		return false
	}
	// 1,000 is no place for 1 to end, nor 3.5 for 5 to start.
	if after == joiner && before == digit && i+1 < len(t) && isDigit(t[i+1]) {
		return false
	}
	return !(before == joiner && after == digit && k > 0 && isDigit(t[k-1]))
}

// Words gives the folded words of the source, and signs such as % and $, each
// with its place in the text.
func (s *Source) Words() iter.Seq2[string, Span] {
	return func(yield func(string, Span) bool) {
		for i := range s.words {
			if !yield(s.wordText(i), s.span(i, i)) {
				return
			}
		}
	}
}
