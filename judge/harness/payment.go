package harness

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/judge"
)

// BudgetError says that the budget has no room for a call, which was not made.
// It says nothing of the evaluation, which belongs back in the queue.
type BudgetError struct {
	// Worst is what the call could cost; judge.UnknownCost when the model has no
	// price, so that no budget can hold it.
	Worst judge.NanoUSD
	Model string
}

func (e *BudgetError) Error() string {
	if e.Worst == judge.UnknownCost {
		return fmt.Sprintf("model %s has no price, so no budget can be kept: give it one, or take the budget away", e.Model)
	}
	return fmt.Sprintf("the budget has no room for a call of up to $%.4f: raise it to go on", float64(e.Worst)/1e9)
}

// payment is what one call holds of a purse. A nil payment costs nothing.
type payment struct {
	purse     judge.Purse
	key, call string
	model     string
	worst     judge.NanoUSD
	held      bool // for the try that comes
	unclear   bool // a try brought no answer at all: it may be billed
}

func (h *Harness) payment(l *line, call string, c judge.Conversation, p judge.Params) *payment {
	if h.config.Purse == nil {
		return nil
	}
	pay := &payment{purse: h.config.Purse, key: l.key, call: call, model: p.Model, worst: judge.UnknownCost}
	if priced, ok := l.chat.(judge.Priced); ok {
		if price, known := priced.Price(p.Model); known {
			pay.worst = price.Worst(c, p)
		}
	}
	return pay
}

// hold takes what the next try can cost, unless it is held already.
func (p *payment) hold(ctx context.Context) error {
	if p == nil || p.held {
		return nil
	}
	ok, err := p.purse.Hold(ctx, p.key, p.call, p.worst)
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &LedgerError{fmt.Errorf("hold the cost of a call: %w", err)}
	case !ok:
		return &BudgetError{Worst: p.worst, Model: p.model}
	}
	p.held = true
	return nil
}

// failed notes a try without a reply. Where the endpoint answered, nothing is
// billed and the next try has the same hold; else the next one holds once more.
func (p *payment) failed(err error) {
	if p == nil {
		return
	}
	var transport *judge.TransportError
	if !errors.As(err, &transport) || transport.Status == 0 {
		p.held, p.unclear = false, true
	}
}

// spent turns what is held into what the replies cost.
func (p *payment) spent(ctx context.Context, replies ...judge.Reply) error {
	if p == nil {
		return nil
	}
	cost := 0.0
	for _, r := range replies {
		cost += r.CostUSD
	}
	if err := p.purse.Spent(ctx, p.key, p.call, judge.Nano(cost)); err != nil {
		return &LedgerError{fmt.Errorf("note the cost of a call: %w", err)}
	}
	return nil
}

// unanswered settles a call that brought no reply but perhaps answers to probes.
// What may be billed stays held.
func (p *payment) unanswered(ctx context.Context, probes []judge.Reply) error {
	switch {
	case p == nil:
		return nil
	case len(probes) > 0:
		return p.spent(ctx, probes...)
	case p.unclear || !p.held:
		return nil
	}
	if err := p.purse.Drop(ctx, p.key, p.call); err != nil {
		return &LedgerError{fmt.Errorf("give back the cost of a call: %w", err)}
	}
	return nil
}
