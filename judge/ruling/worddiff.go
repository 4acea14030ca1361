package ruling

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aymanbagabas/go-udiff/lcs"

	"github.com/countersign/countersign/judge/evidence"
)

// MostDifferences is how many places two texts are said to differ in at most;
// texts that differ in more are compared in larger pieces.
const MostDifferences = 200

// alternativeMark parts several right answers in a reference.
const alternativeMark = " | "

// Compare says how a candidate differs from a reference, word by word. White
// space counts for nothing, letters' case does. Where the reference gives several
// right answers, the one is taken that shares most words with the candidate.
func Compare(reference, candidate string) Diff {
	return compareIn(reference, nearest(reference, candidate), candidate)
}

// CompareAll is Compare of a text with what it became: all of it, whatever parts
// it has.
func CompareAll(before, after string) Diff {
	return compareIn(before, evidence.Span{End: len(before)}, after)
}

func compareIn(reference string, whole evidence.Span, candidate string) Diff {
	x, y := tokens(reference, whole), tokens(candidate, evidence.Span{End: len(candidate)})
	edits := calmed(diffWords(x, y), x)
	d := Diff{Whole: whole, several: whole != evidence.Span{End: len(reference)}}
	c := cutter{d: &d, reference: reference, candidate: candidate, x: x, y: y}
	c.segments(edits)
	d.Reference = marks(reference, d.Differences, func(f Difference) evidence.Span { return f.Reference })
	d.Candidate = marks(candidate, d.Differences, func(f Difference) evidence.Span { return f.Candidate })
	for i := range d.Differences {
		f := &d.Differences[i]
		f.Marks = kindsIn(d.Candidate, f.Candidate, kindsIn(d.Reference, f.Reference, nil))
	}
	return d
}

// nearest is the range of the alternative that shares most words with a text.
func nearest(reference, candidate string) evidence.Span {
	whole := evidence.Span{End: len(reference)}
	if !strings.Contains(reference, alternativeMark) {
		return whole
	}
	const most = 200 // alternatives that are looked at
	have := map[string]bool{}
	for w := range strings.FieldsSeq(candidate) {
		have[w] = true
	}
	best, from := -1.0, 0
	for range most {
		end := strings.Index(reference[from:], alternativeMark)
		last := end < 0
		if end = from + end; last {
			end = len(reference)
		}
		shared, all := 0, 0
		for w := range strings.FieldsSeq(reference[from:end]) {
			if all++; have[w] {
				shared++
			}
		}
		if share := float64(2*shared) / float64(max(1, all+len(have))); share > best {
			best, whole = share, evidence.Span{Start: from, End: end}
		}
		if last {
			break
		}
		from = end + len(alternativeMark)
	}
	return whole
}

// token is a word or a sign of a text.
type token struct {
	evidence.Span
	text string
}

// tokens are the words of a range of a text, and each sign by itself.
func tokens(text string, in evidence.Span) []token {
	list := make([]token, 0, (in.End-in.Start)/5+4)
	for i := in.Start; i < in.End; {
		r, size := utf8.DecodeRuneInString(text[i:in.End])
		start := i
		i += size
		if unicode.IsSpace(r) {
			continue
		}
		if inWord(r) && !alone(r) {
			i = wordEnd(text, i, in.End)
		}
		list = append(list, token{evidence.Span{Start: start, End: i}, text[start:i]})
	}
	return list
}

func wordEnd(text string, i, end int) int {
	for i < end {
		r, size := utf8.DecodeRuneInString(text[i:end])
		switch {
		case inWord(r) && !alone(r):
			i += size
		case (r == '.' || r == ',' || r == '\'' || r == '’') && i+size < end:
			// 1,000.5 is one word, and so is don't.
			next, _ := utf8.DecodeRuneInString(text[i+size : end])
			before, _ := utf8.DecodeLastRuneInString(text[:i])
			number := unicode.IsDigit(before) && unicode.IsDigit(next)
			if (r == '.' || r == ',') && !number || !inWord(next) {
				return i
			}
			i += size
		default:
			return i
		}
	}
	return i
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || r == '_'
}

// alone tells scripts that put no spaces between words.
func alone(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// diffWords gives the replaced ranges of two lists of words. The library looks
// only some hundred edits deep and leaves the middle between its two ends as one
// replacement; that middle is compared again, as long as it shrinks and within a
// bound of rounds.
func diffWords(x, y []token) []lcs.Diff {
	const rounds = 200
	number := map[string]rune{}
	a, b := numbered(x, number), numbered(y, number)
	var edits []lcs.Diff
	type block struct{ x0, x1, y0, y1 int }
	open := []block{{0, len(a), 0, len(b)}}
	for round := 0; len(open) > 0; round++ {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		found := lcs.DiffRunes(a[at.x0:at.x1], b[at.y0:at.y1])
		for _, e := range found {
			next := block{at.x0 + e.Start, at.x0 + e.End, at.y0 + e.ReplStart, at.y0 + e.ReplEnd}
			again := next.x1-next.x0 > 50 && next.y1-next.y0 > 50 && next != at && round < rounds
			if again {
				open = append(open, next)
				continue
			}
			edits = append(edits, lcs.Diff{Start: next.x0, End: next.x1, ReplStart: next.y0, ReplEnd: next.y1})
		}
	}
	slices.SortFunc(edits, func(a, b lcs.Diff) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.ReplStart, b.ReplStart))
	})
	return edits
}

