package openai

import (
	"time"

	"golang.org/x/time/rate"

	"github.com/countersign/countersign/judge"
)

// ownLimits are the limits of an endpoint as one process keeps them for itself:
// token buckets that hold a minute's worth. nil means no limit.
type ownLimits struct {
	requests, tokens *rate.Limiter
}

func newOwnLimits(perMinute judge.Budget) ownLimits {
	limiter := func(n int) *rate.Limiter {
		if n <= 0 {
			return nil
		}
		return rate.NewLimiter(rate.Limit(float64(n)/60), n)
	}
	return ownLimits{limiter(perMinute.Requests), limiter(perMinute.Tokens)}
}

// reserve books a call and says how long it must wait. cancel takes it back as
// far as nothing was booked behind it. No field of need is above the limit.
func (l ownLimits) reserve(now time.Time, need judge.Budget) (delay time.Duration, cancel func()) {
	var booked []*rate.Reservation
	if l.requests != nil {
		booked = append(booked, l.requests.ReserveN(now, need.Requests))
	}
	if l.tokens != nil {
		booked = append(booked, l.tokens.ReserveN(now, need.Tokens))
	}
	for _, b := range booked {
		delay = max(delay, b.DelayFrom(now))
	}
	return delay, func() {
		for _, b := range booked {
			b.CancelAt(now)
		}
	}
}
