package evidence

import (
	"slices"
	"sync"
)

// alignment pairs the words of a quotation with words of a source.
type alignment struct {
	pieces  []piece
	pairs   []int32 // per word of the quotation: the source's word, or -1
	quote   string
	matched int
}

// alignPieces aligns the pieces in order, each after the one before it. Of
// passages that fit a piece equally well the earliest is taken, which leaves
// most room for the pieces to come.
func (s *Source) alignPieces(q string, pieces []piece, effort *Effort) alignment {
	a := alignment{pieces: pieces, quote: q}
	from := 0
	for _, p := range pieces {
		pairs := s.alignPiece(q, p.words, from, effort)
		for _, j := range pairs {
			if j >= 0 {
				from = int(j) + 1
				a.matched++
			}
		}
		a.pairs = append(a.pairs, pairs...)
	}
	return a
}

// each calls f with the first occurrences of a word at or after from.
func (s *Source) each(hash uint32, w string, from int, effort *Effort, f func(i int)) {
	k, left := s.first[bucket(hash)&s.mask], occurrences
	for steps := 0; k > 0 && left > 0 && steps < maxChain; steps++ {
		effort.Steps++
		if i := int(k - 1); i >= from && s.isWord(i, hash, w) {
			f(i)
			left--
		}
		k = s.next[k-1]
	}
}

const (
	seeds       = 24 // rarest words of a piece that are looked up
	occurrences = 48 // of each that are looked at
	windows     = 3  // passages that are aligned
)

// alignPiece aligns one run of words with the best passage at or after word
// from of the source.
func (s *Source) alignPiece(q string, words []word, from int, effort *Effort) []int32 {
	best := make([]int32, len(words))
	for i := range best {
		best[i] = -1
	}
	bestCost := 1 << 30
	for _, w := range s.windows(q, words, from, effort) {
		effort.Steps += len(words) * (w[1] - w[0])
		if cost := s.alignWindow(q, words, w[0], w[1], best, bestCost); cost < bestCost {
			bestCost = cost
		}
	}
	return best
}

// seed is a word of a piece, and which of the ballot's places are its occurrences.
type seed struct{ word, from, to int }

func (s seed) count() int { return s.to - s.from }

// vote of a shared word for a place where the piece would start.
type vote struct{ place, weight int }

// ballot is the room that windows needs for a while.
type ballot struct {
	found []seed
	at    []int32 // words of the source
	votes []vote
	taken []bool
}

var ballots = sync.Pool{New: func() any { return new(ballot) }}

// windows chooses ranges of source words [from, to) that share most of the
// rarer words of a piece. Each shared word votes for the place where the piece
// would start; places that lie close together count together.
func (s *Source) windows(q string, words []word, from int, effort *Effort) [][2]int {
	b := ballots.Get().(*ballot)
	defer ballots.Put(b)
	b.found, b.at = b.found[:0], b.at[:0]
	for i, w := range words {
		before := len(b.at)
		s.each(w.hash, q[w.start:w.end], from, effort, func(at int) { b.at = append(b.at, int32(at)) })
		if len(b.at) > before {
			b.found = append(b.found, seed{word: i, from: before, to: len(b.at)})
		}
	}
	if len(b.found) > seeds {
		slices.SortStableFunc(b.found, func(a, b seed) int { return a.count() - b.count() })
		b.found = b.found[:seeds]
	}
	b.votes = b.votes[:0]
	for _, f := range b.found {
		weight := 1 + occurrences/f.count()
		for _, at := range b.at[f.from:f.to] {
			b.votes = append(b.votes, vote{int(at) - f.word, weight})
		}
	}
	votes := b.votes
	slices.SortFunc(votes, func(a, b vote) int { return a.place - b.place })
	slack := len(words)/2 + 6
	var ranges [][2]int
	b.taken = grow(b.taken, len(votes))
	taken := b.taken
	clear(taken)
	for range windows {
		bestSum, bestLo, bestHi := 0, 0, 0
		sum, lo := 0, 0
		for hi := range votes {
			if taken[hi] {
				sum, lo = 0, hi+1
				continue
			}
			sum += votes[hi].weight
			for votes[hi].place-votes[lo].place > slack {
				sum -= votes[lo].weight
				lo++
			}
			if sum > bestSum {
				bestSum, bestLo, bestHi = sum, lo, hi
			}
		}
		if bestSum == 0 {
			break
		}
		for i := bestLo; i <= bestHi; i++ {
			taken[i] = true
		}
		margin := len(words)/4 + 2
		start := max(from, votes[bestLo].place-margin)
		end := min(len(s.words), votes[bestHi].place+len(words)+margin)
		if start < end {
			ranges = append(ranges, [2]int{start, end})
		}
	}
	return ranges
}