// numbered gives each different word a number.
func numbered(list []token, number map[string]rune) []rune {
	out := make([]rune, len(list))
	for i, t := range list {
		n, ok := number[t.text]
		if !ok {
			n = rune(len(number))
			number[t.text] = n
		}
		out[i] = n
	}
	return out
}

// calmed joins differences that only a word or two of grammar parts, which are
// the same by chance, and then those that lie nearest while there are too many.
func calmed(edits []lcs.Diff, x []token) []lcs.Diff {
	edits = joinedWhere(edits, func(a, b lcs.Diff) bool {
		gap := x[a.End:b.Start]
		if len(gap) == 0 {
			return true
		}
		if len(gap) > 2 || a.Start == a.End || b.Start == b.End || a.ReplStart == a.ReplEnd || b.ReplStart == b.ReplEnd {
			return false
		}
		return !telling(gap)
	})
	if len(edits) <= MostDifferences {
		return edits
	}
	gaps := make([]int, 0, len(edits)-1)
	for i := 1; i < len(edits); i++ {
		gaps = append(gaps, edits[i].Start-edits[i-1].End)
	}
	slices.Sort(gaps)
	least := gaps[len(gaps)-(MostDifferences-1)] // of the gaps that stay
	larger := len(gaps) - sort.SearchInts(gaps, least+1)
	more := MostDifferences - 1 - larger // of the least ones that stay too
	return joinedWhere(edits, func(a, b lcs.Diff) bool {
		gap := b.Start - a.End
		if gap == least && more > 0 {
			more--
			return false
		}
		return gap <= least
	})
}

func joinedWhere(edits []lcs.Diff, join func(a, b lcs.Diff) bool) []lcs.Diff {
	var out []lcs.Diff
	for _, e := range edits {
		if n := len(out); n > 0 && join(out[n-1], e) {
			out[n-1].End, out[n-1].ReplEnd = e.End, e.ReplEnd
			continue
		}
		out = append(out, e)
	}
	return out
}

// telling: one of a few words says something.
func telling(gap []token) bool {
	for _, t := range gap {
		if len(evidence.ContentWords(t.text)) > 0 || len(evidence.Negations(t.text)) > 0 || len(evidence.Numbers(t.text)) > 0 {
			return true
		}
	}
	return false
}

// cutter makes segments of edits.
type cutter struct {
	d                    *Diff
	reference, candidate string
	x, y                 []token
}

func (c *cutter) segments(edits []lcs.Diff) {
	r, k := c.d.Whole.Start, 0 // where the next segment starts in each text
	same := func(toR, toK int) {
		if toR > r || toK > k {
			c.d.Segments = append(c.d.Segments, Segment{Kind: Same, Reference: evidence.Span{Start: r, End: toR}, Candidate: evidence.Span{Start: k, End: toK}})
		}
		r, k = toR, toK
	}
	for _, e := range edits {
		ref := c.span(c.x, e.Start, e.End, c.d.Whole.Start)
		cand := c.span(c.y, e.ReplStart, e.ReplEnd, 0)
		same(ref.Start, cand.Start)
		kind := Replaced
		switch {
		case ref.Start == ref.End:
			kind = Inserted
		case cand.Start == cand.End:
			kind = Deleted
		}
		n := len(c.d.Differences) + 1
		c.d.Segments = append(c.d.Segments, Segment{Kind: kind, Reference: ref, Candidate: cand, Difference: n})
		c.d.Differences = append(c.d.Differences, Difference{
			Number: n, Reference: ref, Candidate: cand,
			ReferenceText: c.reference[ref.Start:ref.End], CandidateText: c.candidate[cand.Start:cand.End],
		})
		r, k = ref.End, cand.End
	}
	same(c.d.Whole.End, len(c.candidate))
}

// span is the range of tokens [from, to); an empty one lies behind the token
// before it.
func (c *cutter) span(list []token, from, to, start int) evidence.Span {
	if from < to {
		return evidence.Span{Start: list[from].Start, End: list[to-1].End}
	}
	if from > 0 {
		start = list[from-1].End
	}
	return evidence.Span{Start: start, End: start}
}
