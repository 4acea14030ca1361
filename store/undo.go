package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/judge"
)

// decisionUndone is the audit action of taking a decision back.
const decisionUndone = "decision.undone"

// builtOn are the audit actions on an item after which its newest decision is
// not taken back any more: somebody went on from it.
var builtOn = []string{
	"review.claimed", "review.first_answer", "review.reopened", "review.reassigned", "review.opinions_raised",
	decisionMade, opinionGiven, opinionAdded, reviewEscalated, cannotJudge,
	"evaluation.settled", "evaluation.retried", "evaluation.queued", "trace.corrected",
}

// Undo takes back the newest decision on an item: for a short time, as the
// policy has it, by who gave it, and while nobody built on it (ErrConflict with
// what happened). The decision stays and is marked; no figure counts it. The item
// is claimed by the actor again, with the time that they had spent on it, and if
// it was settled it is blind no longer, since anybody could read its verdict; a
// first answer still counts as blind. What the decision said is the actor's draft
// again. Roles: who signed the decision.
func (s *Store) Undo(ctx context.Context, a Actor, reviewID string) (d Decision, err error) {
	defer wrap(&err, "undo the decision on review %s", reviewID)
	if err := s.authoriseDecider(ctx, a, decisionUndone, "review:"+reviewID); err != nil {
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
		if d, err = t.undoable(ctx, a, r); err != nil {
			return err
		}
		return t.undo(ctx, a, r, &d)
	})
	return d, err
}

// undoUntil is until when an actor could take back the newest of an item's
// decisions; ok is false when they can't.
func undoUntil(decisions []Decision, a Actor, within time.Duration) (until time.Time, ok bool) {
	if len(decisions) == 0 || within == 0 {
		return until, false
	}
	last := decisions[len(decisions)-1]
	return last.At.Add(within), last.UserID == a.UserID && a.UserID != "" && last.UndoneAt == nil
}

// undoable is the newest decision on an item, or says why it is not taken back.
func (t *tx) undoable(ctx context.Context, a Actor, r reviewState) (Decision, error) {
	found, err := collect(ctx, t, scanDecision, `
SELECT `+decisionColumns+` FROM `+decisionTables+` WHERE d.review_id = ? ORDER BY d.decided_at DESC, d.id DESC LIMIT 1`, r.id)
	if err != nil {
		return Decision{}, err
	}
	until, ok := undoUntil(found, a, r.policy.UndoTime())
	switch {
	case len(found) == 0:
		return Decision{}, refuse("nothing was decided on this item")
	case r.policy.UndoTime() == 0:
		return Decision{}, refuse("the project's policy allows no undo: reopen the item with a reason")
	case found[0].UndoneAt != nil:
		return Decision{}, refuse("this decision was taken back already")
	case !ok:
		return Decision{}, refuse("%s has decided since: only the newest decision is taken back, by who gave it", found[0].UserName)
	case !t.now.Before(until):
		return Decision{}, refuse("the time for undo is over: a settled item is corrected by reopening it with a reason")
	}
	d := found[0]
	if r.state == stateClaimed || r.state == stateClosed {
		return Decision{}, refuse("somebody has gone on with this item, so the decision stands")
	}
	return d, t.notBuiltOn(ctx, r, d)
}

// notBuiltOn looks through what happened to an item since a decision.
func (t *tx) notBuiltOn(ctx context.Context, r reviewState, d Decision) error {
	events, err := collect(ctx, t, scanAudit, `
SELECT `+auditColumns+` FROM audit_events WHERE subject IN (?, ?, ?) AND allowed AND at >= ? ORDER BY seq`,
		r.subject(), "evaluation:"+r.evaluationID, "trace:"+r.traceID, d.At)
	if err != nil {
		return err
	}
	own := slices.IndexFunc(events, func(e AuditEvent) bool {
		var of struct {
			ID string `json:"decision_id"`
		}
		return json.Unmarshal(e.Data, &of) == nil && of.ID == d.ID
	})
	for _, e := range events[own+1:] {
		if slices.Contains(builtOn, e.Action) {
			return refuse("%s has gone on with this item, so the decision stands", e.Actor)
		}
	}
	return nil
}

