package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// budget is what the calls of a run may cost together; nil: anything. What
// earlier runs that this one goes on with have paid counts.
func (c judgeCmd) budget(ctx context.Context, s *state, e engines, replies *journal) (*harness.Purse, error) {
	switch {
	case c.Budget == 0 && !s.byName["budget"]:
		return nil, nil
	case !(c.Budget > 0 && c.Budget <= mostBudget):
		return nil, usagef("--budget is %v: give an amount in dollars above 0, at most %s", c.Budget, thousands(mostBudget))
	}
	if e.engine != judge.EngineOpenAI {
		return nil, usagef("--budget is for models that are paid: the engine %s costs nothing", e.engine)
	}
	if err := e.priced(); err != nil {
		return nil, err
	}
	purse := harness.NewPurse(judge.Nano(c.Budget))
	return purse, purse.Spent(ctx, "earlier runs", "", replies.paid())
}

// budgetOver is why a run ended that its budget stopped.
func budgetOver(err error, budget float64, path string) error {
	var over *harness.BudgetError
	if !errors.As(err, &over) {
		return err
	}
	if path == "" {
		return fmt.Errorf("the budget of $%.2f is used up: %w", budget, over)
	}
	return fmt.Errorf("the budget of $%.2f is used up: %w; what is made is kept, and the same command with a higher --budget goes on", budget, over)
}
