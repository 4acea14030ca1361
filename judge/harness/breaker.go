package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/countersign/countersign/judge"
)

// Breakers know which model endpoints are down. While one is, calls to it wait:
// they are not made, not counted and fail nothing, and one at a time asks whether
// it is back. All harnesses of a process share one.
//
// An endpoint is down when calls to it failed in a row, whoever made them, After
// times and once for each call that is on its way, with failures that may pass (429,
// 5xx, time-outs, broken connections); and when one call had all its tries and
// nobody got an answer meanwhile. Any answer, a refusal too, ends an outage.
type Breakers struct {
	After   int           // failures in a row; 5 when 0
	First   time.Duration // wait before it is asked for the first time; 1 s when 0
	Longest time.Duration // the waits double up to this one; a minute when 0
	// Patience is how long an outage is waited for. Then waiting calls end with
	// an *OutageError, which says nothing of their evaluations. For ever when 0.
	Patience time.Duration
	// Misdirected ends the calls to an endpoint that never gave a reply and answers
	// what is no chat completion, with a *MisdirectedError: for a command whose
	// user can put the address right. Else that is an outage like another.
	Misdirected bool
	// Changed is told when an outage begins, goes on after a probe, and ends. It
	// is called by one goroutine at a time for an endpoint, and holds calls up while
	// it runs. May be nil.
	Changed func(Outage)
	Log     *slog.Logger // slog.Default when nil

	mu         sync.Mutex
	byEndpoint map[string]*breaker
}

// Outage is what is known of an endpoint that is down, or was.
type Outage struct {
	Endpoint string // host
	Down     bool   // false: it answers again
	Since    time.Time
	Next     time.Time // when it is asked again
	Failures int       // in a row
	Err      error     // the newest
}

// OutageError says that an endpoint was down for longer than it is waited for.
// It says nothing of the evaluation, which belongs back in the queue.
type OutageError struct {
	Endpoint string
	For      time.Duration
	Err      error // the newest failure
}

func (e *OutageError) Error() string {
	return fmt.Sprintf("the model endpoint %s has been down for %s; start again when it answers: %v", e.Endpoint, e.For.Round(time.Second), e.Err)
}

// Unwrap is the newest failure.
func (e *OutageError) Unwrap() error { return e.Err }

// MisdirectedError says that what answers at the address of an endpoint is none.
// It says nothing of the evaluation, which belongs back in the queue.
type MisdirectedError struct{ Err error }

func (e *MisdirectedError) Error() string { return e.Err.Error() }

// Unwrap is what came.
func (e *MisdirectedError) Unwrap() error { return e.Err }

// of is the breaker of an endpoint, by the name it is planned under.
func (b *Breakers) of(endpoint string) *breaker {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.byEndpoint == nil {
		b.byEndpoint = map[string]*breaker{}
	}
	s := b.byEndpoint[endpoint]
	if s == nil {
		s = &breaker{rules: b, host: endpoint, changed: make(chan struct{})}
		b.byEndpoint[endpoint] = s
	}
	return s
}

// Down says whether calls to any endpoint wait for it to be back.
func (b *Breakers) Down() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, s := range b.byEndpoint {
		s.mu.Lock()
		down := s.down
		s.mu.Unlock()
		if down {
			return true
		}
	}
	return false
}

// closed says that more calls to an endpoint would only wait: it is down, and
// either it is too early to ask it or a call under way does. An endpoint whose
// time to be asked has come and that nobody asks is open, for the call that does.
func (b *Breakers) closed(endpoint string) bool {
	s := b.of(endpoint)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.down && (s.waiting > 0 || s.probing || time.Now().Before(s.next))
}

// breaker is the state of one endpoint.
type breaker struct {
	rules *Breakers

	mu       sync.Mutex
	host     string
	failures int // in a row
	down     bool
	since    time.Time
	next     time.Time
	wait     time.Duration
	probing  bool
	waiting  int // calls that wait for it to be up
	callers  int // calls that are made, or wait to be tried again
	answers  int // there were
	outages  int // that ended
	replied  bool
	err      error
	wrong    *MisdirectedError // nil: the address may be right
	changed  chan struct{}     // closed and made anew with each change
}

// turn is the leave to make one call.
type turn struct {
	probe            bool
	answers, outages int // that there had been when it was given
}

// join notes a caller until leave is called: in a storm some of many calls fail,
// and in an outage all do.
func (b *breaker) join() (leave func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.callers++
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.callers--
	}
}

