package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// Kinds of re-runs.
const (
	RerunFailed  = "failed"  // what failed or gave invalid output is judged again
	RerunVersion = "version" // every trace that the judge has judged, by another version
	RerunModel   = "model"   // the same by another model, endpoint or number of samples
)

// States of a re-run.
const (
	RerunQueueing = "queueing" // workers are still queueing its evaluations
	RerunQueued   = "queued"
	RerunStopped  = "stopped"
)

// RerunAsk is what of history is to be judged once more, and by whom.
type RerunAsk struct {
	Kind  string `json:"kind"` // a constant above
	Judge string `json:"judge"`
	// Run narrows to the traces of a run, which then pays; empty: every trace of
	// the project, and nothing is paid by a run.
	Run string `json:"run,omitempty"`
	// OfVersion and OfModel narrow to what these judged; empty: all.
	OfVersion string    `json:"of_version,omitempty"`
	OfModel   string    `json:"of_model,omitempty"`
	Since     time.Time `json:"since,omitzero"` // queued then or later
	// Target is what is made of each trace, but for failed: judge, version,
	// engine, model, endpoint and samples.
	Target judge.Planned `json:"target,omitzero"`
	// BudgetUSD is set for the run; nil: it keeps what it has. It needs a Run.
	BudgetUSD *float64 `json:"budget_usd,omitempty"`
}

// Rerun is one that was asked for.
type Rerun struct {
	ID              string
	Ask             RerunAsk
	Estimate        RerunEstimate // as it was shown to who asked
	State           string        // a constant above
	Queued, Skipped int           // evaluations; skipped were there already, or refused at once
	AskedBy         string
	CreatedAt       time.Time // UTC
}

// RerunPlan plans the target for a trace: it fills in why it is refused, if it
// is. An error ends the batch and is given back by ContinueReruns.
type RerunPlan func(ctx context.Context, project string, t *judge.Trace, target judge.Planned) (judge.Planned, error)

// checkRerun holds what is asked to its rules.
func checkRerun(ask RerunAsk) error {
	switch {
	case ask.Kind != RerunFailed && ask.Kind != RerunVersion && ask.Kind != RerunModel:
		return invalid("kind", "is %q: it is failed, version or model", ask.Kind)
	case ask.Judge == "":
		return invalid("judge", "is missing")
	case ask.BudgetUSD != nil && ask.Run == "":
		return invalid("budget_usd", "needs a run that pays")
	case ask.BudgetUSD != nil && !(*ask.BudgetUSD >= 0 && *ask.BudgetUSD <= 1e6):
		return invalid("budget_usd", "is %v: it lies between 0 and 1,000,000", *ask.BudgetUSD)
	case ask.Kind == RerunFailed:
		return nil
	case ask.Target.Judge != ask.Judge:
		return invalid("target", "is of judge %q and not of %q", ask.Target.Judge, ask.Judge)
	case ask.Target.Engine != judge.EngineOpenAI && ask.Target.Engine != judge.EngineRules:
		return invalid("engine", "is %q: it is openai or rules", ask.Target.Engine)
	case ask.Target.Model == "":
		return invalid("model", "is missing")
	case ask.Target.PromptVersion == "":
		return invalid("version", "is missing")
	}
	return nil
}

// rerunConditions pick the evaluations that a re-run goes by, e and tr.
func rerunConditions(projectID, runID string, ask RerunAsk) (c conditions) {
	c.and(`e.project_id = ?`, projectID)
	c.and(`e.judge = ?`, ask.Judge)
	c.and(`tr.current`)
	c.and(`e.shadow_of = ''`)
	if runID != "" {
		c.and(`EXISTS (SELECT 1 FROM run_traces rt WHERE rt.run_id = ? AND rt.trace_id = e.trace_id)`, runID)
	}
	if ask.OfVersion != "" {
		c.and(`e.prompt_version = ?`, ask.OfVersion)
	}
	if ask.OfModel != "" {
		c.and(`e.model = ?`, ask.OfModel)
	}
	if !ask.Since.IsZero() {
		c.and(`e.created_at >= ?`, ask.Since.UTC())
	}
	if ask.Kind == RerunFailed {
		c.and(`e.status = 'in_review'`)
		c.and(`(e.reasons & ?) <> 0`, failedMask)
	}
	return c
}

