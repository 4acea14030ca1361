package harness

import (
	"context"
	"errors"
	"time"

	"github.com/countersign/countersign/judge"
)

// errClaimLost ends an evaluation that another worker has taken over.
var errClaimLost = errors.New("the claim was lost to another worker")

// hold is one claim, from when it was given until its result was brought back.
type hold struct {
	work judge.Work
	ctx  context.Context // ends when the claim is lost, or with the shift
	lose context.CancelCauseFunc
}

// lost says that another worker has the work.
func (h *hold) lost() bool { return errors.Is(context.Cause(h.ctx), errClaimLost) }

// hold begins to hold claims.
func (s *shift) hold(claimed []judge.Work) []*hold {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := make([]*hold, len(claimed))
	for i, work := range claimed {
		ctx, lose := context.WithCancelCause(s.ctx)
		held[i] = &hold{work: work, ctx: ctx, lose: lose}
		s.holds[work.EvaluationID] = held[i]
	}
	return held
}

// drop ends holding: the result is stored, given back or given up.
func (s *shift) drop(held ...*hold) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range held {
		h.lose(nil)
		// A claim that was lost and given to this very worker again is another.
		if s.holds[h.work.EvaluationID] == h {
			delete(s.holds, h.work.EvaluationID)
		}
	}
}

// beat extends every claim that is held, each third of the lease, until end is
// called.
func (s *shift) beat() (end func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(s.ctx))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		every := s.worker.lease() / 3
		for wait := every; ; {
			timer := time.NewTimer(wait)
			select {
			case <-ctx.Done():
				timer.Stop()
				return
			case <-timer.C:
			}
			wait = every
			if err := s.extend(ctx, s.held()); err != nil && ctx.Err() == nil {
				wait = min(every, s.outage.failed(err))
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// held are the claims of now.
func (s *shift) held() []*hold {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*hold, 0, len(s.holds))
	for _, h := range s.holds {
		all = append(all, h)
	}
	return all
}

// extend makes claims last, and ends what was lost. An error says that the list
// could not be asked.
func (s *shift) extend(ctx context.Context, held []*hold) error {
	if len(held) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	work := make([]judge.Work, len(held))
	byClaim := map[claim]*hold{}
	for i, h := range held {
		work[i] = h.work
		byClaim[claimOf(h.work)] = h
	}
	lost, err := s.worker.List.ExtendWork(ctx, work, s.worker.lease())
	if err != nil {
		return err
	}
	s.outage.ended()
	for _, w := range lost {
		if h, ok := byClaim[claimOf(w)]; ok {
			h.lose(errClaimLost)
		}
	}
	return nil
}

// claim tells one claim of an evaluation from the next.
type claim struct {
	evaluation string
	fence      int64
}

func claimOf(w judge.Work) claim { return claim{w.EvaluationID, w.Fence} }
