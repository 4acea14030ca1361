package store

import (
	"context"
	"database/sql"
	"errors"
)

// Labels that no figure counts are named by a row of their own, since labels are
// never edited: an opinion on an item that is not settled yet, an answer that was
// added later, and what was taken back.
const (
	labelWaits     = "waits"      // until the item is settled
	labelOverQuota = "over_quota" // for ever
	labelUndone    = "undone"     // for ever
)

// counted is a condition on a label l.
const counted = `NOT EXISTS (SELECT 1 FROM withheld_labels wl WHERE wl.label_id = l.id)`

// keepLabels writes the label of a decision, and lets those count that the
// decision settles.
func (t *tx) keepLabels(ctx context.Context, f facts, d Decision, abstained bool, to next) error {
	if d.Action == Escalate {
		return nil
	}
	r := f.review
	id, err := t.insertLabel(ctx, f, d, abstained)
	if err != nil {
		return err
	}
	switch {
	case d.OverQuota:
		return t.withhold(ctx, id, d.ID, labelOverQuota)
	case d.answers() && !to.settled():
		return t.withhold(ctx, id, d.ID, labelWaits)
	}
	t.recountLabel(r.traceID, id)
	if to.settled() {
		if err := t.releaseLabels(ctx, r.id, r.traceID); err != nil {
			return err
		}
	}
	return recomputeConsensus(ctx, t, r.projectID, r.judge, []string{r.traceID})
}

func (t *tx) withhold(ctx context.Context, labelID, decisionID, why string) error {
	_, err := t.exec(ctx, `
INSERT INTO withheld_labels (label_id, decision_id, why) VALUES (?, ?, ?)
ON CONFLICT (label_id) DO UPDATE SET why = excluded.why`, labelID, decisionID, why)
	return err
}

// releaseLabels lets the opinions on an item count that waited for it to be
// settled. The consensus is the caller's business.
func (t *tx) releaseLabels(ctx context.Context, reviewID, traceID string) error {
	ids, err := collect(ctx, t, scanID, `
SELECT w.label_id FROM withheld_labels w JOIN decisions d ON d.id = w.decision_id WHERE d.review_id = ? AND w.why = 'waits' ORDER BY 1`, reviewID)
	if err != nil {
		return err
	}
	for _, id := range ids {
		if _, err := t.exec(ctx, `DELETE FROM withheld_labels WHERE label_id = ?`, id); err != nil {
			return err
		}
		t.recountLabel(traceID, id)
	}
	return nil
}

// withdraw lets the label of a decision count no longer. The consensus is the
// caller's business.
func (t *tx) withdraw(ctx context.Context, r reviewState, decisionID, why string) error {
	var id string
	var was bool
	err := t.QueryRowContext(ctx, `SELECT l.id, `+counted+` FROM labels l WHERE l.decision_id = ?`, decisionID).Scan(&id, &was)
	if errors.Is(err, sql.ErrNoRows) {
		return nil // an escalation has none
	}
	if err != nil {
		return err
	}
	if was {
		if err := t.recountEnded(ctx, r, id); err != nil {
			return err
		}
	}
	return t.withhold(ctx, id, decisionID, why)
}

// recountEnded notes a label that counted and does no longer.
func (t *tx) recountEnded(ctx context.Context, r reviewState, labelID string) error {
	on := several{projectID: r.projectID, judge: r.judge, traceID: r.traceID}
	err := t.QueryRowContext(ctx, `SELECT pairs_waiting FROM consensus WHERE project_id = ? AND judge = ? AND trace_id = ?`,
		on.projectID, on.judge, on.traceID).Scan(&on.waiting)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	t.recount(r.traceID)
	t.recounts.ended[labelID] = true
	t.recounts.thinned[tracedJudge{r.traceID, r.judge}] = on
	return nil
}