// enter returns when a call may be made: at once while the endpoint is up, and as
// the only one when it is time to ask whether it is up again. A call that waits
// gives its place up meanwhile; the caller takes it back.
func (b *breaker) enter(ctx context.Context) (turn, error) {
	// The lock is held from waking to waiting again: in between, a call that
	// waits would count for nobody, and the worker would bring one more.
	b.mu.Lock()
	defer b.mu.Unlock()
	for {
		now := time.Now()
		switch {
		case b.wrong != nil:
			return turn{}, b.wrong
		case !b.down:
			return turn{answers: b.answers, outages: b.outages}, nil
		case b.rules.Patience > 0 && now.Sub(b.since) >= b.rules.Patience:
			return turn{}, &OutageError{Endpoint: b.host, For: now.Sub(b.since), Err: b.err}
		case !b.probing && !now.Before(b.next):
			b.probing = true
			return turn{probe: true, answers: b.answers, outages: b.outages}, nil
		}
		b.waiting++
		placeOf(ctx).leave()
		err := b.await(ctx, now)
		b.waiting--
		if err != nil {
			return turn{}, err
		}
	}
}

// await waits for the next change, or for the time of the next probe. It is
// called with the lock held and returns with it.
func (b *breaker) await(ctx context.Context, now time.Time) error {
	changed := b.changed
	d := b.next.Sub(now)
	if b.probing {
		d = cmp.Or(b.rules.Longest, time.Minute) // whoever asks tells when it has its answer
	}
	if b.rules.Patience > 0 {
		d = min(d, b.since.Add(b.rules.Patience).Sub(now))
	}
	b.mu.Unlock()
	defer b.mu.Lock()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-changed:
	case <-timer.C:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return nil
}

// reply notes a model's reply: the endpoint is up, and it is one.
func (b *breaker) reply(t turn) {
	b.mu.Lock()
	b.replied = true
	b.mu.Unlock()
	b.answered(t)
}

// answered notes an answer, whatever it says: the endpoint is up.
func (b *breaker) answered(t turn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end(t)
	b.failures = 0
	b.answers++
	if !b.down {
		return
	}
	b.down, b.wait = false, 0
	b.outages++
	b.log().Info("the model endpoint answers again; judging goes on", "endpoint", b.host, "after", time.Since(b.since).Round(time.Millisecond))
	b.tell()
}

// left notes a call that ended without telling anything of the endpoint.
func (b *breaker) left(t turn) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end(t)
	if t.probe {
		b.tell()
	}
}

// end notes that a turn is over; the lock is held.
func (b *breaker) end(t turn) {
	if t.probe {
		b.probing = false
	}
}

// failed notes a failure that may pass, and reports whether the endpoint is down.
// answers is how many there had been before the call failed first, where it has no
// more tries; -1 while it has. An endpoint that asks for a wait longer than longest
// is down too: nobody stands in a call for that long.
func (b *breaker) failed(t turn, err *judge.TransportError, answers int, longest time.Duration) (down bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end(t)
	b.failures++
	b.err = err
	b.host = cmp.Or(err.Endpoint, b.host)
	first := err.Foreign && !b.replied
	if first && b.rules.Misdirected {
		b.wrong = &MisdirectedError{err}
		b.tell()
		return true
	}
	begins := b.failures >= max(cmp.Or(b.rules.After, 5), b.callers) || err.RetryAfter > longest || answers == b.answers || first
	switch {
	case b.down && !t.probe: // it was under way when the outage began
		return true
	case b.down:
		b.wait = min(2*b.wait, cmp.Or(b.rules.Longest, time.Minute))
	case begins:
		b.down, b.since, b.wait = true, time.Now(), cmp.Or(err.RetryAfter, b.rules.First, time.Second)
		b.log().Warn("the model endpoint takes no calls; they wait until it answers again",
			"endpoint", b.host, "failures", b.failures, "error", err)
	default:
		return false
	}
	// An endpoint that says when to come back is not asked before, and each time
	// that it says so again a little later: "in a second" may go on for hours.
	wait := b.wait
	if err.RetryAfter > 0 {
		wait = max(min(err.RetryAfter, longest), min(b.wait, longestAsked))
	}
	b.next = time.Now().Add(jittered(wait))
	b.tell()
	return true
}

// longestAsked bounds the doubling for an endpoint that says itself when to come
// back.
const longestAsked = 30 * time.Second

// tell wakes whoever waits and calls the hook; the lock is held.
func (b *breaker) tell() {
	close(b.changed)
	b.changed = make(chan struct{})
	if b.rules.Changed != nil {
		b.rules.Changed(Outage{Endpoint: b.host, Down: b.down, Since: b.since, Next: b.next, Failures: b.failures, Err: b.err})
	}
}

func (b *breaker) log() *slog.Logger { return cmp.Or(b.rules.Log, slog.Default()) }

// jittered makes a wait up to a quarter longer, at most 5 s: what was told to
// wait together must not come back together. It is never shorter.
func jittered(d time.Duration) time.Duration {
	return d + rand.N(min(d/4, 5*time.Second)+1)
}

// temporary is the failure of a call that may pass; nil when it may not.
func temporary(err error) *judge.TransportError {
	var transport *judge.TransportError
	if errors.As(err, &transport) && transport.Temporary {
		return transport
	}
	return nil
}
