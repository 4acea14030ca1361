package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// The store is the purse of judging: an evaluation is paid by the run that
// queued it. What a run has spent is what its stored evaluations cost
// (run_costs), what calls of unfinished ones cost or may cost (spend_holds), and
// what may have been billed although no answer came (runs.unclear_nano).
var _ judge.Purse = (*Store)(nil)

// holdPause is how long a call waits before it looks again for what others gave
// back.
const holdPause = 200 * time.Millisecond

// Hold implements judge.Purse for the evaluation with this id of the store. An
// evaluation whose run has no budget holds nothing. When there is no room for
// good the run is stopped: what is queued for it waits until its budget is
// raised.
func (s *Store) Hold(ctx context.Context, evaluation, call string, amount judge.NanoUSD) (ok bool, err error) {
	defer wrap(&err, "hold the cost of a call of evaluation %s", evaluation)
	for {
		run, err := s.paidBy(ctx, evaluation)
		if err != nil || run == "" {
			return err == nil, err
		}
		var again bool
		err = s.write(ctx, func(t *tx) error {
			ok, again, err = t.hold(ctx, run, evaluation, call, amount)
			return err
		})
		if err != nil || !again {
			return ok, err
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(holdPause):
		}
	}
}

// Spent implements judge.Purse.
func (s *Store) Spent(ctx context.Context, evaluation, call string, cost judge.NanoUSD) (err error) {
	defer wrap(&err, "note the cost of a call of evaluation %s", evaluation)
	run, err := s.paidBy(ctx, evaluation)
	if err != nil || run == "" {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `
INSERT INTO spend_holds (evaluation_id, call, run_id, nano, settled, waiting) VALUES (?, ?, ?, ?, TRUE, FALSE)
ON CONFLICT (evaluation_id, call) DO UPDATE SET nano = excluded.nano, settled = TRUE, waiting = FALSE`, evaluation, call, run, int64(cost))
		return err
	})
}

// Drop implements judge.Purse.
func (s *Store) Drop(ctx context.Context, evaluation, call string) (err error) {
	defer wrap(&err, "give back the cost of a call of evaluation %s", evaluation)
	run, err := s.paidBy(ctx, evaluation)
	if err != nil || run == "" {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `DELETE FROM spend_holds WHERE evaluation_id = ? AND call = ? AND NOT settled`, evaluation, call)
		return err
	})
}

// paidBy is the run with a budget that pays for an evaluation; empty: none does.
func (s *Store) paidBy(ctx context.Context, evaluation string) (run string, err error) {
	err = s.reader.QueryRowContext(ctx, `
SELECT r.id FROM evaluations e JOIN runs r ON r.id = e.run_id WHERE e.id = ? AND r.budget_nano IS NOT NULL`, evaluation).Scan(&run)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return run, err
}

// hold takes the amount if there is room. again says that there will be when
// others give back what they hold.
func (t *tx) hold(ctx context.Context, run, evaluation, call string, amount judge.NanoUSD) (ok, again bool, err error) {
	if err := t.lockRow(ctx, "r", `SELECT r.id FROM runs r WHERE r.id = ?`, run); err != nil {
		return false, false, err
	}
	// All in one question: what is stored as finished meanwhile leaves the holds
	// for the costs, and between two questions it would be in neither.
	var b budget
	var held, stuck int64
	if err := t.scan(ctx, `
SELECT `+budgetColumns+`,
    COALESCE((SELECT sum(h.nano) FROM spend_holds h WHERE h.run_id = r.id), 0),
    COALESCE((SELECT sum(h.nano) FROM spend_holds h JOIN evaluations e ON e.id = h.evaluation_id WHERE h.run_id = r.id
        AND (h.settled OR h.waiting OR h.evaluation_id = ? AND h.call = ? OR NOT (e.status = 'judging' AND e.lease_expires_at > ?))), 0)
FROM runs r JOIN projects p ON p.id = r.project_id WHERE r.id = ?`,
		[]any{evaluation, call, t.now, run}, append(b.fields(), &held, &stuck)); err != nil {
		return false, false, err
	}
	if !b.budget.Valid { // it was taken away meanwhile
		return true, false, nil
	}
	if b.stopped.Valid {
		return false, false, nil
	}
	switch {
	case amount < 0 || b.spent+stuck+int64(amount) > b.budget.Int64:
		return false, false, t.stopRun(ctx, run, amount)
	case b.spent+held+int64(amount) > b.budget.Int64:
		// What waits with something in its hands gives nothing back.
		_, err := t.exec(ctx, `UPDATE spend_holds SET waiting = TRUE WHERE evaluation_id = ? AND call = ? AND NOT settled`, evaluation, call)
		return false, true, err
	}
	_, err = t.exec(ctx, `
INSERT INTO spend_holds (evaluation_id, call, run_id, nano, settled, waiting) VALUES (?, ?, ?, ?, FALSE, FALSE)
ON CONFLICT (evaluation_id, call) DO UPDATE SET nano = spend_holds.nano + excluded.nano, settled = FALSE, waiting = FALSE`,
		evaluation, call, run, int64(amount))
	return err == nil, false, err
}

// budget is what a run may spend and has spent for good.
type budget struct {
	projectID, project, name string
	budget                   sql.NullInt64
	spent                    int64 // by stored evaluations, or perhaps billed
	stopped                  sql.NullTime
}

