package harness

import (
	"context"
	"sync"
)

// place is what an evaluation that calls a model has among those that are made at
// once. One that waits for an endpoint that is down gives it up, so that work for
// the others goes on. A nil place is that of whoever needs none.
type place struct {
	shift *shift
	key   string // of its engine

	mu   sync.Mutex
	held bool
}

type placeKey struct{}

// placeOf is the place of the evaluation that is made under ctx.
func placeOf(ctx context.Context) *place {
	p, _ := ctx.Value(placeKey{}).(*place)
	return p
}

// place gives an evaluation the slot that was just taken for it.
func (s *shift) place(h *hold) *place {
	p := &place{shift: s, key: h.work.Planned.EngineKey(), held: true}
	h.ctx = context.WithValue(h.ctx, placeKey{}, p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begun++
	return p
}

// leave gives the place up.
func (p *place) leave() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.held {
		return
	}
	p.held = false
	p.count(1)
	<-p.shift.slots
}

// retake waits for a place, if it was given up. An error is ctx's.
func (p *place) retake(ctx context.Context) error {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		return nil
	}
	select {
	case p.shift.slots <- struct{}{}:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	p.held = true
	p.count(-1)
	return nil
}

// end gives up what the evaluation has.
func (p *place) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		<-p.shift.slots
	} else {
		p.count(-1)
	}
	p.shift.mu.Lock()
	defer p.shift.mu.Unlock()
	p.shift.begun--
}

// count changes how many evaluations of the engine are without a place.
func (p *place) count(n int) {
	p.shift.mu.Lock()
	defer p.shift.mu.Unlock()
	p.shift.away[p.key] += n
}
