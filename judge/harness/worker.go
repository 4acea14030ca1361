package harness

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/countersign/countersign/judge"
)

// Worker takes evaluations from a work list, makes them and brings them back.
// Several workers, in one process or in many, may share a list. It holds no
// transaction and nothing else open while a model is called. It claims what its
// harness has the engine for; while a model endpoint is down, nothing for that.
type Worker struct {
	List    judge.WorkList
	Harness *Harness
	// Of gives the harness of a project, which has the same engines; nil, or a nil
	// answer: Harness. It is asked for each evaluation, so it must be quick.
	Of func(project string) *Harness
	// Name tells workers of one list apart.
	Name string
	// Concurrency is the number of evaluations in the making at once; 4 when 0.
	// Those that wait for an endpoint that is down do not count; there are at most
	// twice as many for each endpoint.
	Concurrency int
	// Batch is how many evaluations that call no model are claimed and brought
	// back together; 100 when 0.
	Batch int
	// Lease of a claim; 2 minutes when 0. A claim is extended every third of it
	// for as long as its evaluation is in the making, so the lease is only how
	// long the work of a worker that was lost waits for another one.
	Lease time.Duration
	// Limit of one evaluation; 15 minutes when 0. One that takes longer is given
	// up and goes to a person as judge_failed, with the calls it made. Time in
	// which it only waits, for the endpoint's limits or until it is up again,
	// does not count.
	Limit time.Duration
	// Idle is the wait before an empty list is asked again; 1 s when 0. A value
	// received from Wake ends it early.
	Idle time.Duration
	Wake <-chan struct{}
	// Patience is how long a list that fails is waited for before the run ends
	// with its error; for ever when 0.
	Patience time.Duration
	// Grace is how long evaluations under way may go on after the worker was
	// told to stop, so that a call that is paid for is kept; 20 s when 0. Then
	// they go back to the queue.
	Grace time.Duration
	// Done is called after results were stored, with their number. May be nil.
	// It is called from several goroutines.
	Done func(n int)
	Log  *slog.Logger // slog.Default when nil
}

// drainPoll is how often a draining worker asks an empty list while its last
// model calls are under way.
const drainPoll = 50 * time.Millisecond

// Run works until ctx ends and returns nil then. A list that fails is waited for
// as long as Patience lets it. The other error is a *MisdirectedError, where the
// breakers end calls with it.
func (w *Worker) Run(ctx context.Context) error { return w.run(ctx, false) }

// Drain works until the list has nothing left for it, or ctx ends. What waits for
// an engine that its harness does not have is left there.
func (w *Worker) Drain(ctx context.Context) error { return w.run(ctx, true) }

func (w *Worker) run(ctx context.Context, drain bool) error {
	working, stop := outliving(ctx, cmp.Or(w.Grace, 20*time.Second))
	defer stop()
	shift := &shift{
		worker: w, ctx: working, slots: make(chan struct{}, cmp.Or(w.Concurrency, 4)), away: map[string]int{},
		outage: &outage{log: w.log().With("worker", w.name()), patience: w.Patience, over: make(chan struct{})},
		ended:  make(chan struct{}),
		holds:  map[string]*hold{},
	}
	beating := shift.beat()
	defer beating()
	defer shift.calls.Wait()

	calls := false
	for ctx.Err() == nil {
		if err := shift.waitForSlot(ctx); err != nil {
			var wrong *MisdirectedError
			if errors.As(err, &wrong) {
				if w.Harness.config.Breakers.Down() {
					stop() // calls to another endpoint wait for it
				}
				return wrong // else they may come to their end
			}
			stop() // what is under way can't be brought back either
			return fmt.Errorf("worker %s: %w", w.name(), err)
		}
		engines, down := shift.engines()
		want := cmp.Or(w.Batch, 100)
		if calls {
			want = shift.free()
		}
		claimed, err := w.claim(ctx, engines, want)
		if err != nil {
			if ctx.Err() == nil {
				w.pause(ctx, shift.outage.failed(err))
			}
			continue
		}
		shift.outage.ended()
		if len(claimed) == 0 {
			if drain && !down && shift.idle() {
				return shift.over()
			}
			wait := w.idle()
			if drain && !down {
				wait = min(wait, drainPoll)
			}
			w.pause(ctx, wait)
			continue
		}
		calls = shift.take(claimed)
	}
	return nil
}

// claim takes work of these engines. Of none there is no work, and nobody is asked.
func (w *Worker) claim(ctx context.Context, engines []string, n int) ([]judge.Work, error) {
	if len(engines) == 0 {
		return nil, nil
	}
	return w.List.ClaimWork(ctx, judge.Claim{Worker: w.name(), N: n, Lease: w.lease(), Engines: engines})
}

// outliving gives a context that ends some time after ctx does.
func outliving(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		timer := time.AfterFunc(grace, func() { cancel(context.Cause(ctx)) })
		context.AfterFunc(longer, func() { timer.Stop() })
	})
	return longer, func() { forget(); cancel(context.Canceled) }
}

// pause waits, or less when ctx ends or new work is announced.
func (w *Worker) pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.Wake:
	case <-ctx.Done():
	}
}

// of is the harness that makes a project's evaluations.
func (w *Worker) of(project string) *Harness {
	if w.Of != nil {
		if h := w.Of(project); h != nil {
			return h
		}
	}
	return w.Harness
}

func (w *Worker) name() string         { return cmp.Or(w.Name, "worker") }
func (w *Worker) lease() time.Duration { return cmp.Or(w.Lease, 2*time.Minute) }
func (w *Worker) limit() time.Duration { return cmp.Or(w.Limit, 15*time.Minute) }
func (w *Worker) idle() time.Duration  { return cmp.Or(w.Idle, time.Second) }
func (w *Worker) log() *slog.Logger    { return cmp.Or(w.Log, slog.Default()) }
