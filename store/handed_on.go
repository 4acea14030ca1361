package store

import (
	"context"
	"database/sql"
	"time"
)

// HandedOn is a person who escalated an item, as somebody may know it who has still to
// answer on their own. Who could not judge it spoke to nobody: that stays sealed.
type HandedOn struct {
	UserID, UserName string
	At               time.Time
	// Comment is what they wrote, where they knew no more of the verdict and of other
	// people's answers than who reads it; else it is withheld.
	Comment  string
	Withheld bool
}

// handedOn are the escalations of an item that stand, oldest first.
// It is for readers from whom the decisions themselves are sealed.
func handedOn(ctx context.Context, q querier, reviewID string) ([]HandedOn, error) {
	return collect(ctx, q, func(rows *sql.Rows, h *HandedOn) error {
		var knew bool
		if err := rows.Scan(&h.UserID, &h.UserName, &h.At, &h.Comment, &knew); err != nil {
			return err
		}
		h.At = h.At.UTC()
		if h.Withheld = knew && h.Comment != ""; h.Withheld {
			h.Comment = ""
		}
		return nil
	}, `
SELECT d.user_id, u.name, d.decided_at, d.comment, d.verdict_visible OR d.adjudication OR d.first_verdict <> '' OR d.first_label <> ''
FROM decisions d JOIN users u ON u.id = d.user_id
WHERE d.review_id = ? AND d.action = ? AND NOT EXISTS (SELECT 1 FROM undone_decisions x WHERE x.decision_id = d.id)
ORDER BY d.decided_at, d.id LIMIT 20`, reviewID, Escalate)
}

// undoOfOwn is until when the actor may take back the newest decision on an item that
// is sealed for them: one that gave no answer.
func undoOfOwn(ctx context.Context, q querier, a Actor, reviewID string, within time.Duration, now time.Time) (*time.Time, error) {
	newest, err := collect(ctx, q, scanDecision, `
SELECT `+decisionColumns+` FROM `+decisionTables+` WHERE d.review_id = ? ORDER BY d.decided_at DESC, d.id DESC LIMIT 1`, reviewID)
	if err != nil {
		return nil, err
	}
	if until, ok := undoUntil(newest, a, within); ok && now.Before(until) {
		return &until, nil
	}
	return nil, nil
}
