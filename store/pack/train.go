package pack

import (
	"bytes"
	"encoding/binary"
	"slices"
)

const (
	// gram is the length that counts as the same text, in bytes.
	gram = 8
	// joinOver is the longest stretch without shared text that is kept between
	// two with it, so that they stay as far apart as in the samples. A repeated
	// distance costs a frame next to nothing.
	joinOver = 64
	// leastPiece is the shortest piece of a sample that is taken.
	leastPiece = 24
	// Longer samples are left out: finding what they share takes too long.
	maxSample = 1 << 20
)

// Train makes the content of a dictionary of at most maxSize bytes (at most
// MaxDictionary; nothing when it is not positive). Samples are texts of one
// kind: the prompts of a judge's version, its reports, a project's traces; those
// of more than 1 MiB are left out. The content is whole samples, each once, in
// their order, as far as they fit; and from those that don't, the pieces that
// most samples have, then those that another has too. The start of the first
// sample stands in when there is neither.
//
// Whole samples are best as long as they fit: prompts took 159 bytes with 16 KiB
// of them and 172 with 16 KiB of shared pieces. When none fits, only pieces keep
// the end of a template: 234 bytes instead of 1,018. The dictionary builder of
// klauspost/compress, at 32 KiB and without a base, left 2,230 bytes of a prompt
// where 16 KiB of whole samples left 1,550.
//
// What is packed against a base is best served by 12 KiB (prompts) to 16 KiB
// (reports). A prompt with its worked example took 180 bytes with 12 KiB, and 490
// with 8, which do not hold its template. All of a dictionary is indexed at every
// call: 64 KiB saved 3% of a report and nothing of a prompt for more than twice the
// time. A text without a base keeps the index from call to call, so traces may have
// 64 KiB.
func Train(samples [][]byte, maxSize int) []byte {
	maxSize = min(maxSize, MaxDictionary)
	if maxSize <= 0 {
		return nil
	}
	samples = distinct(samples)
	var whole []byte
	var left [][]byte
	for _, s := range samples {
		if len(whole)+len(s) <= maxSize {
			whole = append(whole, s...)
		} else {
			left = append(left, s)
		}
	}
	if len(left) == 0 {
		return whole
	}
	p := &pieces{have: map[uint64]bool{}, room: maxSize - len(whole)}
	p.know(whole)
	counts := countGrams(samples)
	common := p.take(left, func(g uint64) bool { return int(counts[g].samples) > len(samples)/2 })
	shared := p.take(left, func(g uint64) bool { return counts[g].samples > 1 })
	// Where the same text stands twice a frame refers to the later place, which
	// is then the one with more text round it.
	content := slices.Concat(shared, common, whole)
	if len(content) == 0 {
		return bytes.Clone(left[0][:min(maxSize, len(left[0]))])
	}
	return content
}

// distinct gives the samples that can be used, each once.
func distinct(samples [][]byte) (list [][]byte) {
	seen := map[string]bool{}
	for _, s := range samples {
		if len(s) <= maxSample && !seen[string(s)] {
			seen[string(s)] = true
			list = append(list, s)
		}
	}
	return list
}

type gramCount struct {
	last    int32 // the sample that it was last seen in, from 1
	samples int32 // that have it
}

func countGrams(samples [][]byte) map[uint64]gramCount {
	counts := map[uint64]gramCount{}
	for n, s := range samples {
		eachGram(s, func(_ int, g uint64) {
			if c := counts[g]; c.last != int32(n+1) {
				counts[g] = gramCount{last: int32(n + 1), samples: c.samples + 1}
			}
		})
	}
	return counts
}

// pieces are taken from samples, each text once, as long as there is room.
type pieces struct {
	have map[uint64]bool
	room int
}

func (p *pieces) know(text []byte) { eachGram(text, func(_ int, g uint64) { p.have[g] = true }) }

// take gives the pieces of the samples whose grams are wanted and new.
func (p *pieces) take(samples [][]byte, wanted func(gram uint64) bool) (taken []byte) {
	for _, s := range samples {
		start, end := 0, 0 // the piece so far
		add := func() {
			piece := s[start:min(end, start+p.room)]
			if len(piece) < leastPiece {
				return
			}
			taken = append(taken, piece...)
			p.room -= len(piece)
			p.know(piece)
		}
		eachGram(s, func(at int, g uint64) {
			if p.have[g] || !wanted(g) {
				return
			}
			if at > end+joinOver || end == 0 {
				add()
				start = at
			}
			end = at + gram
		})
		add()
	}
	return taken
}

func eachGram(s []byte, visit func(at int, g uint64)) {
	for at := 0; at+gram <= len(s); at++ {
		visit(at, binary.LittleEndian.Uint64(s[at:]))
	}
}
