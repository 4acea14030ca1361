package store

import lru "github.com/hashicorp/golang-lru/v2"

// Bounds of what is remembered of traces, and again of reports: some 5 MB of short ones,
// and a few long ones, which would push all others out. A person who works on a long one
// saves a draft of it every few seconds.
const (
	mostShort = 256
	shortSize = 20 << 10
	mostLong  = 8
	longSize  = 1 << 20
)

// remembered are values that were read not long ago, and never change under their key.
type remembered[K comparable, V any] struct{ short, long *lru.Cache[K, V] }

func newRemembered[K comparable, V any]() remembered[K, V] {
	short, err := lru.New[K, V](mostShort)
	long, failed := lru.New[K, V](mostLong)
	if err != nil || failed != nil {
		panic("a size below one")
	}
	return remembered[K, V]{short, long}
}

func (r remembered[K, V]) get(key K) (V, bool) {
	if v, ok := r.short.Get(key); ok {
		return v, true
	}
	return r.long.Get(key)
}

// add keeps a value of a size in bytes, unless it is larger than any that is kept.
func (r remembered[K, V]) add(key K, v V, size int) {
	switch {
	case size <= shortSize:
		r.short.Add(key, v)
	case size <= longSize:
		r.long.Add(key, v)
	}
}
