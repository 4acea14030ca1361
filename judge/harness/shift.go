package harness

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/countersign/countersign/judge"
)

// shift is one run of a worker.
type shift struct {
	worker *Worker
	ctx    context.Context
	slots  chan struct{} // one taken by each evaluation that calls a model and has its place
	calls  sync.WaitGroup
	outage *outage
	ended  chan struct{} // closed when the run can't go on

	mu    sync.Mutex
	fault error            // why it can't
	holds map[string]*hold // by evaluation
	begun int              // evaluations that call a model and have not ended
	away  map[string]int   // of those, that gave up their place; by Planned.EngineKey
}

// engines are those whose work is to be claimed now, each a Planned.EngineKey, and
// whether an endpoint is left out because more calls to it would only wait.
func (s *shift) engines() (open []string, down bool) {
	config := s.worker.Harness.config
	s.mu.Lock()
	away := maps.Clone(s.away)
	s.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(config.Engines)) {
		if _, calls := config.Engines[key].(judge.Chat); calls && (away[key] >= cap(s.slots) || config.Breakers.closed(key)) {
			down = true
			continue
		}
		open = append(open, key)
	}
	return open, down
}

// end ends the run with an error; the first one counts.
func (s *shift) end(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == nil {
		s.fault = err
		close(s.ended)
	}
}

// over is why the run can't go on; nil: it can.
func (s *shift) over() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fault
}

// waitForSlot waits until one more model call may start, or ctx ended. The
// error is that of a list whose failing was waited for long enough, or why the run
// can't go on.
func (s *shift) waitForSlot(ctx context.Context) error {
	select {
	case <-s.outage.over:
		return s.outage.fault()
	case <-s.ended:
		return s.over()
	default:
	}
	select {
	case s.slots <- struct{}{}:
		<-s.slots
	case <-s.outage.over:
		return s.outage.fault()
	case <-s.ended:
		return s.over()
	case <-ctx.Done():
	}
	return nil
}

// free is the number of model calls that may start now.
func (s *shift) free() int { return cap(s.slots) - len(s.slots) }

// idle reports that no evaluation that calls a model is under way. Only the
// claiming loop begins them, so it stays true until that loop goes on.
func (s *shift) idle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun == 0
}

// take makes claimed work: evaluations that call no model at once and together,
// the others each in a slot of its own. What finds no free slot goes back to
// the queue, where another worker may have one. It reports whether any of the
// work calls a model.
func (s *shift) take(claimed []judge.Work) (anyCalls bool) {
	var fast, surplus []*hold
	for _, h := range s.hold(claimed) {
		if !s.worker.Harness.callsModel(h.work.Planned) {
			fast = append(fast, h)
			continue
		}
		anyCalls = true
		select {
		case s.slots <- struct{}{}:
			place := s.place(h)
			s.calls.Go(func() {
				defer place.end()
				s.finish(s.make([]*hold{h}))
			})
		default:
			surplus = append(surplus, h)
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

// result is an evaluation that was made under a claim.
type result struct {
	*hold
	judge.Finished
}

// make evaluates work, several at once, and returns what was finished. What was
// not goes back to the queue.
func (s *shift) make(held []*hold) []result {
	done := make([]*judge.Finished, len(held))
	var group errgroup.Group
	group.SetLimit(cap(s.slots))
	for i, h := range held {
		group.Go(func() error {
			done[i] = s.one(h)
			return nil
		})
	}
	_ = group.Wait() // none returns an error
	finished := make([]result, 0, len(held))
	var undone []*hold
	for i, f := range done {
		if f == nil {
			undone = append(undone, held[i])
			continue
		}
		finished = append(finished, result{held[i], *f})
	}
	if undone != nil {
		s.release(undone)
	}
	return finished
}

// one makes one evaluation; nil means that it came to no end: the worker was
// stopped, the claim was lost, or the list could not keep a reply.
func (s *shift) one(held *hold) *judge.Finished {
	ctx, cancel := withLimit(held.ctx, s.worker.limit())
	defer cancel()
	work := held.work
	e, draw, err := s.worker.of(work.Project).evaluate(ctx, task{
		judge: work.Judge, trace: &work.Trace, planned: work.Planned, policy: work.Policy, key: work.EvaluationID,
	})
	if err != nil {
		if held.ctx.Err() == nil {
			s.unfinished(work, err)
		}
		return nil
	}
	e.ID = work.EvaluationID
	return &judge.Finished{Work: work, Evaluation: e, Draw: draw, Key: work.EvaluationID}
}

// unfinished tells why work goes back to the queue, and keeps it from being taken
// and failed again at full speed.
func (s *shift) unfinished(work judge.Work, err error) {
	var wrong *MisdirectedError
	var spent *BudgetError
	switch log := s.worker.log(); {
	case errors.As(err, &wrong):
		s.end(wrong)
		return
	case errors.As(err, &spent): // the run was stopped as it was meant to be
		log.Info("the budget of the run has no room for the next call: its evaluations are on hold until it is raised",
			"project", work.Project, "run", work.Trace.Run, "evaluation", work.EvaluationID, "cause", spent)
	default:
		log.Error("an evaluation goes back to the queue",
			"worker", s.worker.name(), "evaluation", work.EvaluationID, "error", err)
	}
	s.rest(s.worker.idle())
}
