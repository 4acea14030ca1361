package harness

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign/countersign/judge"
)

// Worker takes evaluations from a work list, makes them and brings them back.
// Several workers, in one process or in many, may share a list. It holds no
// transaction and nothing else open while a model is called.
type Worker struct {
	List    judge.WorkList
	Harness *Harness
	// Name tells workers of one list apart.
	Name string
	// Concurrency is the number of evaluations in the making at once; 4 when 0.
	Concurrency int
	// Batch is how many evaluations that call no model are claimed and brought
	// back together; 100 when 0.
	Batch int
	// Lease of a claim; 15 minutes when 0. An evaluation that takes longer is
	// given up a little before and goes to a person as judge_failed.
	Lease time.Duration
	// Idle is the wait before an empty list is asked again; 1 s when 0. A value
	// received from Wake ends it early.
	Idle time.Duration
	Wake <-chan struct{}
	// Grace is how long evaluations under way may go on after the worker was
	// told to stop, so that a call that is paid for is kept; 20 s when 0. Then
	// they go back to the queue.
	Grace time.Duration
	// Done is called after results were stored, with their number. May be nil.
	// It is called from several goroutines.
	Done func(n int)
	Log  *slog.Logger // slog.Default when nil
}

// maxListFaults of the work list in a row end a run.
const maxListFaults = 8

// drainPoll is how often a draining worker asks an empty list while its last
// model calls are under way.
const drainPoll = 50 * time.Millisecond

// Run works until ctx ends and returns nil then. The only error is a work list
// that fails again and again.
func (w *Worker) Run(ctx context.Context) error { return w.run(ctx, false) }

// Drain works until the list has nothing left for it, or ctx ends.
func (w *Worker) Drain(ctx context.Context) error { return w.run(ctx, true) }

func (w *Worker) run(ctx context.Context, drain bool) error {
	working, stop := w.outlive(ctx)
	defer stop()
	shift := &shift{worker: w, ctx: working, slots: make(chan struct{}, cmp.Or(w.Concurrency, 4))}
	defer shift.calls.Wait()

	faults, calls := 0, false
	for ctx.Err() == nil {
		if !shift.waitForSlot(ctx) {
			break
		}
		want := cmp.Or(w.Batch, 100)
		if calls {
			want = shift.free()
		}
		claimed, err := w.List.ClaimWork(ctx, w.name(), want, w.lease())
		if err != nil {
			if ctx.Err() != nil {
				break
			}
			if faults++; faults >= maxListFaults {
				return fmt.Errorf("worker %s: the work list failed %d times in a row: %w", w.name(), faults, err)
			}
			w.log().Error("work could not be claimed, trying again", "worker", w.name(), "error", err)
			w.pause(ctx, time.Duration(faults)*w.idle())
			continue
		}
		faults = 0
		if len(claimed) == 0 {
			if drain && shift.idle() {
				return nil
			}
			wait := w.idle()
			if drain {
				wait = min(wait, drainPoll)
			}
			w.pause(ctx, wait)
			continue
		}
		calls = shift.take(claimed)
	}
	return nil
}

