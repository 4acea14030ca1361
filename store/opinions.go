package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// Several people may have to answer one item, each on their own: their answers
// are opinions. Until as many are there as the item needs, nobody who may still
// give one sees what the others said, and no figure counts it.

// opinion is what somebody said on an item, as far as others are held to it.
type opinion struct {
	decisionID string
	answer     Answer
}

// opinionsOn are the opinions on an item that stand, oldest first.
func opinionsOn(ctx context.Context, q querier, r reviewState) ([]opinion, error) {
	return collect(ctx, q, func(rows *sql.Rows, o *opinion) error {
		return rows.Scan(&o.decisionID, &o.answer.Verdict, &o.answer.Label)
	}, `
SELECT d.id, d.verdict, d.label FROM decisions d
WHERE d.review_id = ? AND d.action IN ('confirm', 'override') AND NOT d.adjudication AND d.round = ? AND `+standing+`
ORDER BY d.decided_at, d.id`, r.id, r.round)
}

// allAgree says whether the opinions say the same: one verdict, and one label
// among those that have one.
func allAgree(opinions []opinion) (result judge.Result, agreed bool) {
	for i, o := range opinions {
		if i == 0 {
			result.Verdict = o.answer.Verdict
		}
		if o.answer.Verdict != result.Verdict || o.answer.Label != "" && result.Label != "" && o.answer.Label != result.Label {
			return judge.Result{}, false
		}
		if o.answer.Label != "" {
			result.Label = o.answer.Label
		}
	}
	return result, len(opinions) > 0
}

// next is where an item goes with a decision.
type next struct {
	state        string
	adjudicating bool
	result       judge.Result // of stateDecided
}

// settled says that the item has its result.
func (n next) settled() bool { return n.state == stateDecided }

// afterDecision tells where an item goes when d is added to what was said.
func (t *tx) afterDecision(ctx context.Context, r reviewState, d Decision) (next, error) {
	adjudication := next{state: stateAdjudication, adjudicating: true}
	switch d.Action {
	case Escalate:
		return adjudication, nil
	case CannotJudge:
		if r.abstentions+1 >= r.policy.AbstentionsToAdjudicate() {
			return adjudication, nil
		}
		return next{state: stateOpen}, nil
	}
	if r.adjudicating || d.Supersedes != "" {
		n := next{state: stateDecided, adjudicating: r.adjudicating, result: judge.Result{Verdict: d.Verdict, Label: d.Label, Source: judge.ByHuman}}
		if r.adjudicating {
			n.result.Source = judge.ByAdjudication
		}
		return n, nil
	}
	all, err := opinionsOn(ctx, t, r)
	if err != nil {
		return next{}, err
	}
	all = append(all, opinion{decisionID: d.ID, answer: Answer{Verdict: d.Verdict, Label: d.Label}})
	if len(all) < r.opinionsRequired {
		return next{state: stateOpen}, nil
	}
	result, agreed := allAgree(all)
	if !agreed {
		return adjudication, nil
	}
	result.Source = judge.ByHuman
	return next{state: stateDecided, result: result}, nil
}

// RaiseOpinions lets an item that waits need more opinions than it did. The
// number never falls, and an item that a lead has to settle, or that was decided
// before, needs none. Roles: lead, admin.
func (s *Store) RaiseOpinions(ctx context.Context, a Actor, reviewID string, n int) (err error) {
	defer wrap(&err, "ask for more opinions on review %s", reviewID)
	if err := s.authorise(ctx, a, leads, "review.opinions_raised", "review:"+reviewID); err != nil {
		return err
	}
	if n < 2 || n > judge.MaxOpinions {
		return invalid("opinions", "is %d: it lies between 2 and %d", n, judge.MaxOpinions)
	}
	return s.write(ctx, func(t *tx) error {
		r, err := loadReviewState(ctx, t, reviewID)
		if err != nil {
			return err
		}
		if err := r.settled(ctx, t); err != nil {
			return err
		}
		_, err = t.raiseOpinions(ctx, a, r, n)
		return err
	})
}

