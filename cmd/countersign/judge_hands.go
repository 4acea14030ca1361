package main

import (
	"context"
	"sync"
	"sync/atomic"
)

// turns bound the calls to models that are under way at once. After the run was
// told to end, no evaluation makes its first one; those that have begun go on.
type turns struct {
	told  context.Context
	taken chan struct{}
}

func newTurns(told context.Context, most int) *turns {
	return &turns{told: told, taken: make(chan struct{}, most)}
}

// take is a harness's Config.Turn.
func (t *turns) take(ctx context.Context, first bool) (done func(), err error) {
	ended := t.told.Done()
	if !first {
		ended = nil
	}
	if err := stopped(t.told); first && err != nil {
		return nil, err
	}
	select {
	case t.taken <- struct{}{}:
		return func() { <-t.taken }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-ended:
		return nil, errInterrupted
	}
}

// ahead is how many evaluations more than calls are in the making, so that the
// next prompt is ready when a call ends, and no model waits while reports are
// checked. One call at a time goes in the order of the file, so it has none.
func ahead(calls int) int { return min(64, calls/2) }

// hands make evaluations, so many at once at most. They stay: one that
// made an evaluation has the room for the next one already.
type hands struct {
	work    chan func()
	most    int
	workers sync.WaitGroup
	started int
	busy    atomic.Int64
}

func newHands(most int) *hands { return &hands{work: make(chan func()), most: most} }

// give hands over a piece of work when somebody is free for it. It reports false
// when ctx ended before. Only one goroutine may call it.
func (h *hands) give(ctx context.Context, work func()) bool {
	select {
	case h.work <- work:
		return true
	default:
	}
	if h.started < h.most {
		h.started++
		h.workers.Go(func() {
			for {
				h.busy.Add(1)
				work()
				h.busy.Add(-1)
				var more bool
				if work, more = <-h.work; !more {
					return
				}
			}
		})
		return true
	}
	select {
	case h.work <- work:
		return true
	case <-ctx.Done():
		return false
	}
}

// end waits until all work is done. There is no more.
func (h *hands) end() {
	close(h.work)
	h.workers.Wait()
}
