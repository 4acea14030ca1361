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
	// MaxAsked is the longest wait that an endpoint may ask of one call
	// (Retry-After). One that asks for more counts as down. 5 minutes when 0.
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

// gaveUp is a call that failed as often as it may although its endpoint answers.
type gaveUp struct {
	tries  int
	probed bool // the endpoint had to be asked whether it does
	err    error
}

func (e *gaveUp) Error() string {
	if e.probed {
		return fmt.Sprintf("gave up after %d tries, although the endpoint answers other calls: %v", e.tries, e.err)
	}
	return fmt.Sprintf("gave up after %d tries: %v", e.tries, e.err)
}

// Unwrap is the newest failure.
func (e *gaveUp) Unwrap() error { return e.err }

// send makes one call and tries again while the failure is temporary. Failures of
// an endpoint that is down are no tries of the call: it waits until the endpoint
// answers and begins anew. retries counts the calls before the last one.
//
// A call that had all its tries while nobody else got an answer asks the endpoint
// something else, so that a trace on which it always fails is told from an
// endpoint that is down. It gives up when all its tries failed between two such
// probes that were answered. The line keeps their answers.
func (h *Harness) send(ctx context.Context, l *line, pay *payment, c judge.Conversation, p judge.Params) (reply judge.Reply, retries int, err error) {
	rules, chat, b := h.config.Retry, l.chat, l.breaker
	defer b.join()()
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = rules.Initial, rules.Max
	waits.Reset()
	made, tries, outages, answers, proven := 0, 0, 0, 0, 0
	var newest error
	for {
		if err := pay.hold(ctx); err != nil {
			return judge.Reply{}, max(0, made-1), err
		}
		turn, err := b.enter(ctx)
		if err != nil {
			return judge.Reply{}, max(0, made-1), err
		}
		if err := placeOf(ctx).retake(ctx); err != nil {
			b.left(turn)
			return judge.Reply{}, max(0, made-1), err
		}
		if turn.outages != outages && made > 0 {
			tries = 0 // what failed before was the endpoint
			waits.Reset()
		}
		outages = turn.outages
		if turn.probe && tries >= rules.Tries {
			up, err := h.probe(ctx, l, pay, turn, p.Model)
			if err != nil {
				return judge.Reply{}, made - 1, err
			}
			if up {
				if proven++; proven == 2 {
					return judge.Reply{}, made - 1, &gaveUp{tries: made, probed: true, err: newest}
				}
			}
			continue
		}
		if tries == 0 {
			answers = turn.answers
		}
		made, tries = made+1, tries+1
		reply, err := h.reply(ctx, chat, c, p)
		if err == nil {
			b.reply(turn)
			return reply, made - 1, nil
		}
		pay.failed(err)
		if ctx.Err() != nil {
			b.left(turn)
			return judge.Reply{}, made - 1, context.Cause(ctx)
		}
		passing := temporary(err)
		if passing == nil {
			b.refused(turn, err)
			return judge.Reply{}, made - 1, err
		}
		newest = err
		l.failure = bounded([]string{passing.Error()})[0]
		before := -1
		if tries >= rules.Tries {
			before = answers
		}
		if b.failed(turn, passing, before, rules.MaxAsked) {
			continue
		}
		if tries >= rules.Tries {
			return judge.Reply{}, made - 1, &gaveUp{tries: made, err: err}
		}
		wait := waits.NextBackOff()
		if passing.RetryAfter > 0 {
			wait = jittered(passing.RetryAfter)
		}
		if err := pause(ctx, wait); err != nil {
			return judge.Reply{}, made - 1, err
		}
	}
}

// reply makes one call, and counts its time. A panic of the engine is an error, so
// that whoever waits for the call learns that it ended.
func (h *Harness) reply(ctx context.Context, chat judge.Chat, c judge.Conversation, p judge.Params) (r judge.Reply, err error) {
	defer working(ctx)()
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("the engine %s stopped on this call: %v; report this as a fault of the program", chat.Name(), fault)
		}
	}()
	return chat.Reply(ctx, c, p)
}

// probe asks whether the endpoint answers at all; a refusal is an answer too. An
// error is ctx's.
func (h *Harness) probe(ctx context.Context, l *line, pay *payment, t turn, model string) (up bool, err error) {
	reply, err := h.reply(ctx, l.chat, judge.ProbePrompt(), judge.Params{Model: model, MaxTokens: h.config.MaxTokens, Seed: h.config.Seed})
	if err == nil {
		l.breaker.reply(t)
		l.probes = append(l.probes, reply)
		return true, nil
	}
	pay.failed(err)
	if ctx.Err() != nil {
		l.breaker.left(t)
		return false, context.Cause(ctx)
	}
	if passing := temporary(err); passing != nil {
		l.breaker.failed(t, passing, -1, h.config.Retry.MaxAsked)
		return false, nil
	}
	l.breaker.refused(t, err)
	return true, nil
}

// refused notes a failure for good: an answer, where it came from the endpoint.
func (b *breaker) refused(t turn, err error) {
	var transport *judge.TransportError
	if errors.As(err, &transport) && transport.Status != 0 {
		b.answered(t)
		return
	}
	b.left(t)
}

// pause waits, and returns early with the error of ctx.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
