package store

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/judge"
)

// retryBatch is how many evaluations are queued again in one transaction.
const retryBatch = 100

// failedMask are the bits of reasons for which an evaluation may be retried.
var failedMask = reasonMask([]judge.Reason{{Code: judge.ReasonJudgeFailed}, {Code: judge.ReasonInvalidOutput}})

// retry puts an undecided evaluation whose judge failed back in the queue of
// work.
func (t *tx) retry(ctx context.Context, a Actor, id string) error {
	e, status, err := t.subjectOf(ctx, id)
	if err != nil {
		return err
	}
	var failed bool
	if err := t.scan(ctx, `
SELECT EXISTS (SELECT 1 FROM evaluation_reasons WHERE evaluation_id = ? AND code IN ('judge_failed', 'invalid_output'))`,
		[]any{id}, []any{&failed}); err != nil {
		return err
	}
	if status != judge.InReview || !failed {
		return fmt.Errorf("only an undecided evaluation whose judge failed can be retried: %w", ErrConflict)
	}
	if _, err := t.closeReview(ctx, e.projectID, id); err != nil {
		return err
	}
	if err := t.forgetResult(ctx, id); err != nil {
		return err
	}
	t.recount(e.traceID)
	t.tally(e.projectID, tallyStatus, string(judge.InReview), -1)
	t.tally(e.projectID, tallyStatus, string(judge.Queued), 1)
	t.audit(event{project: e.project, actor: a, action: "evaluation.retried", subject: "evaluation:" + id})
	return nil
}

// retryFailed retries those of the evaluations that still can be.
func (t *tx) retryFailed(ctx context.Context, a Actor, ids []string) (n int, err error) {
	var traces []string
	if err := inBatches(ids, func(batch []string) error {
		of, err := collect(ctx, t, scanID, `SELECT trace_id FROM evaluations WHERE id IN (`+placeholders(len(batch))+`)`, anys(batch)...)
		traces = append(traces, of...)
		return err
	}); err != nil {
		return 0, err
	}
	if err := t.lockTraces(ctx, traces); err != nil {
		return 0, err
	}
	still, err := collect(ctx, t, scanID, `
SELECT id FROM evaluations WHERE id IN (`+placeholders(len(ids))+`) AND status = 'in_review' AND (reasons & ?) <> 0 ORDER BY id`,
		append(anys(ids), failedMask)...)
	if err != nil {
		return 0, err
	}
	for _, id := range still {
		if err := t.retry(ctx, a, id); err != nil {
			return 0, err
		}
	}
	return len(still), nil
}

// RetryRun queues every undecided evaluation of a run again whose judge failed
// for good or gave invalid output, in batches, and says how many. Attempts and
// what they cost stay. After an error, calling it again goes on. Roles: lead,
// admin.
func (s *Store) RetryRun(ctx context.Context, a Actor, project, run string) (n int, err error) {
	defer wrap(&err, "retry what failed in run %q of project %q", run, project)
	if err := s.authorise(ctx, a, leads, "run.retried", "project:"+project); err != nil {
		return 0, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return 0, err
	}
	id, err := s.runID(ctx, project, run)
	if err != nil {
		return 0, err
	}
	if err := s.write(ctx, func(t *tx) error {
		t.audit(event{project: p.Name, actor: a, action: "run.retried", subject: "run:" + id, data: map[string]any{"run": run}})
		return nil
	}); err != nil {
		return 0, err
	}
	for after := ""; ; {
		ids, err := collect(ctx, s.reader, scanID, `
SELECT e.id FROM evaluations e WHERE e.project_id = ? AND e.status = 'in_review' AND e.id > ? AND (e.reasons & ?) <> 0
  AND EXISTS (SELECT 1 FROM run_traces rt WHERE rt.run_id = ? AND rt.trace_id = e.trace_id)
ORDER BY e.id LIMIT ?`, p.ID, after, failedMask, id, retryBatch)
		if err != nil || len(ids) == 0 {
			return n, err
		}
		after = ids[len(ids)-1]
		var retried int
		if err := s.writeAlone(ctx, func(t *tx) error {
			retried, err = t.retryFailed(ctx, a, ids)
			return err
		}); err != nil {
			return n, err
		}
		n += retried
	}
}

// Retriable counts what RetryRun would queue again. Roles: all.
func (s *Store) Retriable(ctx context.Context, a Actor, project, run string) (n int, err error) {
	defer wrap(&err, "count what failed in run %q of project %q", run, project)
	if err := s.authorise(ctx, a, everyone, "run.read", "project:"+project); err != nil {
		return 0, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return 0, err
	}
	id, err := s.runID(ctx, project, run)
	if err != nil {
		return 0, err
	}
	// What people have settled is in the kept number too; it spares most runs the look-up.
	var ever int
	if err := s.reader.QueryRowContext(ctx, `
SELECT COALESCE(sum(n), 0) FROM run_reasons WHERE run_id = ? AND code IN ('judge_failed', 'invalid_output')`, id).Scan(&ever); err != nil || ever == 0 {
		return 0, err
	}
	err = s.reader.QueryRowContext(ctx, `
SELECT count(*) FROM evaluations e WHERE e.project_id = ? AND e.status = 'in_review' AND (e.reasons & ?) <> 0
  AND EXISTS (SELECT 1 FROM run_traces rt WHERE rt.run_id = ? AND rt.trace_id = e.trace_id)`, p.ID, failedMask, id).Scan(&n)
	return n, err
}

// RequeueRefused queues every evaluation of a project again that was refused for
// a field, in batches, and says how many: after a policy allows an endpoint that
// it did not ("endpoint"). What still lacks it is refused again when it is to be
// judged. After an error, calling it again goes on. Roles: lead, admin.
func (s *Store) RequeueRefused(ctx context.Context, a Actor, project, field string) (n int, err error) {
	defer wrap(&err, "queue again what was refused for %q in project %q", field, project)
	if err := s.authorise(ctx, a, leads, "evaluation.requeued", "project:"+project); err != nil {
		return 0, err
	}
	if field == "" {
		return 0, invalid("field", "is missing")
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return 0, err
	}
	for after := ""; ; {
		ids, err := collect(ctx, s.reader, scanID, `
SELECT e.id FROM evaluations e WHERE e.project_id = ? AND e.status = 'refused' AND e.id > ? AND e.refused_field = ?
ORDER BY e.id LIMIT ?`, p.ID, after, field, retryBatch)
		if err != nil || len(ids) == 0 {
			return n, err
		}
		after = ids[len(ids)-1]
		var queued int
		if err := s.writeAlone(ctx, func(t *tx) error {
			queued = 0
			for _, id := range ids {
				e, status, err := t.subjectOf(ctx, id)
				if err != nil {
					return err
				}
				if status != judge.Refused { // somebody was faster
					continue
				}
				if err := t.forgetResult(ctx, id); err != nil {
					return err
				}
				t.recount(e.traceID)
				t.tally(e.projectID, tallyStatus, string(judge.Refused), -1)
				t.tally(e.projectID, tallyStatus, string(judge.Queued), 1)
				t.audit(event{project: e.project, actor: a, action: "evaluation.requeued", subject: "evaluation:" + id,
					data: map[string]any{"refused_for": field}})
				queued++
			}
			return nil
		}); err != nil {
			return n, err
		}
		n += queued
	}
}