const budgetColumns = `r.project_id, p.name, r.name, r.budget_nano, r.stopped_at,
    r.unclear_nano + COALESCE((SELECT sum(c.cost_nano) FROM run_costs c WHERE c.run_id = r.id), 0)`

func (b *budget) fields() []any {
	return []any{&b.projectID, &b.project, &b.name, &b.budget, &b.stopped, &b.spent}
}

func readBudget(ctx context.Context, q querier, run string) (b budget, err error) {
	err = q.QueryRowContext(ctx, `SELECT `+budgetColumns+` FROM runs r JOIN projects p ON p.id = r.project_id WHERE r.id = ?`, run).Scan(b.fields()...)
	return b, err
}

// stopRun keeps what is queued for a model from being taken, until the budget is
// raised. What is under way ends.
func (t *tx) stopRun(ctx context.Context, run string, amount judge.NanoUSD) error {
	n, err := t.changed(ctx, `UPDATE runs SET stopped_at = ? WHERE id = ? AND stopped_at IS NULL`, t.now, run)
	if err != nil || n == 0 {
		return err
	}
	held, err := t.changed(ctx, `UPDATE evaluations SET on_hold = TRUE WHERE run_id = ? AND status = 'queued' AND engine = 'openai'`, run)
	if err != nil {
		return err
	}
	b, err := readBudget(ctx, t, run)
	if err != nil {
		return err
	}
	why := "the budget has no room for the next call"
	if amount < 0 {
		why = "the model has no price, so no budget can be kept"
	}
	t.audit(event{project: b.project, actor: worker, action: "run.stopped", subject: "run:" + run,
		data: map[string]any{"run": b.name, "budget_usd": dollars(b.budget.Int64), "on_hold": held, "why": why}})
	return nil
}

// settleHolds ends what an evaluation holds, now that its cost is stored. What
// may have been billed without an answer stays spent.
func (t *tx) settleHolds(ctx context.Context, evaluation string) error {
	var run sql.NullString
	var unclear int64
	if err := t.scan(ctx, `SELECT max(run_id), COALESCE(sum(CASE WHEN settled THEN 0 ELSE nano END), 0) FROM spend_holds WHERE evaluation_id = ?`,
		[]any{evaluation}, []any{&run, &unclear}); err != nil || !run.Valid {
		return err
	}
	if _, err := t.exec(ctx, `DELETE FROM spend_holds WHERE evaluation_id = ?`, evaluation); err != nil || unclear == 0 {
		return err
	}
	_, err := t.exec(ctx, `UPDATE runs SET unclear_nano = unclear_nano + ? WHERE id = ?`, unclear, run.String)
	return err
}

// onHold is SQL for whether a row of evaluations that is queued again has to wait:
// its run is stopped.
const onHold = `engine = 'openai' AND COALESCE((SELECT r.stopped_at IS NOT NULL FROM runs r WHERE r.id = evaluations.run_id), FALSE)`

// SetRunBudget sets what a run may spend, in dollars, 0 to a million; nil: no
// limit. A run that is not there yet is made. What was on hold goes on. Roles:
// lead, admin.
func (s *Store) SetRunBudget(ctx context.Context, a Actor, project, run string, usd *float64) (m RunMoney, err error) {
	defer wrap(&err, "set the budget of run %q of project %q", run, project)
	if err := s.authorise(ctx, a, leads, "run.budget_set", "project:"+project); err != nil {
		return m, err
	}
	if run == "" {
		return m, invalid("run", "is missing")
	}
	var limit sql.NullInt64
	if usd != nil {
		if !(*usd >= 0 && *usd <= 1e6) {
			return m, invalid("budget_usd", "is %v: it lies between 0 and 1,000,000", *usd)
		}
		limit = sql.NullInt64{Int64: nano(*usd), Valid: true}
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return m, err
	}
	err = s.write(ctx, func(t *tx) error {
		id, err := t.ensureRun(ctx, p, run)
		if err != nil {
			return err
		}
		if err := t.lockRow(ctx, "r", `SELECT r.id FROM runs r WHERE r.id = ?`, id); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE runs SET budget_nano = ?, stopped_at = NULL WHERE id = ?`, limit, id); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `UPDATE evaluations SET on_hold = FALSE WHERE run_id = ? AND status = 'queued' AND on_hold`, id); err != nil {
			return err
		}
		t.audit(event{project: p.Name, actor: a, action: "run.budget_set", subject: "run:" + id,
			data: map[string]any{"run": run, "budget_usd": usd}})
		return nil
	})
	if err != nil {
		return m, err
	}
	return s.RunMoney(ctx, a, project, run)
}

// ensureRun finds a run, or makes it with the budget that the project's policy
// gives to runs.
func (t *tx) ensureRun(ctx context.Context, p Project, name string) (id string, err error) {
	var limit sql.NullInt64
	if p.Policy.BudgetUSD > 0 {
		limit = sql.NullInt64{Int64: nano(p.Policy.BudgetUSD), Valid: true}
	}
	if _, err := t.exec(ctx, `
INSERT INTO runs (id, project_id, name, created_at, budget_nano) VALUES (?, ?, ?, ?, ?) ON CONFLICT (project_id, name) DO NOTHING`,
		t.newID(), p.ID, name, t.now, limit); err != nil {
		return "", err
	}
	if err := t.scan(ctx, `SELECT id FROM runs WHERE project_id = ? AND name = ?`, []any{p.ID, name}, []any{&id}); err != nil {
		return "", fmt.Errorf("find run %q: %w", name, err)
	}
	return id, nil
}
