package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// EvaluationFilter narrows lists of evaluations. Zero values mean: all. By run, status,
// verdict or reason a list has no shadows: what is listed so is taken for results.
type EvaluationFilter struct {
	Project string // name; empty: the default project
	Run     string
	Judge   string
	// Engine and Model are those that answered; PromptVersion is whole; Endpoint
	// is its configured name.
	Engine, Model, PromptVersion, Endpoint string
	TraceID                                string // the file's id; every revision of it
	Status                                 judge.Status
	// Verdict never matches what is sealed for the actor. To somebody who may
	// decide it gives nothing that still waits in a blind review, not even what
	// they have answered themselves.
	Verdict judge.Verdict
	Reason  string // one that tells the verdict is matched like a verdict
	// Overridden: final, and people's result is another than the judge's.
	Overridden bool
	Since      time.Time // created then or later
	After      string    // the next of the page before
	Limit      int       // 1..500, default 50
}

func (f EvaluationFilter) project() string {
	if f.Project == "" {
		return DefaultProject
	}
	return f.Project
}

func (f EvaluationFilter) limit() int {
	if f.Limit <= 0 || f.Limit > 500 {
		return 50
	}
	return f.Limit
}

// conditions are parts of a WHERE clause, each with its own arguments.
type conditions struct {
	sql  []string
	args []any
}

func (c *conditions) and(sql string, args ...any) {
	c.sql, c.args = append(c.sql, sql), append(c.args, args...)
}

func (c *conditions) where() string { return "WHERE " + strings.Join(c.sql, "\n  AND ") }

// overridden is SQL for what people settled otherwise than the judge would have.
const overridden = `e.status = 'final' AND (e.result_verdict <> e.verdict OR e.result_label <> e.label)`

// smallRun is up to how many traces a run's evaluations are found from the
// run. In larger ones the newest come up soon enough in the list of all.
const smallRun = 2000

// where turns the filter into conditions on evaluations e. ErrNotFound when
// the project, run or trace does not exist.
func (s *Store) where(ctx context.Context, a Actor, p Project, f EvaluationFilter) (c conditions, err error) {
	if f.Reason != "" && !slices.Contains(judge.ReasonCodes(), f.Reason) {
		return c, invalid("reason", "%q is not a reason", f.Reason)
	}
	few, err := s.whereRun(ctx, &c, p, f.Run)
	if err != nil {
		return c, err
	}
	rare, err := s.rareReason(ctx, f.Reason)
	if err != nil {
		return c, err
	}
	// What the list is walked by: an expression keeps the database, which knows
	// nothing of how often a value occurs, from walking by the others.
	const walked, passed = ``, ` || ''`
	project, other := walked, walked
	switch {
	case few || rare || f.TraceID != "": // found from these few
		project, other = passed, passed
	case f.Verdict != "" && a.MayDecide() || f.Reason != "":
		other = passed
	}
	c.and(`e.project_id`+project+` = ?`, p.ID)
	if f.TraceID != "" {
		c.and(`e.trace_id IN (SELECT id FROM traces WHERE project_id = ? AND external_id = ?)`, p.ID, f.TraceID)
	}
	if f.Judge != "" {
		c.and(`e.judge`+other+` = ?`, f.Judge)
	}
	engine, model := answeredBy("e")
	for _, same := range []struct{ column, value string }{{engine, f.Engine}, {model, f.Model}, {`e.prompt_version`, f.PromptVersion}, {`e.endpoint`, f.Endpoint}} {
		if same.value != "" {
			c.and(same.column+` = ?`, same.value)
		}
	}
	if f.Status != "" {
		c.and(`e.status`+other+` = ?`, string(f.Status))
	}
	if f.Verdict != "" {
		c.and(`e.verdict = ? AND e.verdict <> ''`, string(f.Verdict))
	}
	if f.Overridden {
		c.and(overridden)
	}
	if f.Reason != "" {
		c.and(`e.lead_reason <> ''`) // spares most rows the look-up
		if rare {
			c.and(`e.id IN (SELECT x.evaluation_id FROM evaluation_reasons x WHERE x.code = ?)`, f.Reason)
		} else {
			c.and(`EXISTS (SELECT 1 FROM evaluation_reasons x WHERE x.evaluation_id = e.id AND x.code = ?)`, f.Reason)
		}
	}
	if a.MayDecide() && (f.Verdict != "" || f.Reason != "" && judge.Telling(f.Reason)) {
		c.and(`NOT e.sealed`)
	}
	if f.Run != "" || f.Status != "" || f.Verdict != "" || f.Reason != "" {
		c.and(`e.shadow_of = ''`)
	}
	if !f.Since.IsZero() {
		c.and(`e.created_at >= ?`, f.Since.UTC())
		if !s.oldIDs { // ids sort by time: the list ends here, not at the first of all
			c.and(`e.id >= ?`, firstIDOf(f.Since))
		}
	}
	if f.After != "" {
		id, err := parseCursor(f.After)
		if err != nil {
			return c, err
		}
		c.and(`e.id < ?`, id)
	}
	return c, nil
}

// rareAtMost is how many evaluations may have a reason for them to be found from
// the reason. A more frequent one comes up soon enough among what has any.
const rareAtMost = 2000

// rareReason says whether few evaluations, or none, have a reason.
func (s *Store) rareReason(ctx context.Context, code string) (rare bool, err error) {
	if code == "" {
		return false, nil
	}
	var n int
	err = s.reader.QueryRowContext(ctx, `
SELECT count(*) FROM (SELECT 1 FROM evaluation_reasons x WHERE x.code = ? LIMIT ?) AS found`, code, rareAtMost+1).Scan(&n)
	return n <= rareAtMost, err
}

// whereRun adds the run, if one is asked for. few says that it has few traces,
// from which its evaluations are found.
func (s *Store) whereRun(ctx context.Context, c *conditions, p Project, name string) (few bool, err error) {
	if name == "" {
		return false, nil
	}
	var id string
	var traces int
	err = s.reader.QueryRowContext(ctx, `
SELECT id, (SELECT count(*) FROM (SELECT 1 FROM run_traces rt WHERE rt.run_id = r.id LIMIT ?) few)
FROM runs r WHERE r.project_id = ? AND r.name = ?`, smallRun+1, p.ID, name).Scan(&id, &traces)
	if err != nil {
		return false, notFound(err, "run %q", name)
	}
	if traces > smallRun {
		c.and(`EXISTS (SELECT 1 FROM run_traces rt WHERE rt.run_id = ? AND rt.trace_id = e.trace_id)`, id)
		return false, nil
	}
	c.and(`e.trace_id IN (SELECT rt.trace_id FROM run_traces rt WHERE rt.run_id = ?)`, id)
	return true, nil
}
