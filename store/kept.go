package store

import (
	"context"
	"sync"
)

// kept holds answers that are dear to count, until the next audit event:
// whatever could change them writes one, so an answer of the same place of the
// chain is never stale.
type kept[V any] struct {
	mu     sync.Mutex
	seq    int64
	values map[string]V
}

// of gives the kept answer of that name, or counts it.
func (k *kept[V]) of(ctx context.Context, s *Store, name string, count func() (V, error)) (v V, err error) {
	// The place is read before the count: what happens meanwhile makes the
	// answer one of an older place, which is thrown away with the next event.
	var seq int64
	if err := s.reader.QueryRowContext(ctx, `SELECT seq FROM audit_head WHERE id = 1`).Scan(&seq); err != nil {
		return v, err
	}
	k.mu.Lock()
	v, ok := k.values[name]
	ok = ok && k.seq == seq
	k.mu.Unlock()
	if ok {
		return v, nil
	}
	if v, err = count(); err != nil {
		return v, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.seq != seq || k.values == nil {
		k.seq, k.values = seq, map[string]V{}
	}
	k.values[name] = v
	return v, nil
}
