package harness

import (
	"context"
	"sync"

	"github.com/countersign/countersign/judge"
)

// Purse is a budget in memory, for one run of one process. What was held and
// spent never passes it together.
type Purse struct {
	budget judge.NanoUSD

	mu      sync.Mutex
	spent   judge.NanoUSD
	held    judge.NanoUSD
	stuck   judge.NanoUSD // of it, by calls that wait for more
	holds   map[[2]string]judge.NanoUSD
	changed chan struct{} // closed and made anew when something is given back
}

// NewPurse makes a purse with so much in it. What was spent before, in a run that
// this one goes on with, is noted by Spent with names of its own.
func NewPurse(budget judge.NanoUSD) *Purse {
	return &Purse{budget: budget, holds: map[[2]string]judge.NanoUSD{}, changed: make(chan struct{})}
}

// Hold implements judge.Purse.
func (p *Purse) Hold(ctx context.Context, evaluation, call string, amount judge.NanoUSD) (bool, error) {
	if amount < 0 {
		return false, nil // nobody knows what it costs
	}
	name := [2]string{evaluation, call}
	p.mu.Lock()
	defer p.mu.Unlock()
	for waits := false; ; {
		if p.spent+p.held+amount <= p.budget {
			p.held += amount
			p.holds[name] += amount
			return true, nil
		}
		if !waits {
			// Two calls that wait for each other's hold would wait for ever, so
			// what a waiting call holds counts as what does not come back.
			waits = true
			p.stuck += p.holds[name]
			defer func(stuck judge.NanoUSD) { p.stuck -= stuck }(p.holds[name])
			p.wake()
		}
		if p.spent+p.stuck+amount > p.budget {
			return false, nil
		}
		changed := p.changed
		p.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		p.mu.Lock()
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
	}
}

func (p *Purse) wake() {
	close(p.changed)
	p.changed = make(chan struct{})
}

// Spent implements judge.Purse.
func (p *Purse) Spent(_ context.Context, evaluation, call string, cost judge.NanoUSD) error {
	p.settle(evaluation, call, cost)
	return nil
}

// Drop implements judge.Purse.
func (p *Purse) Drop(_ context.Context, evaluation, call string) error {
	p.settle(evaluation, call, 0)
	return nil
}

func (p *Purse) settle(evaluation, call string, cost judge.NanoUSD) {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := [2]string{evaluation, call}
	p.held -= p.holds[name]
	delete(p.holds, name)
	p.spent += cost
	p.wake()
}

// Accounts are what was spent and what is held now.
func (p *Purse) Accounts() (spent, held judge.NanoUSD) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.spent, p.held
}
