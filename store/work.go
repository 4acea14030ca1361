package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/countersign/countersign/judge"
)

// The store is the work list of the judging workers.
var _ judge.WorkList = (*Store)(nil)

// workable is the condition of what a worker may take: what is queued, and
// what another worker took and did not bring back in time. Its parameters are
// now and the end of the longest lease from now: one that ends later was given
// while the clock was wrong.
const workable = openWork + ` AND (e.status = 'queued' OR (e.status = 'judging' AND (e.lease_expires_at < ? OR e.lease_expires_at > ?)))`

// openWork is the condition of the index evaluations_engine: what a worker may take now or later.
const openWork = `e.status IN ('queued', 'judging') AND NOT e.on_hold`

// ClaimWork gives the oldest queued evaluations, those of re-runs after all others, and those whose lease ran out,
// to a worker until the lease ends. Fewer than it asks for, or none, is no error.
func (s *Store) ClaimWork(ctx context.Context, c judge.Claim) (_ []judge.Work, err error) {
	defer wrap(&err, "claim work for %s", c.Worker)
	if c.N <= 0 || c.Lease <= 0 {
		return nil, fmt.Errorf("%d items for %s: both must be above zero", c.N, c.Lease)
	}
	projectID := ""
	if c.Project != "" {
		p, err := projectNamed(ctx, s.reader, c.Project)
		if err != nil {
			return nil, err
		}
		projectID = p.ID
	}
	engines := c.Engines
	if engines == nil {
		if engines, err = openEngines(ctx, s.reader); err != nil {
			return nil, err
		}
	}
	if len(engines) == 0 {
		return nil, nil
	}
	// Idle workers ask again and again: they must not queue for the writer.
	now := s.clock()
	query, args := readyWork(engines, projectID, 1, now, now.Add(c.Lease+time.Minute), "")
	var any bool
	if err := s.reader.QueryRowContext(ctx, `SELECT EXISTS (`+query+`)`, args...).Scan(&any); err != nil || !any {
		return nil, err
	}
	var taken []workRow
	err = s.write(ctx, func(t *tx) error {
		taken = nil
		query, args := readyWork(engines, projectID, c.N, t.now, t.now.Add(c.Lease+time.Minute), t.engine.forUpdateFree("e"))
		found, err := collect(ctx, t, scanWorkRow, `
WITH ready AS (`+query+`)
SELECT e.id, e.fence, e.status, e.project_id, p.name, p.policy, e.judge, e.prompt_version, e.engine, e.model, e.endpoint, e.samples, e.judgment_body, tr.body_hash,
    `+siblings("e")+`
FROM ready e JOIN projects p ON p.id = e.project_id JOIN traces tr ON tr.id = e.trace_id
ORDER BY e.lane, e.id LIMIT ?`, append(args, c.N)...)
		if err != nil {
			return err
		}
		for _, w := range found {
			held, err := t.changed(ctx, `
UPDATE evaluations SET status = 'judging', fence = fence + 1, lease_holder = ?, lease_expires_at = ?
WHERE id = ? AND fence = ?`, c.Worker, t.now.Add(c.Lease), w.ID, w.Fence)
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

// readyWork picks the first n of each engine that may be taken: a part for each,
// so that the index gives it without passing over what waits for another engine.
// Of all projects when projectID is empty. now and longest are workable's.
func readyWork(engines []string, projectID string, n int, now, longest time.Time, lock string) (query string, args []any) {
	for i, key := range engines {
		if i > 0 {
			query += ` UNION ALL `
		}
		engine, endpoint := judge.EngineOfKey(key)
		of := ``
		args = append(args, engine, endpoint)
		if projectID != "" {
			of = ` AND e.project_id = ?`
			args = append(args, projectID)
		}
		query += `SELECT * FROM (
SELECT e.id, e.lane, e.fence, e.status, e.project_id, e.trace_id, e.judge, e.prompt_version, e.engine, e.model, e.endpoint, e.samples, e.judgment_body
FROM evaluations e WHERE e.engine = ? AND e.endpoint = ?` + of + ` AND ` + workable + `
ORDER BY e.lane, e.id LIMIT ?` + lock + `) of` + strconv.Itoa(i)
		args = append(args, now, longest, n)
	}
	return query, args
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
