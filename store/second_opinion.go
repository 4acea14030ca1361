package store

import (
	"context"
	"crypto/rand"
)

// AddSecondOpinion keeps what somebody says on an item that was settled
// meanwhile: an answer that came too late is not lost. It is marked as over the
// quota, signed, and changes no result and no figure. The input is as for Decide:
// confirm or override, or after a first answer keep or adopt. A person gives one,
// and none where they have answered already. ErrConflict: the item is not
// settled. Roles: who may decide.
func (s *Store) AddSecondOpinion(ctx context.Context, a Actor, reviewID string, in DecisionInput) (d Decision, err error) {
	defer wrap(&err, "add a second opinion on review %s", reviewID)
	if err := s.authoriseDecider(ctx, a, opinionAdded, "review:"+reviewID); err != nil {
		return Decision{}, err
	}
	if err := in.Check(); err != nil {
		return Decision{}, err
	}
	err = s.write(ctx, func(t *tx) error {
		if err := t.lockTraceOfReview(ctx, reviewID); err != nil {
			return err
		}
		r, err := loadReviewState(ctx, t, reviewID)
		if err != nil {
			return err
		}
		if err := mayAdd(ctx, t, a, r, in); err != nil {
			return err
		}
		// It was settled by others, and everybody can read how: no seal is left.
		r.adjudicating, r.blind, r.reopened = false, false, false
		f, err := loadFacts(ctx, t, a, r)
		if err != nil {
			return err
		}
		out, err := f.resolve(ctx, t, in)
		if err != nil {
			return err
		}
		d = f.decision(a, in, out, t.newID(), t.now)
		d.OverQuota = true
		if d.Signature, err = f.sign(a, d, in.Shown); err != nil {
			return err
		}
		if err := t.dropDraft(ctx, r.id, a.UserID); err != nil {
			return err
		}
		nonce := rand.Text()
		if err := t.insertDecision(ctx, d, nonce); err != nil {
			return err
		}
		if err := t.keepLabels(ctx, f, d, out.abstain, next{}); err != nil {
			return err
		}
		return t.auditDecision(a, r, d, nonce, opinionAdded)
	})
	return d, err
}

func mayAdd(ctx context.Context, q querier, a Actor, r reviewState, in DecisionInput) error {
	if r.state != stateDecided {
		return refuse("this item is %s and not settled: claim it and decide it", r.state)
	}
	if in.Action == Escalate || in.Action == CannotJudge {
		return invalid("action", "is %s, but this item is settled: say what your answer is", in.Action)
	}
	var said bool
	if err := q.QueryRowContext(ctx, `
SELECT EXISTS (SELECT 1 FROM decisions d WHERE d.review_id = ? AND d.user_id = ? AND d.action IN ('confirm', 'override')
    AND NOT EXISTS (SELECT 1 FROM undone_decisions z WHERE z.decision_id = d.id))`, r.id, a.UserID).Scan(&said); err != nil {
		return err
	}
	if said {
		return refuse("you have given your answer on this item already")
	}
	return nil
}
