package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/countersign/countersign/judge"
)

// adjudicatedLabel is the newest adjudicated label that came with a trace; ok
// is false when there is none. It gives every evaluation of its judge on that
// trace its result.
func (t *tx) adjudicatedLabel(ctx context.Context, projectID, traceID, judgeName string) (r judge.Result, ok bool, err error) {
	r.Source = judge.ByAdjudication
	err = t.scan(ctx, `
SELECT verdict, label FROM labels
WHERE project_id = ? AND judge = ? AND trace_id = ? AND source = 'imported' AND adjudicated
ORDER BY labelled_at DESC, id DESC LIMIT 1`, []any{projectID, judgeName, traceID}, []any{&r.Verdict, &r.Label})
	if errors.Is(err, sql.ErrNoRows) {
		return judge.Result{}, false, nil
	}
	return r, err == nil, err
}

// settleByLabel ends what a newly imported adjudicated label decides: accepted
// evaluations and those that wait become final, and their reviews close. What
// people have decided here stays theirs.
func (t *tx) settleByLabel(ctx context.Context, a Actor, p Project, on tracedJudge) error {
	result, ok, err := t.adjudicatedLabel(ctx, p.ID, on.traceID, on.judge)
	if err != nil || !ok {
		return err
	}
	type waiting struct {
		id, status string
	}
	found, err := collect(ctx, t, func(r *sql.Rows, w *waiting) error { return r.Scan(&w.id, &w.status) }, `
SELECT id, status FROM evaluations WHERE trace_id = ? AND judge = ? AND status IN ('accepted', 'in_review')`, on.traceID, on.judge)
	if err != nil {
		return err
	}
	for _, w := range found {
		if _, err := t.exec(ctx, `
UPDATE evaluations SET status = 'final', result_verdict = ?, result_label = ?, result_source = ? WHERE id = ?`,
			string(result.Verdict), result.Label, result.Source, w.id); err != nil {
			return err
		}
		t.recount(on.traceID)
		t.tally(p.ID, tallyStatus, w.status, -1)
		t.tally(p.ID, tallyStatus, string(judge.Final), 1)
		if _, err := t.closeReview(ctx, p.ID, w.id); err != nil {
			return err
		}
		if err := t.releaseOpinions(ctx, p.ID, on, w.id); err != nil {
			return err
		}
		t.audit(event{project: p.Name, actor: a, action: "evaluation.settled", subject: "evaluation:" + w.id,
			data: map[string]any{"by": "imported adjudicated label"}})
	}
	return nil
}

// releaseOpinions lets the opinions count that were given on an evaluation before
// a label settled it.
func (t *tx) releaseOpinions(ctx context.Context, projectID string, on tracedJudge, evaluationID string) error {
	ids, err := collect(ctx, t, scanID, `SELECT id FROM reviews WHERE evaluation_id = ? AND opinions > 0`, evaluationID)
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, id := range ids {
		if err := t.releaseLabels(ctx, id, on.traceID); err != nil {
			return err
		}
	}
	return recomputeConsensus(ctx, t, projectID, on.judge, []string{on.traceID})
}

// closeReview takes an evaluation's item out of the queue undecided. It says
// whether one was waiting.
func (t *tx) closeReview(ctx context.Context, projectID, evaluationID string) (closed bool, err error) {
	var id, state, lead string
	var blind bool
	err = t.scan(ctx, `
SELECT id, state, lead_reason, blind FROM reviews
WHERE evaluation_id = ? AND state IN ('open', 'claimed', 'adjudication')`, []any{evaluationID}, []any{&id, &state, &lead, &blind})
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if _, err := t.exec(ctx, `
UPDATE reviews SET state = 'closed', holder_id = NULL, claimed_at = NULL, lease_expires_at = NULL, adjudicating = FALSE
WHERE id = ?`, id); err != nil {
		return false, err
	}
	t.tally(projectID, tallyQueue, queueName(lead, blind), -1)
	if state == "adjudication" {
		t.tally(projectID, tallyQueueState, tallyAdjudication, -1)
	}
	return true, nil
}