// outlive gives a context that ends Grace after ctx does.
func (w *Worker) outlive(ctx context.Context) (context.Context, context.CancelFunc) {
	working, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stopped := make(chan struct{})
	var once sync.Once
	go func() {
		select {
		case <-ctx.Done():
			timer := time.NewTimer(cmp.Or(w.Grace, 20*time.Second))
			defer timer.Stop()
			select {
			case <-timer.C:
				cancel(context.Cause(ctx))
			case <-stopped:
			}
		case <-stopped:
		}
	}()
	return working, func() { once.Do(func() { close(stopped) }); cancel(nil) }
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

// shift is one run of a worker.
type shift struct {
	worker *Worker
	ctx    context.Context
	slots  chan struct{} // one taken by each evaluation that calls a model
	calls  sync.WaitGroup
}

// waitForSlot waits until one more model call may start. It reports false when
// ctx ended first.
func (s *shift) waitForSlot(ctx context.Context) bool {
	select {
	case s.slots <- struct{}{}:
		<-s.slots
		return true
	case <-ctx.Done():
		return false
	}
}

// free is the number of model calls that may start now.
func (s *shift) free() int { return cap(s.slots) - len(s.slots) }

// idle reports that no model call is under way. Only the claiming loop starts
// calls, so it stays true until that loop goes on.
func (s *shift) idle() bool { return len(s.slots) == 0 }

// take makes claimed work: evaluations that call no model at once and together,
// the others each in a slot of its own. What finds no free slot goes back to
// the queue, where another worker may have one. It reports whether any of the
// work calls a model.
func (s *shift) take(claimed []judge.Work) (anyCalls bool) {
	var fast, surplus []judge.Work
	for _, work := range claimed {
		if !s.worker.Harness.callsModel(work.Planned.Engine) {
			fast = append(fast, work)
			continue
		}
		anyCalls = true
		select {
		case s.slots <- struct{}{}:
			s.calls.Go(func() {
				defer func() { <-s.slots }()
				s.finish(s.make([]judge.Work{work}))
			})
		default:
			surplus = append(surplus, work)
		}
	}
	if surplus != nil {
		s.release(surplus)
	}
	if fast != nil {
		s.finish(s.make(fast))
	}
	return anyCalls
}

// make evaluates work, several at once, and returns what was finished. What was
// not goes back to the queue.
func (s *shift) make(list []judge.Work) []judge.Finished {
	done := make([]*judge.Finished, len(list))
	var group errgroup.Group
	group.SetLimit(cap(s.slots))
	for i, work := range list {
		group.Go(func() error {
			done[i] = s.one(work)
			return nil
		})
	}
	_ = group.Wait() // none returns an error
	finished := make([]judge.Finished, 0, len(list))
	var undone []judge.Work
	for i, f := range done {
		if f == nil {
			undone = append(undone, list[i])
			continue
		}
		finished = append(finished, *f)
	}
	if undone != nil {
		s.release(undone)
	}
	return finished
}

// one makes one evaluation; nil means that the worker was stopped before.
func (s *shift) one(work judge.Work) *judge.Finished {
	lease := s.worker.lease()
	ctx, cancel := context.WithTimeout(s.ctx, lease-lease/20)
	defer cancel()
	h := s.worker.Harness
	var e judge.Evaluation
	var draw *judge.Draw
	var err error
	if work.Judge != nil {
		e, draw, err = h.EvaluateWith(ctx, work.Judge, &work.Trace, work.Planned)
	} else {
		e, draw, err = h.Evaluate(ctx, &work.Trace, work.Planned)
	}
	if err != nil {
		if s.ctx.Err() != nil {
			return nil
		}
		e, draw = h.abandoned(&work.Trace, work.Planned, fmt.Sprintf(
			"the evaluation took longer than %s, the time its claim lasts; retry, or give the endpoint more room", lease))
	}
	done := &judge.Finished{Work: work, Evaluation: e, Draw: draw, Key: e.ID}
	done.Evaluation.ID = work.EvaluationID
	return done
}

// finish brings results back, trying again while the list fails. Results that
// cannot be stored at all are logged; their lease runs out and they are queued
// again.
func (s *shift) finish(done []judge.Finished) {
	if len(done) == 0 {
		return
	}
	// A result is brought back even when the worker is being stopped.
	ctx := context.WithoutCancel(s.ctx)
	for fault := 1; ; fault++ {
		err := s.worker.List.FinishWork(ctx, done)
		if err == nil {
			if s.worker.Done != nil {
				s.worker.Done(len(done))
			}
			return
		}
		if fault >= maxListFaults || s.ctx.Err() != nil {
			s.worker.log().Error("results could not be stored and will be made again",
				"worker", s.worker.name(), "evaluations", len(done), "error", err)
			return
		}
		s.worker.pause(s.ctx, time.Duration(fault)*s.worker.idle())
	}
}

func (s *shift) release(work []judge.Work) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), 10*time.Second)
	defer cancel()
	if err := s.worker.List.ReleaseWork(ctx, work); err != nil {
		s.worker.log().Error("work could not be given back; its lease will run out",
			"worker", s.worker.name(), "evaluations", len(work), "error", err)
	}
}

func (w *Worker) name() string         { return cmp.Or(w.Name, "worker") }
func (w *Worker) lease() time.Duration { return cmp.Or(w.Lease, 15*time.Minute) }
func (w *Worker) idle() time.Duration  { return cmp.Or(w.Idle, time.Second) }
func (w *Worker) log() *slog.Logger    { return cmp.Or(w.Log, slog.Default()) }
