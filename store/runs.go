package store

import (
	"context"
	"database/sql"
	"fmt"
	"time"
)

// RunRow is a run with its counts. They add up: Evaluations is the sum of
// Pending, Refused, Waiting, Failed, Pass, Borderline, Fail and NoVerdict. Pass,
// Borderline and Fail count only what has a result, so they tell nothing of what
// is sealed.
type RunRow struct {
	Name        string
	Traces      int
	Unjudged    int // traces for which nothing was planned
	Evaluations int
	Pending     int // queued or being judged
	Refused     int
	Waiting     int // for a person, but for those in Failed
	Failed      int // wait for a person because their judge failed for good
	Pass        int // of those with a result: accepted, or final as people settled them
	Borderline  int
	Fail        int
	NoVerdict   int // settled without a verdict
	CreatedAt   time.Time
	// CostUSD of the evaluations that the run queued, and how many of their calls
	// asked a model without a price. Both are 0 when CostSealed: so few were judged
	// that they would tell of single ones to an actor who may decide.
	CostUSD    float64
	Unpriced   int
	CostSealed bool
	BudgetUSD  *float64   // nil: no limit
	StoppedAt  *time.Time // since when the budget has no room, UTC; nil: it has
}

// Done says how many evaluations have a result: status accepted or final.
func (r RunRow) Done() int { return r.Pass + r.Borderline + r.Fail + r.NoVerdict }

func scanRun(a Actor) func(*sql.Rows, *RunRow) error {
	return func(rows *sql.Rows, r *RunRow) error { return r.scan(rows, a) }
}

func (r *RunRow) scan(rows *sql.Rows, a Actor) error {
	var planned int
	var paid, cost int64
	var limit sql.NullInt64
	var stopped sql.NullTime
	err := rows.Scan(&r.Name, &r.CreatedAt, &r.Traces, &planned, &r.Pending, &r.Refused, &r.Waiting, &r.Failed,
		&r.Pass, &r.Borderline, &r.Fail, &r.NoVerdict, &limit, &stopped, &paid, &r.Unpriced, &cost)
	r.CostUSD, r.StoppedAt = dollars(cost), optional(stopped)
	if limit.Valid {
		usd := dollars(limit.Int64)
		r.BudgetUSD = &usd
	}
	if a.MayDecide() && paid > 0 && paid < fewestTold {
		r.CostUSD, r.Unpriced, r.CostSealed = 0, 0, true
	}
	r.Evaluations = r.Pending + r.Refused + r.Waiting + r.Failed + r.Done()
	r.Unjudged = r.Traces - planned
	r.CreatedAt = r.CreatedAt.UTC()
	return err
}

// standings are the sums of run_counts c by standing: pending, refused, in
// review, failed, pass, borderline, fail, and whatever else there is.
const standings = `COALESCE(sum(c.n) FILTER (WHERE c.standing = 'pending'), 0), COALESCE(sum(c.n) FILTER (WHERE c.standing = 'refused'), 0),
    COALESCE(sum(c.n) FILTER (WHERE c.standing = 'in_review'), 0), COALESCE(sum(c.n) FILTER (WHERE c.standing = 'failed'), 0),
    COALESCE(sum(c.n) FILTER (WHERE c.standing = 'result:pass'), 0), COALESCE(sum(c.n) FILTER (WHERE c.standing = 'result:borderline'), 0),
    COALESCE(sum(c.n) FILTER (WHERE c.standing = 'result:fail'), 0),
    COALESCE(sum(c.n) FILTER (WHERE c.judge <> '' AND c.standing NOT IN ('pending', 'refused', 'in_review', 'failed', 'result:pass', 'result:borderline', 'result:fail')), 0)`

// runCounts reads the kept counts of the runs that the condition picks.
func runCounts(pick string) string {
	return `
WITH picked AS (SELECT id, name, created_at, budget_nano, stopped_at FROM runs WHERE ` + pick + `)
SELECT p.name, p.created_at, COALESCE(sum(c.n) FILTER (WHERE c.standing = 'traces'), 0), COALESCE(sum(c.n) FILTER (WHERE c.standing = 'planned'), 0),
    ` + standings + `,
    p.budget_nano, p.stopped_at,
    COALESCE((SELECT sum(m.evaluations) FROM run_costs m WHERE m.run_id = p.id), 0),
    COALESCE((SELECT sum(m.unpriced) FROM run_costs m WHERE m.run_id = p.id), 0),
    COALESCE((SELECT sum(m.cost_nano) FROM run_costs m WHERE m.run_id = p.id), 0)
FROM picked p LEFT JOIN run_counts c ON c.run_id = p.id
GROUP BY p.id, p.name, p.created_at, p.budget_nano, p.stopped_at ORDER BY p.created_at DESC, p.id DESC`
}

// Runs lists the newest runs of a project; limit is 1..500, default 50. Roles:
// all.
func (s *Store) Runs(ctx context.Context, a Actor, project string, limit int) (_ []RunRow, err error) {
	defer wrap(&err, "list the runs of project %q", project)
	if err := s.authorise(ctx, a, everyone, "run.listed", "project:"+project); err != nil {
		return nil, err
	}
	if limit <= 0 || limit > 500 {
		limit = 50
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	runs, err := collect(ctx, s.reader, scanRun(a), runCounts(`project_id = ? ORDER BY created_at DESC, id DESC LIMIT ?`), p.ID, limit)
	if err != nil {
		return nil, err
	}
	return runs, s.asBefore(ctx, a, p.ID, runs)
}

// Run reads one run. Roles: all.
func (s *Store) Run(ctx context.Context, a Actor, project, name string) (_ RunRow, err error) {
	defer wrap(&err, "read run %q of project %q", name, project)
	if err := s.authorise(ctx, a, everyone, "run.read", "project:"+project); err != nil {
		return RunRow{}, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return RunRow{}, err
	}
	runs, err := collect(ctx, s.reader, scanRun(a), runCounts(`project_id = ? AND name = ?`), p.ID, name)
	if err != nil {
		return RunRow{}, err
	}
	if len(runs) == 0 {
		return RunRow{}, fmt.Errorf("run: %w", ErrNotFound)
	}
	err = s.asBefore(ctx, a, p.ID, runs)
	return runs[0], err
}
