package harness

import (
	"context"
	"time"

	"github.com/countersign/countersign/judge"
)

const (
	// callLimit bounds one call to the list: a server that is cut off without a
	// word would hold it for many minutes.
	callLimit = time.Minute
	// maxRefusals of results by a list that works end their bringing back.
	maxRefusals = 8
)

// finish brings results back. While the list fails they are kept and tried
// again, for as long as their claims are held and the worker works. Results that
// a working list refuses are logged; they are made again when their lease ran
// out.
func (s *shift) finish(done []result) {
	for refused := 0; ; {
		if done = s.stillHeld(done); len(done) == 0 {
			return
		}
		err := s.store(done)
		if err == nil {
			s.outage.ended()
			s.dropAll(done)
			if s.worker.Done != nil {
				s.worker.Done(len(done))
			}
			return
		}
		if s.ctx.Err() != nil {
			s.giveUp(done, err)
			return
		}
		// Does the list fail, or does it refuse these results?
		wait := firstWait
		if failed := s.extend(s.ctx, holdsOf(done)); failed != nil {
			wait = s.outage.failed(failed)
		} else if refused++; refused >= maxRefusals {
			s.apart(done, err)
			return
		}
		s.rest(wait)
	}
}

// store is one try. It is made even when the worker is being stopped.
func (s *shift) store(done []result) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), callLimit)
	defer cancel()
	finished := make([]judge.Finished, len(done))
	for i, r := range done {
		finished[i] = r.Finished
	}
	return s.worker.List.FinishWork(ctx, finished)
}

// apart brings back one by one what was refused together, so that one bad
// result does not take the others along.
func (s *shift) apart(done []result, err error) {
	if len(done) == 1 {
		s.giveUp(done, err)
		return
	}
	for _, r := range done {
		s.finish([]result{r})
	}
}

func (s *shift) giveUp(done []result, err error) {
	s.worker.log().Error("results could not be stored and will be made again",
		"worker", s.worker.name(), "evaluations", len(done), "error", err)
	s.dropAll(done)
}

// stillHeld drops results whose claims were lost.
func (s *shift) stillHeld(done []result) []result {
	kept := make([]result, 0, len(done))
	for _, r := range done {
		if r.lost() {
			s.drop(r.hold)
			continue
		}
		kept = append(kept, r)
	}
	return kept
}

// release gives unfinished work back at once. What was lost is others' already.
func (s *shift) release(held []*hold) {
	defer s.drop(held...)
	var work []judge.Work
	for _, h := range held {
		if !h.lost() {
			work = append(work, h.work)
		}
	}
	if work == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), 10*time.Second)
	defer cancel()
	if err := s.worker.List.ReleaseWork(ctx, work); err != nil {
		s.worker.log().Error("work could not be given back; its lease will run out",
			"worker", s.worker.name(), "evaluations", len(work), "error", err)
	}
}

// rest waits before the next try, or less when the worker is stopped.
func (s *shift) rest(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}

func (s *shift) dropAll(done []result) { s.drop(holdsOf(done)...) }

func holdsOf(done []result) []*hold {
	held := make([]*hold, len(done))
	for i, r := range done {
		held[i] = r.hold
	}
	return held
}