func (t *tx) undo(ctx context.Context, a Actor, r reviewState, d *Decision) error {
	if _, err := t.exec(ctx, `INSERT INTO undone_decisions (decision_id, undone_at) VALUES (?, ?)`, d.ID, t.now); err != nil {
		return err
	}
	at := t.now.UTC()
	d.UndoneAt = &at
	t.audit(event{project: r.project, actor: a, action: decisionUndone, subject: "evaluation:" + r.evaluationID,
		data: map[string]any{"review_id": r.id, "decision_id": d.ID}})
	if err := t.withdraw(ctx, r, d.ID, labelUndone); err != nil {
		return err
	}
	if err := t.draftAgain(ctx, r.id, *d); err != nil {
		return err
	}
	if d.OverQuota {
		return nil // it changed nothing but the record
	}
	wasSettled := r.state == stateDecided
	if wasSettled && d.Supersedes == "" {
		// What it settled is open again, and with it what others said.
		all, err := opinionsOn(ctx, t, r)
		if err != nil {
			return err
		}
		for _, o := range all {
			if err := t.withdraw(ctx, r, o.decisionID, labelWaits); err != nil {
				return err
			}
		}
	}
	if err := recomputeConsensus(ctx, t, r.projectID, r.judge, []string{r.traceID}); err != nil {
		return err
	}
	return t.takeBack(ctx, a, r, *d, wasSettled)
}

// takeBack gives the item to who took their decision back, as it was before.
func (t *tx) takeBack(ctx context.Context, a Actor, r reviewState, d Decision, wasSettled bool) error {
	if err := t.roomForClaim(ctx, a); err != nil {
		return err
	}
	opinions, abstentions, addressee := 0, 0, r.addressee
	switch {
	case d.Action == CannotJudge:
		abstentions = 1
	case d.Action == Escalate:
		addressee = ""
	case !d.Adjudication:
		opinions = 1
	}
	since := d.At.Add(-time.Duration(d.Seconds * float64(time.Second)))
	n, err := t.changed(ctx, `
UPDATE reviews SET state = 'claimed', holder_id = ?, claimed_at = ?, lease_expires_at = ?, decided_at = NULL, adjudicating = ?,
    blind = ?, opinions = opinions - ?, abstentions = abstentions - ?, addressee = ?
WHERE id = ? AND state = ?`, a.UserID, since, t.now.Add(time.Duration(r.policy.LeaseMinutes)*time.Minute), d.Adjudication,
		r.blind && !wasSettled, opinions, abstentions, addressee, r.id, r.state)
	if err != nil {
		return err
	}
	if n != 1 {
		return fmt.Errorf("review %s was taken meanwhile: %w", r.id, ErrConflict)
	}
	switch {
	case wasSettled:
		r.blind = false
		r.tallyWaiting(t, 1)
		return t.moveEvaluation(ctx, r, judge.Final, judge.InReview, judge.Result{})
	case r.state == stateAdjudication:
		t.tally(r.projectID, tallyQueueState, tallyAdjudication, -1)
	}
	return nil
}

// draftAgain makes what a decision said its author's draft, beside a question or
// a correction that they are writing.
func (t *tx) draftAgain(ctx context.Context, reviewID string, d Decision) error {
	row, _, err := t.draftRow(ctx, reviewID, d.UserID)
	if err != nil {
		return err
	}
	was, err := row.draft()
	if err != nil {
		return err
	}
	body := DraftBody{Stage: "decide", Action: cmp.Or(d.Choice, d.Action), ReasonCode: d.ReasonCode, Severity: d.Severity, Comment: d.Comment,
		Confidence: d.Confidence, To: d.To, Rulings: d.Rulings, Question: was.Question, Correction: was.Correction}
	if d.Blind && !d.VerdictVisible && d.FirstVerdict == "" && d.FirstLabel == "" {
		body.Stage = "" // its author has still to answer blind
	}
	if body.Action == Override {
		body.Verdict, body.Label = string(d.Verdict), d.Label
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `
INSERT INTO drafts (review_id, user_id, version, tab, seq, body, saved_at) VALUES (?, ?, ?, '', 0, ?, ?)
ON CONFLICT (review_id, user_id) DO UPDATE SET version = excluded.version, tab = '', seq = 0, body = excluded.body, saved_at = excluded.saved_at`,
		reviewID, d.UserID, row.version+1, string(text), t.now)
	return err
}
