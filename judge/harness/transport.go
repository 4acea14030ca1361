package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/countersign/countersign/judge"
)

// Retry says how calls that brought no reply are tried again: exponential
// backoff with jitter, or the wait that the endpoint asked for.
type Retry struct {
	Tries   int           // of one call, the first included; 6 when 0
	Initial time.Duration // first wait; 500 ms when 0
	Max     time.Duration // longest wait of our own; 30 s when 0
	// MaxAsked is the longest wait that an endpoint may ask for (Retry-After);
	// one that asks for more has failed for good. 5 minutes when 0.
	MaxAsked time.Duration
}

func (r Retry) withDefaults() Retry {
	if r.Tries <= 0 {
		r.Tries = 6
	}
	if r.Initial <= 0 {
		r.Initial = 500 * time.Millisecond
	}
	if r.Max <= 0 {
		r.Max = 30 * time.Second
	}
	if r.MaxAsked <= 0 {
		r.MaxAsked = 5 * time.Minute
	}
	return r
}

// send makes one call and tries again while the failure is temporary. retries
// counts the tries after the first.
func (h *Harness) send(ctx context.Context, chat judge.Chat, c judge.Conversation, p judge.Params) (reply judge.Reply, retries int, err error) {
	rules := h.config.Retry
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = rules.Initial, rules.Max
	tries := 0
	reply, err = backoff.Retry(ctx, func() (judge.Reply, error) {
		tries++
		reply, err := chat.Reply(ctx, c, p)
		if err == nil {
			return reply, nil
		}
		var transport *judge.TransportError
		if !errors.As(err, &transport) || !transport.Temporary {
			return reply, backoff.Permanent(err)
		}
		if transport.RetryAfter > rules.MaxAsked {
			return reply, backoff.Permanent(fmt.Errorf("%w (it asks to wait %s, more than the %s allowed)", err, transport.RetryAfter, rules.MaxAsked))
		}
		if transport.RetryAfter > 0 {
			return reply, errors.Join(err, &backoff.RetryAfterError{Duration: transport.RetryAfter})
		}
		return reply, err
	}, backoff.WithBackOff(waits), backoff.WithMaxTries(uint(rules.Tries)), backoff.WithMaxElapsedTime(0))
	if err != nil && ctx.Err() == nil {
		var transport *judge.TransportError
		if errors.As(err, &transport) && transport.Temporary && tries >= rules.Tries {
			err = fmt.Errorf("gave up after %d tries: %w", tries, error(transport))
		}
	}
	return reply, tries - 1, err
}
