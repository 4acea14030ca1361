package store

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"slices"
	"time"
)

// RunCost is what a judge by one model cost in a run.
type RunCost struct {
	Judge, Model                   string
	Evaluations                    int64 // rounds of judging; a retry is another
	Calls                          int64
	Unpriced                       int64 // calls of models without a price; CostUSD leaves them out
	PromptTokens, CompletionTokens int64
	CostUSD                        float64
	// TooFew: so few evaluations that the sums would tell of single ones that the
	// actor may still have to answer blind. All numbers but Evaluations are 0.
	TooFew bool
}

// RunMoney is what a run cost: the evaluations that it queued, also those that
// other runs hold as well.
type RunMoney struct {
	Costs     []RunCost // by judge and model
	Total     RunCost
	BudgetUSD *float64 // nil: no limit
	// SpentUSD and HeldUSD are of the budget: what is paid, and the most that
	// calls under way, or without an answer, can cost. 0 when Total is TooFew.
	SpentUSD, HeldUSD float64
	OnHold            int        // queued, and not to be judged until the budget is raised
	StoppedAt         *time.Time // since when, UTC; nil: it is not stopped
}

// RunMoney reads what a run cost. Roles: lead, auditor, admin.
func (s *Store) RunMoney(ctx context.Context, a Actor, project, run string) (m RunMoney, err error) {
	defer wrap(&err, "read what run %q of project %q cost", run, project)
	if err := s.authorise(ctx, a, readers, "run.read", "project:"+project); err != nil {
		return m, err
	}
	id, err := s.runID(ctx, project, run)
	if err != nil {
		return m, err
	}
	m.Costs, err = collect(ctx, s.reader, func(r *sql.Rows, c *RunCost) error {
		var cost int64
		err := r.Scan(&c.Judge, &c.Model, &c.Evaluations, &c.Calls, &c.Unpriced, &c.PromptTokens, &c.CompletionTokens, &cost)
		c.CostUSD = dollars(cost)
		return err
	}, `
SELECT judge, model, evaluations, calls, unpriced, prompt_tokens, completion_tokens, cost_nano
FROM run_costs WHERE run_id = ? AND evaluations > 0 ORDER BY judge, model`, id)
	if err != nil {
		return m, err
	}
	var held, settled int64
	var limit sql.NullInt64
	var stopped sql.NullTime
	if err := s.reader.QueryRowContext(ctx, `
SELECT r.budget_nano, r.stopped_at,
    r.unclear_nano + COALESCE((SELECT sum(h.nano) FROM spend_holds h WHERE h.run_id = r.id AND NOT h.settled), 0),
    COALESCE((SELECT sum(h.nano) FROM spend_holds h WHERE h.run_id = r.id AND h.settled), 0),
    (SELECT count(*) FROM evaluations e WHERE e.run_id = r.id AND e.status = 'queued' AND e.on_hold)
FROM runs r WHERE r.id = ?`, id).Scan(&limit, &stopped, &held, &settled, &m.OnHold); err != nil {
		return m, err
	}
	if limit.Valid {
		usd := dollars(limit.Int64)
		m.BudgetUSD = &usd
	}
	m.StoppedAt = optional(stopped)
	m.seal(a, settled, held)
	return m, nil
}

// seal sums up, and takes out what would tell of single evaluations.
func (m *RunMoney) seal(a Actor, settled, held int64) {
	parts, cost := make([]int64, len(m.Costs)), settled
	for i, c := range m.Costs {
		parts[i] = c.Evaluations
		m.Total.Evaluations += c.Evaluations
		m.Total.Calls += c.Calls
		m.Total.Unpriced += c.Unpriced
		m.Total.PromptTokens += c.PromptTokens
		m.Total.CompletionTokens += c.CompletionTokens
		cost += nano(c.CostUSD)
	}
	m.Total.CostUSD, m.SpentUSD, m.HeldUSD = dollars(cost-settled), dollars(cost), dollars(held)
	for i, few := range tooFew(a, parts) {
		if few {
			m.Costs[i] = RunCost{Judge: m.Costs[i].Judge, Model: m.Costs[i].Model, Evaluations: parts[i], TooFew: true}
		}
	}
	if a.MayDecide() && m.Total.Evaluations < fewestTold {
		m.Total = RunCost{Evaluations: m.Total.Evaluations, TooFew: true}
		m.SpentUSD, m.HeldUSD = 0, 0
	}
}

// costKey is whose cost it is; costSum what it sums to.
type (
	costKey struct{ run, judge, model string }
	costSum struct{ evaluations, calls, unpriced, prompt, completion, nano int64 }
)

// pay adds a round of judging to what a run cost.
func (d *deltas) pay(k costKey, calls []countedCall) {
	sum := d.costs[k]
	sum.evaluations++
	for _, c := range calls {
		sum.calls++
		sum.prompt += int64(c.tokens.Prompt)
		sum.completion += int64(c.tokens.Completion)
		sum.nano += nano(c.costUSD)
		if c.unpriced {
			sum.unpriced++
		}
	}
	d.costs[k] = sum
}

func (d *deltas) addCosts(other map[costKey]costSum) {
	for k, o := range other {
		c := d.costs[k]
		d.costs[k] = costSum{c.evaluations + o.evaluations, c.calls + o.calls, c.unpriced + o.unpriced, c.prompt + o.prompt,
			c.completion + o.completion, c.nano + o.nano}
	}
}

func compareCosts(a, b costKey) int {
	return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.judge, b.judge), cmp.Compare(a.model, b.model))
}

func (d *deltas) writeCosts(ctx context.Context, t *tx) error {
	for _, k := range slices.SortedFunc(maps.Keys(d.costs), compareCosts) {
		c := d.costs[k]
		if _, err := t.exec(ctx, `
INSERT INTO run_costs (run_id, judge, model, evaluations, calls, unpriced, prompt_tokens, completion_tokens, cost_nano)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (run_id, judge, model) DO UPDATE SET evaluations = run_costs.evaluations + excluded.evaluations,
    calls = run_costs.calls + excluded.calls, unpriced = run_costs.unpriced + excluded.unpriced,
    prompt_tokens = run_costs.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = run_costs.completion_tokens + excluded.completion_tokens,
    cost_nano = run_costs.cost_nano + excluded.cost_nano`,
			k.run, k.judge, k.model, c.evaluations, c.calls, c.unpriced, c.prompt, c.completion, c.nano); err != nil {
			return err
		}
	}
	return nil
}