// raiseOpinions asks for n opinions on an item that waits; what it asks for
// already stays as it is.
func (t *tx) raiseOpinions(ctx context.Context, a Actor, r reviewState, n int) (raised bool, err error) {
	switch {
	case r.adjudicating:
		return false, refuse("this item waits for one person to settle it: more opinions change nothing")
	case r.reopened:
		return false, refuse("this item was decided before, and everybody could read how: more opinions would not be independent")
	case n == r.opinionsRequired:
		return false, nil
	case n < r.opinionsRequired:
		return false, refuse("this item needs %d opinions, and the number is never lowered", r.opinionsRequired)
	}
	if _, err := t.exec(ctx, `UPDATE reviews SET opinions_required = ? WHERE id = ?`, n, r.id); err != nil {
		return false, err
	}
	t.audit(event{project: r.project, actor: a, action: "review.opinions_raised", subject: r.subject(),
		data: map[string]any{"evaluation_id": r.evaluationID, "from": r.opinionsRequired, "to": n}})
	return true, nil
}

// checkAddressee says what is wrong with who an item is to be sent to.
func (r reviewState) checkAddressee(ctx context.Context, q querier, to string) error {
	if to == "" || to == string(Lead) || to == string(Admin) {
		return nil
	}
	var who Actor
	var active, said bool
	err := q.QueryRowContext(ctx, `
SELECT u.id, u.name, u.role, u.disabled_at IS NULL, EXISTS (`+spoken+`) FROM users u, reviews r WHERE u.id = ? AND r.id = ?`, to, to, r.id).
		Scan(&who.UserID, &who.Name, &who.Role, &active, &said)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return invalid("to", "is %q: it is a person's id, lead or admin", to)
	case err != nil:
		return fmt.Errorf("read user %s: %w", to, err)
	case !active:
		return invalid("to", "is %s, whose account is disabled: send it to somebody else", who.Name)
	case !who.MayDecide():
		return invalid("to", "is %s, who decides nothing: send it to a reviewer, a lead or an administrator", who.Name)
	case said || to == r.holderID && !r.adjudicating:
		return invalid("to", "is %s, who has given an answer on this item or is about to: send it to somebody else", who.Name)
	}
	why, err := unfitByName(ctx, q, who, r.policy, r.id, time.Time{})
	if err == nil && why != "" {
		return invalid("to", "is %s, who can't be given this item: %s Send it to somebody else", who.Name, why)
	}
	return err
}

// Reassign sends an item that somebody else has to settle to another person or
// role; to is a user's id, lead, admin, or empty for leads and admins. A claim on
// it ends. Roles: lead, admin.
func (s *Store) Reassign(ctx context.Context, a Actor, reviewID, to string) (err error) {
	defer wrap(&err, "send review %s to somebody else", reviewID)
	if err := s.authorise(ctx, a, leads, "review.reassigned", "review:"+reviewID); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		r, err := loadReviewState(ctx, t, reviewID)
		if err != nil {
			return err
		}
		if err := r.settled(ctx, t); err != nil {
			return err
		}
		if !r.adjudicating {
			return refuse("this item waits in the queue for anybody: only one that was escalated, or that people differ about, is sent to somebody")
		}
		if err := r.checkAddressee(ctx, t, to); err != nil {
			return err
		}
		data := map[string]any{"evaluation_id": r.evaluationID, "from": r.addressee, "to": to}
		if r.state == stateClaimed {
			data["ended_claim_of"] = r.holderID
			if err := t.release(ctx, r); err != nil {
				return err
			}
		}
		if _, err := t.exec(ctx, `UPDATE reviews SET addressee = ? WHERE id = ?`, to, r.id); err != nil {
			return err
		}
		t.audit(event{project: r.project, actor: a, action: "review.reassigned", subject: r.subject(), data: data})
		return nil
	})
}
