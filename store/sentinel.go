package store

import (
	"context"
	"database/sql"
	"errors"
	"math"
	"time"
)

// SentinelSet are traces with known labels that a judge judges again and again, to
// see whether it still judges them alike.
type SentinelSet struct {
	ID, Project, Judge, Run string
	EveryDays               int      // 0: no more
	BudgetUSD               *float64 // of one round by one model; nil: no limit
	SetBy                   string
	SetAt                   time.Time
	Traces                  int // of the run, with a label that counts

	projectID, runID string
}

// Bounds of a sentinel set.
const (
	MaxSentinelDays   = 365
	MaxSentinelTraces = 1000
)

// labelledTraces are the traces rt of a run whose label on a judge is known.
const labelledTraces = `run_traces rt JOIN consensus c ON c.trace_id = rt.trace_id AND NOT c.abstained AND NOT c.tied AND c.verdict <> ''`

// SetSentinel makes the labelled traces of a run the sentinel set of a judge: every
// so many days they are judged by its present version and models, beside the work and
// not as part of it. 0 days ends it. A new set begins a new series; the same run, days and
// budget again are no change. FieldError of run,
// every_days or budget_usd. Roles: lead, admin.
func (s *Store) SetSentinel(ctx context.Context, a Actor, project, judgeName, run string, everyDays int, budgetUSD *float64) (set SentinelSet, err error) {
	defer wrap(&err, "set the sentinel set of judge %q", judgeName)
	if err := s.authorise(ctx, a, leads, SetSentinels.action, "judge:"+judgeName); err != nil {
		return set, err
	}
	switch {
	case everyDays < 0 || everyDays > MaxSentinelDays:
		return set, invalid("every_days", "is %d: it lies between 0 and %d", everyDays, MaxSentinelDays)
	case budgetUSD != nil && !(*budgetUSD > 0 && *budgetUSD <= 1e6):
		return set, invalid("budget_usd", "is %v: give an amount above 0 and up to 1,000,000, or none", *budgetUSD)
	}
	p, scales, err := s.calibrated(ctx, a, project, judgeName)
	if err != nil {
		return set, err
	}
	if len(scales) != 1 {
		return set, invalid("judge", "is missing: a sentinel set is of one judge")
	}
	runID, err := s.runID(ctx, p.Name, run)
	if errors.Is(err, ErrNotFound) {
		return set, invalid("run", "%q is none of project %s", run, p.Name)
	}
	if err != nil {
		return set, err
	}
	set = SentinelSet{Project: p.Name, Judge: judgeName, Run: run, EveryDays: everyDays, BudgetUSD: budgetUSD, SetBy: a.Name, projectID: p.ID, runID: runID}
	if err := s.reader.QueryRowContext(ctx, `SELECT count(*) FROM `+labelledTraces+` WHERE rt.run_id = ? AND c.project_id = ? AND c.judge = ?`,
		runID, p.ID, judgeName).Scan(&set.Traces); err != nil {
		return set, err
	}
	switch {
	case set.Traces == 0:
		return set, invalid("run", "%s has no trace with a label for judge %s: import labels, or have its items decided", run, judgeName)
	case set.Traces > MaxSentinelTraces:
		return set, invalid("run", "%s has %d labelled traces: a sentinel set has %d at most", run, set.Traces, MaxSentinelTraces)
	}
	var budget sql.NullInt64
	if budgetUSD != nil {
		budget = sql.NullInt64{Int64: int64(math.Round(*budgetUSD * 1e9)), Valid: true}
	}
	err = s.write(ctx, func(t *tx) error {
		// One after another, so that each sees the one before.
		if err := t.lockProject(ctx, p.ID); err != nil {
			return err
		}
		newest, err := sentinelSets(ctx, t, p.ID, judgeName)
		if err != nil {
			return err
		}
		if len(newest) > 0 && newest[0].sameAs(runID, everyDays, budget) {
			set = newest[0]
			return nil
		}
		set.ID, set.SetAt = t.newID(), t.now
		if _, err := t.exec(ctx, `INSERT INTO sentinel_sets (id, project_id, judge, run_id, every_days, budget_nano, set_by, set_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
			set.ID, p.ID, judgeName, runID, everyDays, budget, a.Name, t.now); err != nil {
			return err
		}
		sum, err := t.rowDigest(ctx, chainedSets, p.ID, judgeName, set.ID)
		if err != nil {
			return err
		}
		t.audit(event{project: p.Name, actor: a, action: SetSentinels.action, subject: "judge:" + judgeName, data: map[string]any{
			"set": set.ID, "run": run, "traces": set.Traces, "every_days": everyDays, "budget_usd": budgetUSD, "row_sha256": sum}})
		return nil
	})
	return set, err
}

// sameAs says that a set is of this run, as often and for as much.
func (s SentinelSet) sameAs(runID string, everyDays int, budget sql.NullInt64) bool {
	if s.runID != runID || s.EveryDays != everyDays || (s.BudgetUSD != nil) != budget.Valid {
		return false
	}
	return s.BudgetUSD == nil || dollars(budget.Int64) == *s.BudgetUSD
}

// sentinelSets are the newest set of each judge of a project, or of all projects
// where its id is empty.
func sentinelSets(ctx context.Context, q querier, projectID, judgeName string) ([]SentinelSet, error) {
	return collect(ctx, q, func(r *sql.Rows, s *SentinelSet) error {
		var budget sql.NullInt64
		err := r.Scan(&s.ID, &s.projectID, &s.Project, &s.Judge, &s.runID, &s.Run, &s.EveryDays, &budget, &s.SetBy, &s.SetAt, &s.Traces)
		if budget.Valid {
			usd := dollars(budget.Int64)
			s.BudgetUSD = &usd
		}
		s.SetAt = s.SetAt.UTC()
		return err
	}, `
SELECT s.id, s.project_id, p.name, s.judge, s.run_id, r.name, s.every_days, s.budget_nano, s.set_by, s.set_at,
    (SELECT count(*) FROM `+labelledTraces+` WHERE rt.run_id = s.run_id AND c.project_id = s.project_id AND c.judge = s.judge)
FROM sentinel_sets s JOIN projects p ON p.id = s.project_id JOIN runs r ON r.id = s.run_id
WHERE (? = '' OR s.project_id = ?) AND (? = '' OR s.judge = ?)
  AND NOT EXISTS (SELECT 1 FROM sentinel_sets n WHERE n.project_id = s.project_id AND n.judge = s.judge AND n.id > s.id)
ORDER BY s.project_id, s.judge`, projectID, projectID, judgeName, judgeName)
}

// SentinelRound is one time that a set was judged by a model and version.
type SentinelRound struct {
	ID, Model, PromptVersion string
	Number                   int // from 1, of this model and version
	Judged, Failed           int // traces that have a verdict, and that gave none
	CostUSD                  float64
	Problem                  string // why it does not get on, or ended early
	StartedAt                time.Time
	FinishedAt               *time.Time // nil: it is under way
}

// Sentinel is the sentinel set of a judge with its newest rounds, at most 20; nil: it
// has none. Roles: lead, auditor, admin.
func (s *Store) Sentinel(ctx context.Context, a Actor, project, judgeName string) (_ *SentinelSet, rounds []SentinelRound, err error) {
	defer wrap(&err, "read the sentinel set of judge %q", judgeName)
	p, _, err := s.calibrated(ctx, a, project, judgeName)
	if err != nil {
		return nil, nil, err
	}
	sets, err := sentinelSets(ctx, s.reader, p.ID, judgeName)
	if err != nil || len(sets) == 0 {
		return nil, nil, err
	}
	rounds, err = collect(ctx, s.reader, func(r *sql.Rows, v *SentinelRound) error {
		var cost int64
		var finished sql.NullTime
		if err := r.Scan(&v.ID, &v.Model, &v.PromptVersion, &v.Number, &v.Judged, &v.Failed, &cost, &v.Problem, &v.StartedAt, &finished); err != nil {
			return err
		}
		v.CostUSD, v.StartedAt = dollars(cost), v.StartedAt.UTC()
		if finished.Valid {
			at := finished.Time.UTC()
			v.FinishedAt = &at
		}
		return nil
	}, `
SELECT r.id, r.model, r.prompt_version, r.number, COALESCE(sum(CASE WHEN x.verdict <> '' THEN 1 ELSE 0 END), 0),
    COALESCE(sum(CASE WHEN x.verdict = '' THEN 1 ELSE 0 END), 0), COALESCE(sum(x.cost_nano), 0), r.problem, r.started_at, r.finished_at
FROM sentinel_rounds r LEFT JOIN sentinel_results x ON x.round_id = r.id
WHERE r.set_id = ? GROUP BY r.id, r.model, r.prompt_version, r.number, r.problem, r.started_at, r.finished_at ORDER BY r.id DESC LIMIT 20`, sets[0].ID)
	return &sets[0], rounds, err
}
