package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// budget is what the calls of a run may cost together in dollars: that of the
// command line, else of the policy; 0: anything.
func (c judgeCmd) budget(s *state, e engines, policy judge.Policy) (float64, error) {
	if c.Budget == 0 && !s.byName["budget"] {
		if e.engine != judge.EngineOpenAI || policy.BudgetUSD == 0 {
			return 0, nil
		}
		return policy.BudgetUSD, e.priced()
	}
	if !(c.Budget > 0 && c.Budget <= mostBudget) {
		return 0, usagef("--budget is %v: give an amount in dollars above 0, at most %s", c.Budget, thousands(mostBudget))
	}
	if e.engine != judge.EngineOpenAI {
		return 0, usagef("--budget is for models that are paid: the engine %s costs nothing", e.engine)
	}
	return c.Budget, e.priced()
}

// purseOf pays for calls out of a budget; nil: there is none. What earlier runs that
// this one goes on with have paid counts.
func purseOf(ctx context.Context, budget float64, replies *journal) (*harness.Purse, error) {
	if budget == 0 {
		return nil, nil
	}
	purse := harness.NewPurse(judge.Nano(budget))
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
