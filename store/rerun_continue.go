package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

const (
	// rerunBatch is how many evaluations of history are looked at in one turn.
	rerunBatch = 200
	rerunLease = 2 * time.Minute
	// rerunLane is that of what re-runs queue: imports go first.
	rerunLane = 1
)

// openRerun is a re-run that a worker goes on with.
type openRerun struct {
	id, projectID, run, after string
	fence                     int64
	ask                       RerunAsk
}

// history is an evaluation of before, and its trace.
type history struct{ id, traceID, externalID, body string }

// ContinueReruns queues the next batch of the oldest re-run that nobody else is
// at: at most 200 evaluations. queued says how many are new, more that it should
// be called again. Of a worker that dies, and of a trace that could not be
// planned, another goes on after two minutes; other re-runs meanwhile.
func (s *Store) ContinueReruns(ctx context.Context, plan RerunPlan) (queued int, more bool, err error) {
	defer wrap(&err, "go on with a re-run")
	var any bool // idle workers must not queue for the writer
	if err := s.reader.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM reruns WHERE state = 'queueing')`).Scan(&any); err != nil || !any {
		return 0, false, err
	}
	r, err := s.claimRerun(ctx)
	if err != nil || r == nil {
		return 0, false, err
	}
	p, err := projectByID(ctx, s.reader, r.projectID)
	if err != nil {
		return 0, false, err
	}
	found, err := s.nextHistory(ctx, r)
	if err != nil {
		return 0, false, err
	}
	var plans map[string]judge.Planned
	if r.ask.Kind != RerunFailed {
		if plans, err = s.planHistory(ctx, p, r, found, plan); err != nil {
			return 0, false, err // others come first until the lease ends
		}
	}
	err = s.writeAlone(ctx, func(t *tx) error {
		queued, err = t.queueHistory(ctx, p, r, found, plans)
		return err
	})
	return queued, err == nil, err
}

func (s *Store) claimRerun(ctx context.Context) (r *openRerun, err error) {
	err = s.write(ctx, func(t *tx) error {
		r = &openRerun{}
		var ask string
		err := t.scan(ctx, `
UPDATE reruns SET fence = fence + 1, lease_expires_at = ?
WHERE id = (SELECT x.id FROM reruns x WHERE x.state = 'queueing' AND (x.lease_expires_at IS NULL OR x.lease_expires_at < ?) ORDER BY x.id LIMIT 1)
  AND state = 'queueing' AND (lease_expires_at IS NULL OR lease_expires_at < ?)
RETURNING id, project_id, COALESCE(run_id, ''), after, fence, ask`, []any{t.now.Add(rerunLease), t.now, t.now},
			[]any{&r.id, &r.projectID, &r.run, &r.after, &r.fence, &ask})
		if errors.Is(err, sql.ErrNoRows) {
			r = nil
			return nil
		}
		if err != nil {
			return err
		}
		return json.Unmarshal([]byte(ask), &r.ask)
	})
	return r, err
}

// nextHistory reads the next evaluations that were there when the re-run was
// asked for: its id is younger than theirs.
func (s *Store) nextHistory(ctx context.Context, r *openRerun) ([]history, error) {
	c := rerunConditions(r.projectID, r.run, r.ask)
	c.and(`e.id > ?`, r.after)
	c.and(`e.id < ?`, r.id)
	return collect(ctx, s.reader, func(rows *sql.Rows, h *history) error {
		return rows.Scan(&h.id, &h.traceID, &h.externalID, (*digest)(&h.body))
	}, `
SELECT e.id, e.trace_id, tr.external_id, tr.body_hash FROM evaluations e JOIN traces tr ON tr.id = e.trace_id
`+c.where()+`
ORDER BY e.id LIMIT ?`, append(c.args, rerunBatch)...)
}

// planHistory plans the target for each trace once.
func (s *Store) planHistory(ctx context.Context, p Project, r *openRerun, found []history, plan RerunPlan) (map[string]judge.Planned, error) {
	var hashes []string
	for _, h := range found {
		hashes = append(hashes, h.body)
	}
	bodies, err := textsFrom(s.reader).bodies(ctx, hashes)
	if err != nil {
		return nil, err
	}
	plans := map[string]judge.Planned{}
	for _, h := range found {
		if _, planned := plans[h.externalID]; planned {
			continue
		}
		t := bodies[h.body].Trace
		target := r.ask.Target
		target.Judgment = judge.NoJudgment
		if plans[h.externalID], err = plan(ctx, p.Name, &t, target); err != nil {
			return nil, fmt.Errorf("plan trace %s: %w", h.externalID, err)
		}
	}
	return plans, nil
}

// queueHistory queues a batch and notes how far the re-run is.
func (t *tx) queueHistory(ctx context.Context, p Project, r *openRerun, found []history, plans map[string]judge.Planned) (queued int, err error) {
	var asked string
	if err := t.scan(ctx, `SELECT asked_by FROM reruns WHERE id = ?`, []any{r.id}, []any{&asked}); err != nil {
		return 0, err
	}
	by := Operator(asked + " (re-run)")
	if r.ask.Kind == RerunFailed {
		ids := make([]string, len(found))
		for i, h := range found {
			ids[i] = h.id
		}
		if len(ids) > 0 {
			queued, err = t.retryFailed(ctx, by, ids)
		}
	} else {
		queued, err = t.queueTargets(ctx, p, r, by, found, plans)
	}
	if err != nil {
		return 0, err
	}
	state, after := RerunQueueing, r.after
	if len(found) < rerunBatch {
		state = RerunQueued
	}
	if len(found) > 0 {
		after = found[len(found)-1].id
	}
	n, err := t.changed(ctx, `
UPDATE reruns SET after = ?, state = ?, queued = queued + ?, skipped = skipped + ?, lease_expires_at = NULL
WHERE id = ? AND fence = ? AND state = 'queueing'`, after, state, queued, len(found)-queued, r.id, r.fence)
	if err != nil {
		return 0, err
	}
	if n == 0 {
		return 0, fmt.Errorf("re-run %s was stopped, or another worker goes on with it: %w", r.id, ErrConflict)
	}
	return queued, nil
}

func (t *tx) queueTargets(ctx context.Context, p Project, r *openRerun, by Actor, found []history, plans map[string]judge.Planned) (queued int, err error) {
	m := newImporter(t, by, p)
	m.lane = rerunLane
	var known []incoming
	for _, h := range found {
		known = append(known, incoming{trace: judge.Trace{ID: h.externalID}})
	}
	if err := m.readKnown(ctx, known); err != nil {
		return 0, err
	}
	for _, h := range found {
		at, there := m.current[h.externalID]
		plan, planned := plans[h.externalID]
		if !there || !planned || at.id != h.traceID { // a newer revision came meanwhile
			continue
		}
		queued += len(m.queueMore(h.externalID, at, r.run, []judge.Planned{plan}))
	}
	return queued, m.store(ctx)
}
