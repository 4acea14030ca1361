package harness

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/countersign/countersign/judge"
)

// stopwatch counts the time that the engine of one evaluation works. It stands
// still while nothing is under way, and while a call only waits: for the limits
// of its endpoint, or for an endpoint that is down. When the time is up it ends
// the context.
type stopwatch struct {
	limit time.Duration
	end   context.CancelCauseFunc

	mu      sync.Mutex
	left    time.Duration
	started time.Time
	timer   *time.Timer // nil: it stands still
}

type stopwatchKey struct{}

// withLimit gives a context that ends, with an overLimit as its cause, once the
// engine has worked for limit under it.
func withLimit(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	w := &stopwatch{limit: limit, left: limit, end: end}
	ctx = judge.WithWaiting(context.WithValue(ctx, stopwatchKey{}, w), w.pause)
	return ctx, func() { w.stop(); end(context.Canceled) }
}

// working runs the stopwatch of ctx, where it has one, until done is called.
func working(ctx context.Context) (done func()) {
	w, ok := ctx.Value(stopwatchKey{}).(*stopwatch)
	if !ok {
		return func() {}
	}
	w.start()
	return w.stop
}

func (w *stopwatch) start() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		return
	}
	w.started = time.Now()
	w.timer = time.AfterFunc(w.left, func() { w.end(&overLimit{w.limit}) })
}

func (w *stopwatch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil {
		return
	}
	w.timer.Stop()
	w.timer = nil
	w.left = max(0, w.left-time.Since(w.started))
}

// pause stops it, and gives what lets it go on.
func (w *stopwatch) pause() (resume func()) {
	w.mu.Lock()
	running := w.timer != nil
	w.mu.Unlock()
	if !running {
		return func() {}
	}
	w.stop()
	return w.start
}

// overLimit says that an evaluation took longer than it may.
type overLimit struct{ limit time.Duration }

func (e *overLimit) Error() string {
	return fmt.Sprintf("the evaluation took longer than %s; retry, or give the endpoint more room", e.limit)
}