// Costs of an alignment. A word changed, missing or left out costs the same; a
// longer run of source words left out costs little more than a short one.
const (
	costEdit = 16
	costJump = 40 // to leave out a run
	costRun  = 1  // each word of it
	// gainMatch makes of two alignments with equal edits the one with more words
	// in common: in "do not stop", "do stop" lacks "not"; it has not "do" for "not".
	gainMatch = 1
)

// Moves of the alignment, two bits for each of the two states of a cell.
const (
	moveMatch   = 1 // a word of each
	moveMissing = 2 // a word of the quotation
	moveSkip    = 3 // a word of the source
)

type table struct {
	cost  []int32
	moves []uint8
}

var tables = sync.Pool{New: func() any { return new(table) }}

// alignWindow aligns words with source words [from, to), both ends of the
// window free (semi-global alignment after Sellers 1980, with a second state
// for runs left out, as in Gotoh 1982). It writes the pairs into best when
// they cost less than limit, and gives the cost.
func (s *Source) alignWindow(q string, words []word, from, to int, best []int32, limit int) int {
	t := tables.Get().(*table)
	defer tables.Put(t)
	width := to - from + 1
	cells := (len(words) + 1) * width
	t.cost = grow(t.cost, 4*width)
	t.moves = grow(t.moves, cells)
	prev, row := t.cost[:width], t.cost[width:2*width]
	prevRun, run := t.cost[2*width:3*width], t.cost[3*width:4*width]
	const never = int32(1) << 29
	for j := range width {
		prev[j], prevRun[j] = 0, never
	}
	for i, w := range words {
		text := q[w.start:w.end]
		moves := t.moves[(i+1)*width : (i+2)*width]
		row[0], run[0] = prev[0]+costEdit, never
		moves[0] = moveMissing
		for j := 1; j < width; j++ {
			move := uint8(moveMatch)
			// Words are compared by hash first: rarely is the text needed.
			c := min(prev[j-1], prevRun[j-1])
			if s.isWord(from+j-1, w.hash, text) {
				c -= gainMatch
			} else {
				c += costEdit
			}
			if prevRun[j-1] < prev[j-1] {
				move |= 1 << 2 // came out of a run
			}
			if d := prev[j] + costEdit; d < c {
				c, move = d, moveMissing
			}
			if d := row[j-1] + costEdit; d < c {
				c, move = d, moveSkip
			}
			row[j] = c
			open, on := row[j-1]+costJump, run[j-1]+costRun
			if on < open {
				run[j] = on
				move |= 1 << 3 // the run went on
			} else {
				run[j] = open
			}
			moves[j] = move
		}
		prev, row = row, prev
		prevRun, run = run, prevRun
	}
	end, cost := 0, never
	for j, c := range prev {
		if c < cost {
			end, cost = j, c
		}
	}
	if int(cost) >= limit {
		return int(cost)
	}
	s.trace(q, words, from, end, t.moves, width, best)
	return int(cost)
}

// trace walks an alignment back from its end and notes equal words.
func (s *Source) trace(q string, words []word, from, end int, moves []uint8, width int, pairs []int32) {
	for i := range pairs {
		pairs[i] = -1
	}
	inRun := false
	for i, j := len(words), end; i > 0; {
		move := moves[i*width+j]
		if inRun {
			inRun = move&(1<<3) != 0
			j--
			continue
		}
		switch move & 3 {
		case moveMatch:
			w := words[i-1]
			if s.isWord(from+j-1, w.hash, q[w.start:w.end]) {
				pairs[i-1] = int32(from + j - 1)
			}
			inRun = move&(1<<2) != 0
			i--
			j--
		case moveMissing:
			i--
		default:
			j--
		}
	}
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}
