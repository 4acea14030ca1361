package store

import (
	"context"
	"crypto/rand"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/oklog/ulid/v2"
)

// clocks tell the time of leases, due dates and events. It is the database's,
// so that processes on several machines agree; between its readings the time
// that passed here is added, which no change of this machine's clock disturbs.
type clocks struct {
	fixed func() time.Time // a test's clock

	mu   sync.Mutex
	read time.Time // what the database said
	at   time.Time // when it said so, here
}

// heard notes what the database's clock said just now.
func (c *clocks) heard(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.read, c.at = now, time.Now()
}

// now is the database's time: what was heard last, and what passed since.
func (c *clocks) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read.Add(time.Since(c.at))
}

// clock is the present in UTC at the precision that both databases keep, so
// that times compare and hash alike wherever they are stored. Every write
// transaction asks the database anew; see tx.
func (s *Store) clock() time.Time {
	switch _, file := s.engine.(sqliteEngine); {
	case s.clocks.fixed != nil:
		return toStored(s.clocks.fixed())
	case file:
		return toStored(time.Now())
	}
	return toStored(s.clocks.now())
}

// askClock asks the database for the time.
func (s *Store) askClock(ctx context.Context, q querier) (time.Time, error) {
	if s.clocks.fixed != nil {
		return s.clock(), nil
	}
	now, err := s.engine.now(ctx, q)
	if err != nil {
		return time.Time{}, err
	}
	s.clocks.heard(now)
	return toStored(now), nil
}

func toStored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// entropy makes ids of one millisecond sort in the order they were made in.
var entropy = &ulid.LockedMonotonicReader{MonotonicReader: ulid.Monotonic(rand.Reader, 0)}

// newID makes an id that sorts by the time it was made (a ULID).
func newID(at time.Time) string { return ulid.MustNew(ulid.Timestamp(at), entropy).String() }

// newProjectID makes a short id: it stands in every row and index of the
// project's, and there are few projects. The key of their table refuses the one
// of two that should ever be the same.
func newProjectID() string { return rand.Text()[:8] }

// firstIDOf is not above any id made at that time or later.
func firstIDOf(t time.Time) string {
	var first ulid.ULID
	if t.Before(time.UnixMilli(0)) {
		return first.String()
	}
	if err := first.SetTime(min(ulid.Timestamp(t), ulid.MaxTime())); err != nil {
		return "" // a time beyond the year 10889 was cut to it
	}
	return first.String()
}

// isID says whether a text can be an id of this store, of today's form or of
// the one before (a UUID).
func isID(text string) bool {
	if _, err := ulid.ParseStrict(text); err == nil {
		return true
	}
	return uuid.Validate(text) == nil
}
