package store

import (
	"math"
	"time"
)

// sliceLength is how much of a limit may be granted at once, as the time in
// which it comes back.
const sliceLength = time.Second

// bucket is one limit of an endpoint by the generic cell rate algorithm (J. S.
// Turner, New directions in communications, IEEE Communications Magazine 24,
// 1986; in this form ATM Forum, Traffic Management Specification 4.0, 1996).
// Granting moves the theoretical arrival time on by what the grant costs; a
// grant may run ahead of the present by a slice and no more.
type bucket struct {
	// due is the theoretical arrival time in microseconds since 1970.
	due       int64
	perMinute int // 0: no limit
}

// cost is the time in microseconds in which n comes back, rounded up: the
// rounding never grants more than the limit.
func (b bucket) cost(n int) int64 {
	per, minute := int64(b.perMinute), time.Minute.Microseconds()
	return (int64(n)*minute + per - 1) / per
}

// grant gives between least and most at the time now, and the bucket after it;
// or nothing and the wait in microseconds before least can be given. A least
// beyond a slice needs a bucket that owes nothing.
func (b bucket) grant(now int64, least, most int) (granted int, after bucket, wait int64) {
	most = max(least, most)
	if b.perMinute <= 0 || most <= 0 {
		return 0, b, 0
	}
	b.perMinute = min(b.perMinute, math.MaxInt32) // the sums below stay in 64 bits
	least = min(least, b.perMinute)
	most = min(most, b.perMinute)
	start := max(b.due, now)
	if start > now+2*time.Minute.Microseconds() {
		// No grant reaches so far: the clock was set back since. What was
		// granted then is forgotten, else nobody could take anything until the
		// clock has caught up.
		start = now
	}
	ahead := max(sliceLength.Microseconds(), b.cost(max(least, 1)))
	room := now + ahead - start
	if least > 0 && room < b.cost(least) {
		return 0, b, b.cost(least) - room
	}
	granted = least
	if fits := room * int64(b.perMinute) / time.Minute.Microseconds(); fits > int64(least) {
		granted = int(min(int64(most), fits))
	}
	b.due = start + b.cost(granted)
	return granted, b, 0
}
