package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// The store is the work list of the judging workers.
var _ judge.WorkList = (*Store)(nil)

// workable is the condition of what a worker may take: what is queued, and
// what another worker took and did not bring back in time. Its parameters are
// now and the end of the longest lease from now: one that ends later was given
// while the clock was wrong.
const workable = `NOT e.on_hold AND (e.status = 'queued' OR (e.status = 'judging' AND (e.lease_expires_at < ? OR e.lease_expires_at > ?)))`

// ClaimWork gives the oldest queued evaluations, those of re-runs after all others, and those whose lease ran out,
// to a worker until the lease ends. Fewer than n, or none, is no error.
func (s *Store) ClaimWork(ctx context.Context, worker string, n int, lease time.Duration) ([]judge.Work, error) {
	return s.claimWork(ctx, worker, "", n, lease)
}

// ClaimProjectWork is ClaimWork of one project only, by its name: a command that
// judges at once must not spend what waits elsewhere.
func (s *Store) ClaimProjectWork(ctx context.Context, worker, project string, n int, lease time.Duration) ([]judge.Work, error) {
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, fmt.Errorf("claim work for %s: %w", worker, err)
	}
	return s.claimWork(ctx, worker, p.ID, n, lease)
}

// claimWork claims of one project, or of all when projectID is empty.
func (s *Store) claimWork(ctx context.Context, worker, projectID string, n int, lease time.Duration) (_ []judge.Work, err error) {
	defer wrap(&err, "claim work for %s", worker)
	if n <= 0 || lease <= 0 {
		return nil, fmt.Errorf("%d items for %s: both must be above zero", n, lease)
	}
	workable, args := workable, []any{}
	if projectID != "" {
		workable, args = `e.project_id = ? AND `+workable, append(args, projectID)
	}
	// Idle workers ask again and again: they must not queue for the writer.
	var any bool
	now := s.clock()
	err = s.reader.QueryRowContext(ctx, `
SELECT EXISTS (SELECT 1 FROM evaluations e WHERE e.status IN ('queued', 'judging') AND `+workable+`)`, append(args, now, now.Add(lease+time.Minute))...).Scan(&any)
	if err != nil || !any {
		return nil, err
	}
	var taken []workRow
	err = s.write(ctx, func(t *tx) error {
		taken = nil
		found, err := collect(ctx, t, scanWorkRow, `
SELECT e.id, e.fence, e.status, e.project_id, p.name, p.policy, e.judge, e.prompt_version, e.engine, e.model, e.endpoint, e.samples, e.judgment_body, tr.body_hash,
    `+siblings("e")+`
FROM evaluations e JOIN projects p ON p.id = e.project_id JOIN traces tr ON tr.id = e.trace_id
WHERE e.status IN ('queued', 'judging') AND `+workable+`
ORDER BY e.lane, e.id LIMIT ?`+t.engine.forUpdateFree("e"), append(args, t.now, t.now.Add(lease+time.Minute), n)...)
		if err != nil {
			return err
		}
		for _, w := range found {
			held, err := t.changed(ctx, `
UPDATE evaluations SET status = 'judging', fence = fence + 1, lease_holder = ?, lease_expires_at = ?
WHERE id = ? AND fence = ?`, worker, t.now.Add(lease), w.ID, w.Fence)
			if err != nil {
				return err
			}
			if held == 0 { // another server took it between the two statements
				continue
			}
			w.Fence++
			t.tally(w.projectID, tallyStatus, w.status, -1)
			t.tally(w.projectID, tallyStatus, string(judge.Judging), 1)
			taken = append(taken, w)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.loadWork(ctx, taken)
}

// siblings counts the recorded reports of the same judge, version and model on
// the same trace that came before this one. It is the report's place among
// them, and so tells their draws apart.
func siblings(e string) string {
	return `CASE WHEN ` + e + `.engine = 'recorded' THEN (SELECT count(*) FROM evaluations sib WHERE sib.trace_id = ` + e + `.trace_id AND sib.judge = ` + e + `.judge
        AND sib.prompt_version = ` + e + `.prompt_version AND sib.model = ` + e + `.model AND sib.engine = 'recorded' AND sib.id < ` + e + `.id) ELSE 0 END`
}

// policies are those of projects, each decoded once.
type policies map[string]*judge.Policy

func (p policies) of(project, stored string) (*judge.Policy, error) {
	if known := p[stored]; known != nil {
		return known, nil
	}
	policy, err := readPolicy(project, stored)
	p[stored] = &policy
	return &policy, err
}

// workRow is a claimed evaluation before its texts are read.
type workRow struct {
	ID                string
	Fence             int64
	status            string
	projectID         string
	project, policy   string
	planned           judge.Planned
	body, judgmentRef string
	siblings          int // recorded reports of the same judge, version and model before this one
}

func scanWorkRow(r *sql.Rows, w *workRow) error {
	return r.Scan(&w.ID, &w.Fence, &w.status, &w.projectID, &w.project, &w.policy, &w.planned.Judge, &w.planned.PromptVersion,
		&w.planned.Engine, &w.planned.Model, &w.planned.Endpoint, &w.planned.Samples, (*digest)(&w.judgmentRef), (*digest)(&w.body), &w.siblings)
}

// loadWork reads the traces of claimed work, outside the write lock. A trace
// carries the one recorded report that is to be judged and no labels.
func (s *Store) loadWork(ctx context.Context, rows []workRow) ([]judge.Work, error) {
	var traces, judgments []string
	for _, r := range rows {
		traces, judgments = append(traces, r.body), append(judgments, r.judgmentRef)
	}
	texts := textsFrom(s.reader)
	bodies, err := texts.bodies(ctx, traces)
	if err != nil {
		return nil, err
	}
	recorded, err := texts.get(ctx, judgments)
	if err != nil {
		return nil, err
	}
	work, known := make([]judge.Work, len(rows)), policies{}
	for i, r := range rows {
		policy, err := known.of(r.project, r.policy)
		if err != nil {
			return nil, err
		}
		w := judge.Work{EvaluationID: r.ID, Fence: r.Fence, Project: r.project, Planned: asPlanned(r.planned), Policy: policy}
		w.Trace = bodies[r.body].Trace
		if r.judgmentRef != "" {
			if err := placeRecorded(&w.Trace, &w.Planned, r.siblings, recorded[r.judgmentRef]); err != nil {
				return nil, fmt.Errorf("read the recorded report of evaluation %s: %w", r.ID, err)
			}
		}
		work[i] = w
	}
	return work, nil
}

// ReleaseWork puts claimed work back into the queue at once. Work that was
// claimed by somebody else meanwhile is left to them.
func (s *Store) ReleaseWork(ctx context.Context, work []judge.Work) (err error) {
	defer wrap(&err, "release work")
	if len(work) == 0 {
		return nil
	}
	return s.write(ctx, func(t *tx) error {
		for _, w := range work {
			var projectID string
			err := t.scan(ctx, `
UPDATE evaluations SET status = 'queued', lease_holder = '', lease_expires_at = NULL, on_hold = `+onHold+`
WHERE id = ? AND fence = ? AND status = 'judging' RETURNING project_id`, []any{w.EvaluationID, w.Fence}, []any{&projectID})
			if errors.Is(err, sql.ErrNoRows) {
				continue
			}
			if err != nil {
				return err
			}
			t.tally(projectID, tallyStatus, string(judge.Judging), -1)
			t.tally(projectID, tallyStatus, string(judge.Queued), 1)
		}
		return nil
	})
}

// PendingWork counts the evaluations of a project that are queued or being
// judged, but for those on hold: nobody judges them before a budget is raised.
func (s *Store) PendingWork(ctx context.Context, project string) (n int, err error) {
	defer wrap(&err, "count the pending work of project %q", project)
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return 0, err
	}
	counts, err := s.tallied(ctx, p.ID, tallyStatus)
	if err != nil {
		return 0, err
	}
	var held int
	err = s.reader.QueryRowContext(ctx, `
SELECT count(*) FROM evaluations e WHERE e.run_id IN (SELECT r.id FROM runs r WHERE r.project_id = ? AND r.stopped_at IS NOT NULL)
  AND e.status = 'queued' AND e.on_hold`, p.ID).Scan(&held)
	return counts[string(judge.Queued)] + counts[string(judge.Judging)] - held, err
}
