package evidence

import "strings"

const (
	// maxExact bounds the bytes compared for hits that end inside a word, which a
	// source can be written to have by the thousand.
	maxExact = 64 << 20
	// rare is how often a word may occur to be a place to look at, and rareChain
	// how many words of its bucket are walked to know.
	rare      = 48
	rareChain = 192
	// rareWords is how many words of a text are tried for one that is rare.
	rareWords = 32
)

// exact finds the first place of a folded text at word boundaries. It looks at
// the places of a rare word of it where there is one, so that many texts can be
// looked for in a long source; else it reads the source.
func (s *Source) exact(folded string, effort *Effort) (start, end int, ok bool) {
	if folded == "" {
		return 0, 0, false
	}
	if places, before, known := s.rarest(folded, effort); known {
		for _, i := range places {
			start := int(s.words[i].start) - before
			end := start + len(folded)
			effort.Steps += 8 // most places differ soon
			if start < 0 || end > len(s.folded.Text) || s.folded.Text[start:end] != folded {
				continue
			}
			effort.Steps += len(folded)
			if atBoundary(s.folded.Text, start) && atBoundary(s.folded.Text, end) {
				return start, end, true
			}
		}
		return 0, 0, false
	}
	return s.exactByReading(folded, effort)
}

func (s *Source) exactByReading(folded string, effort *Effort) (start, end int, ok bool) {
	t := s.folded.Text
	from := 0
	for work := 0; work < maxExact; work += len(folded) {
		i := strings.Index(t[from:], folded)
		if i < 0 {
			effort.Steps += len(t) - from
			return 0, 0, false
		}
		start, end = from+i, from+i+len(folded)
		effort.Steps += i + len(folded)
		if atBoundary(t, start) && atBoundary(t, end) {
			return start, end, true
		}
		from = start + 1
	}
	return 0, 0, false
}

// rarest gives the places of the rarest word inside a folded text, by number and
// in order, and where in the text the word starts. Only words with others on
// both sides count: the first and the last may be parts of words of the source.
// known is false when there is no such word or each is too common.
func (s *Source) rarest(folded string, effort *Effort) (places []int, before int, known bool) {
	const enough = 4 // few places more cost less than to look for a rarer word
	head := folded
	if len(head) > 1024 { // a cut may go through a word, which is then the last
		head = head[:1024]
	}
	words := splitWords(head, nil)
	for n := 1; n < len(words)-1 && n <= rareWords; n++ {
		w := words[n]
		found, whole := s.places(w.hash, head[w.start:w.end], effort)
		if !whole || known && len(found) >= len(places) {
			continue
		}
		places, before, known = found, int(w.start), true
		if len(places) <= enough {
			break
		}
	}
	return places, before, known
}

// places are the words of the source that are w, by number and in order; whole
// is false when there are more than the bounds let it see.
func (s *Source) places(hash uint32, w string, effort *Effort) (found []int, whole bool) {
	k := s.first[bucket(hash)&s.mask]
	for steps := 0; k > 0; steps++ {
		if steps == rareChain || len(found) > rare {
			return nil, false
		}
		effort.Steps++
		if i := int(k - 1); s.isWord(i, hash, w) {
			found = append(found, i)
		}
		k = s.next[k-1]
	}
	return found, true
}
