package pack_test

import (
	"testing"

	"github.com/countersign/countersign/store/pack"
)

// kind is one of the texts of an evaluation and how it is best packed.
type kind struct {
	name string
	text func(texts) []byte
	base func(texts) []byte // nil: packed without a base
	dict int                // the dictionary's size in bytes, 0 for none
}

// kinds in the order in which they are unpacked. The reply, which may be
// deleted one day, is packed against the detail, which stays, and is in no
// dictionary.
var kinds = []kind{
	{"body", func(x texts) []byte { return x.body }, nil, pack.MaxDictionary},
	{"prompt", func(x texts) []byte { return x.prompt }, func(x texts) []byte { return x.body }, 12 << 10},
	{"detail", func(x texts) []byte { return x.detail }, func(x texts) []byte { return x.body }, 16 << 10},
	{"reply", func(x texts) []byte { return x.reply }, func(x texts) []byte { return x.detail }, 0},
}

func (k kind) bases(x texts) [][]byte {
	if k.base == nil {
		return nil
	}
	return [][]byte{k.base(x)}
}

// learnt is a dictionary of the kind, or nil.
func (k kind) learnt(tb testing.TB, from []texts) *pack.Dictionary {
	tb.Helper()
	if k.dict == 0 {
		return nil
	}
	samples := make([][]byte, len(from))
	for i, x := range from {
		samples[i] = k.text(x)
	}
	d, err := pack.NewDictionary(1, pack.Train(samples, k.dict))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}