// StartRerun begins a re-run; workers queue it (ContinueReruns). shown is the
// estimate that was seen before asking; it is kept. Roles: lead, admin.
func (s *Store) StartRerun(ctx context.Context, a Actor, project string, ask RerunAsk, shown RerunEstimate) (r Rerun, err error) {
	defer wrap(&err, "judge history of project %q again", project)
	if err := s.authorise(ctx, a, leads, "rerun.started", "project:"+project); err != nil {
		return r, err
	}
	if err := checkRerun(ask); err != nil {
		return r, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return r, err
	}
	var run sql.NullString
	if ask.Run != "" {
		run.Valid = true
		if run.String, err = s.runID(ctx, project, ask.Run); err != nil {
			return r, err
		}
	}
	if ask.BudgetUSD != nil {
		if _, err := s.SetRunBudget(ctx, a, project, ask.Run, ask.BudgetUSD); err != nil {
			return r, err
		}
	}
	asked, err := json.Marshal(ask)
	if err != nil {
		return r, err
	}
	estimate, err := json.Marshal(shown)
	if err != nil {
		return r, err
	}
	err = s.write(ctx, func(t *tx) error {
		r = Rerun{ID: t.newID(), Ask: ask, Estimate: shown, State: RerunQueueing, AskedBy: a.Name, CreatedAt: t.now}
		if _, err := t.exec(ctx, `
INSERT INTO reruns (id, project_id, run_id, judge, ask, estimate, asked_by, state, after, queued, skipped, fence, created_at)
VALUES (?, ?, ?, ?, ?, ?, ?, 'queueing', '', 0, 0, 0, ?)`, r.ID, p.ID, run, ask.Judge, string(asked), string(estimate), a.Name, t.now); err != nil {
			return err
		}
		t.audit(event{project: p.Name, actor: a, action: "rerun.started", subject: "rerun:" + r.ID, data: map[string]any{"ask": ask, "estimate": shown}})
		return nil
	})
	return r, err
}

// Reruns lists the newest re-runs of a project; limit is 1..500, default 50.
// Roles: lead, auditor, admin.
func (s *Store) Reruns(ctx context.Context, a Actor, project string, limit int) (_ []Rerun, err error) {
	defer wrap(&err, "list the re-runs of project %q", project)
	if err := s.authorise(ctx, a, readers, "rerun.listed", "project:"+project); err != nil {
		return nil, err
	}
	if limit <= 0 || limit > 500 {
		limit = 50
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	return collect(ctx, s.reader, func(rows *sql.Rows, r *Rerun) error {
		var ask, estimate string
		if err := rows.Scan(&r.ID, &ask, &estimate, &r.State, &r.Queued, &r.Skipped, &r.AskedBy, &r.CreatedAt); err != nil {
			return err
		}
		r.CreatedAt = r.CreatedAt.UTC()
		if err := json.Unmarshal([]byte(ask), &r.Ask); err != nil {
			return fmt.Errorf("what re-run %s asks: %w", r.ID, err)
		}
		return json.Unmarshal([]byte(estimate), &r.Estimate)
	}, `
SELECT id, ask, estimate, state, queued, skipped, asked_by, created_at FROM reruns WHERE project_id = ? ORDER BY id DESC LIMIT ?`, p.ID, limit)
}

// WaitingForJudge counts the evaluations of a judge that are queued or being
// judged, whatever queued them. Roles: lead, auditor, admin.
func (s *Store) WaitingForJudge(ctx context.Context, a Actor, project, judgeName string) (n int, err error) {
	defer wrap(&err, "count what waits for judge %q of project %q", judgeName, project)
	if err := s.authorise(ctx, a, readers, "rerun.listed", "project:"+project); err != nil {
		return 0, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return 0, err
	}
	err = s.reader.QueryRowContext(ctx, `
SELECT count(*) FROM evaluations WHERE status IN ('queued', 'judging') AND project_id = ? AND judge = ?`, p.ID, judgeName).Scan(&n)
	return n, err
}

// StopRerun ends the queueing of a re-run; what is queued stays queued.
// ErrConflict: it has ended. Roles: lead, admin.
func (s *Store) StopRerun(ctx context.Context, a Actor, project, id string) (err error) {
	defer wrap(&err, "stop re-run %s", id)
	if err := s.authorise(ctx, a, leads, "rerun.stopped", "rerun:"+id); err != nil {
		return err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		n, err := t.changed(ctx, `UPDATE reruns SET state = 'stopped', fence = fence + 1 WHERE id = ? AND project_id = ? AND state = 'queueing'`, id, p.ID)
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("no re-run of this id is being queued: %w", ErrConflict)
		}
		t.audit(event{project: p.Name, actor: a, action: "rerun.stopped", subject: "rerun:" + id})
		return nil
	})
}
