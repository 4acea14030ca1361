package tracefile

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
)

// entry is what is kept of each id, to tell another trace under the same id from
// the same one again: 24 bytes, whatever the id's length.
//
// 12 bytes of SHA-256 stand for the id. That two ids of a file with a million
// share them has a chance of less than one in 10^16, and nobody can write an id
// that meets a given one. 8 bytes of the trace's hash stand for its content; they
// are only compared under one id.
type entry struct {
	id      [12]byte
	content [8]byte
	line    uint32 // from 1; 0 marks a free place
}

const (
	// shards keep a table that grows from being copied as a whole.
	shards = 256
	// A shard is at most 7/8 full, and grows by an eighth: a million ids take some
	// 31 MB at most.
	fullNum, fullDen = 7, 8
	growth           = 8
)

// seen remembers the ids of a file. The zero value is empty.
type seen struct {
	shards [shards]shard
}

type shard struct {
	places []entry // open addressing, linear
	used   int
}

// entryOf makes the entry of a trace by its id and its hash, in hexadecimal.
// Lines beyond the four-thousand-millionth are told as that one.
func entryOf(id, traceHash string, line int) (entry, error) {
	e := entry{line: uint32(min(int64(line), math.MaxUint32))}
	sum := sha256.Sum256([]byte(id))
	copy(e.id[:], sum[:])
	var content [sha256.Size]byte
	if n, err := hex.Decode(content[:], []byte(traceHash)); err != nil || n < len(e.content) {
		return entry{}, fmt.Errorf("the hash of trace %q is %q, which is not the hexadecimal form of a SHA-256", id, traceHash)
	}
	copy(e.content[:], content[:])
	return e, nil
}

// add keeps an entry unless there is one of its id, which it gives.
func (s *seen) add(e entry) (old entry, known bool) {
	sh := &s.shards[e.id[0]]
	// Before the search, which ends at a free place.
	if (sh.used+1)*fullDen > len(sh.places)*fullNum {
		sh.grow()
	}
	at := sh.find(e)
	if sh.places[at].line > 0 {
		return sh.places[at], true
	}
	sh.places[at] = e
	sh.used++
	return entry{}, false
}

// find is the place of an id, or the free place where it belongs. There must be
// a free one.
func (sh *shard) find(e entry) int {
	n := len(sh.places)
	// The first byte chose the shard; the next four choose the place.
	at := int(uint64(binary.LittleEndian.Uint32(e.id[1:])) * uint64(n) >> 32)
	for sh.places[at].line > 0 && sh.places[at].id != e.id {
		if at++; at == n {
			at = 0
		}
	}
	return at
}

func (sh *shard) grow() {
	old := sh.places
	sh.places = make([]entry, len(old)+len(old)/growth+4)
	for _, e := range old {
		if e.line > 0 {
			sh.places[sh.find(e)] = e
		}
	}
}

// bytes that the table takes.
func (s *seen) bytes() int {
	n := 0
	for i := range s.shards {
		n += cap(s.shards[i].places)
	}
	return n * binary.Size(entry{})
}
