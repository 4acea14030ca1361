package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// storeDecision keeps a decision with all that follows from it: the review's
// and the evaluation's state, the label, the consensus, the counts.
func (t *tx) storeDecision(ctx context.Context, a Actor, f facts, in DecisionInput, out outcome) (Decision, error) {
	r := f.review
	d := f.decision(a, in, out, t.newID(), t.now)
	if r.claimedAt != nil {
		d.Seconds = max(0, t.now.Sub(*r.claimedAt).Seconds())
	}
	to, err := t.afterDecision(ctx, r, d)
	if err != nil {
		return Decision{}, err
	}
	if err := t.leaveClaim(ctx, a, r, d, to); err != nil {
		return Decision{}, err
	}
	if err := t.dropDraft(ctx, r.id, a.UserID); err != nil {
		return Decision{}, err
	}
	if d.Signature, err = f.sign(a, d, in.Shown); err != nil {
		return Decision{}, err
	}
	nonce := rand.Text()
	if err := t.insertDecision(ctx, d, nonce); err != nil {
		return Decision{}, err
	}
	if err := t.keepParts(ctx, d, in); err != nil {
		return Decision{}, err
	}
	if err := t.keepLabels(ctx, f, d, out.abstain, to); err != nil {
		return Decision{}, err
	}
	return d, t.auditDecision(a, r, d, nonce, decisionEvent(d, to))
}

// decision is what an outcome is stored as.
func (f facts) decision(a Actor, in DecisionInput, out outcome, id string, now time.Time) Decision {
	r := f.review
	d := Decision{
		ID: id, ReviewID: r.id, EvaluationID: r.evaluationID, UserID: a.UserID, UserName: a.Name,
		Action: out.action, Choice: out.choice, Verdict: out.answer.Verdict, Label: out.answer.Label,
		Findings: list(out.answer.Findings), Rulings: out.answer.Rulings,
		ReasonCode: in.ReasonCode, Severity: out.severity, To: in.To, Comment: in.Comment, Confidence: in.Confidence,
		Blind: r.blind || f.first != nil, VerdictVisible: f.visible(), FirstVerdict: out.answer.Verdict, FirstLabel: out.answer.Label,
		Adjudication: r.adjudicating, Round: r.round, At: now,
	}
	if len(d.Rulings) == 0 {
		d.Rulings = nil
	}
	if f.first != nil {
		d.FirstVerdict, d.FirstLabel = f.first.Verdict, f.first.Label
	}
	if f.corrects != nil {
		d.Supersedes = f.corrects.ID
	}
	return d
}

// leaveClaim moves the item out of its claim. The condition on the claim is
// what makes a decision happen once, whatever the number of servers.
func (t *tx) leaveClaim(ctx context.Context, a Actor, r reviewState, d Decision, to next) error {
	decidedAt := sql.NullTime{Time: t.now, Valid: to.settled()}
	opinions, abstentions, addressee := 0, 0, r.addressee
	switch {
	case d.Action == CannotJudge:
		abstentions = 1
	case d.Action == Escalate:
		addressee = d.To
	case !d.Adjudication:
		opinions = 1
	}
	n, err := t.changed(ctx, `
UPDATE reviews SET state = ?, adjudicating = ?, decided_at = ?, opinions = opinions + ?, abstentions = abstentions + ?, addressee = ?,
    holder_id = NULL, claimed_at = NULL, lease_expires_at = NULL
WHERE id = ? AND state = 'claimed' AND holder_id = ?`,
		to.state, to.adjudicating, decidedAt, opinions, abstentions, addressee, r.id, a.UserID)
	if err != nil {
		return err
	}
	if n != 1 {
		return &ExpiredError{}
	}
	switch to.state {
	case stateAdjudication:
		t.tally(r.projectID, tallyQueueState, tallyAdjudication, 1)
		return nil
	case stateOpen:
		return nil
	}
	r.tallyWaiting(t, -1)
	return t.moveEvaluation(ctx, r, judge.InReview, judge.Final, to.result)
}

// moveEvaluation changes the state and result of a review's evaluation.
func (t *tx) moveEvaluation(ctx context.Context, r reviewState, from, to judge.Status, result judge.Result) error {
	n, err := t.changed(ctx, `
UPDATE evaluations SET status = ?, result_verdict = ?, result_label = ?, result_source = ? WHERE id = ? AND status = ?`,
		string(to), string(result.Verdict), result.Label, result.Source, r.evaluationID, string(from))
	if err != nil {
		return err
	}
	if n != 1 {
		return fmt.Errorf("evaluation %s is not %s any more: %w", r.evaluationID, from, ErrConflict)
	}
	t.recount(r.traceID)
	t.tally(r.projectID, tallyStatus, string(from), -1)
	t.tally(r.projectID, tallyStatus, string(to), 1)
	return nil
}

// insertDecision stores a decision and its signature.
func (t *tx) insertDecision(ctx context.Context, d Decision, nonce string) error {
	findings, err := json.Marshal(d.Findings)
	if err != nil {
		return err
	}
	rulings, err := writeRulings(d.Rulings)
	if err != nil {
		return err
	}
	if _, err := t.exec(ctx, `
INSERT INTO decisions (id, review_id, evaluation_id, user_id, action, choice, verdict, label, findings, rulings, reason_code, severity,
    addressee, comment, confidence, blind, verdict_visible, first_verdict, first_label, adjudication, seconds, supersedes, over_quota,
    round, nonce, decided_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.ID, d.ReviewID, d.EvaluationID, d.UserID, d.Action, d.Choice, string(d.Verdict), d.Label, string(findings), rulings, d.ReasonCode, d.Severity,
		d.To, d.Comment, d.Confidence, d.Blind, d.VerdictVisible, string(d.FirstVerdict), d.FirstLabel, d.Adjudication, d.Seconds,
		sql.NullString{String: d.Supersedes, Valid: d.Supersedes != ""}, d.OverQuota, d.Round, nonce, d.At); err != nil {
		return err
	}
	return t.insertSignature(ctx, d.ID, *d.Signature)
}

// insertLabel writes the decision into the label ledger with the design it was
// drawn by: without it no agreement figure says what it is about. Whether it
// counts already is keepLabels' business.
func (t *tx) insertLabel(ctx context.Context, f facts, d Decision, abstained bool) (id string, err error) {
	findings, err := json.Marshal(d.Findings)
	if err != nil {
		return "", err
	}
	r := f.review
	id = t.newID()
	_, err = t.exec(ctx, `
INSERT INTO labels (id, project_id, trace_id, judge, source, content_hash, reviewer, decision_id, evaluation_id, prompt_version,
    first_verdict, first_label, verdict, label, abstained, findings, comment, adjudicated, verdict_visible, stratum,
    inclusion_probability, cluster, labelled_at)
VALUES (?, ?, ?, ?, 'decision', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, r.projectID, r.traceID, r.judge, d.ID, d.UserID, d.ID, r.evaluationID, f.promptVersion,
		string(d.FirstVerdict), d.FirstLabel, string(d.Verdict), d.Label, abstained, string(findings), d.Comment, d.Adjudication,
		d.VerdictVisible, r.stratum, r.probability, f.cluster, d.At)
	return id, err
}

// Audit actions of a decision.
const (
	decisionMade    = "decision.made"    // it settles the item
	opinionGiven    = "opinion.given"    // others still have to answer: it does not say what was said
	opinionAdded    = "opinion.added"    // after the item was settled
	reviewEscalated = "review.escalated" // somebody else has to settle it
	cannotJudge     = "review.abstained" // others are asked
)

// decisionEvent is the action of a decision after which an item goes there.
func decisionEvent(d Decision, to next) string {
	switch {
	case d.answers() && to.settled():
		return decisionMade
	case d.answers():
		return opinionGiven
	case d.Action == CannotJudge && !to.adjudicating:
		return cannotJudge
	}
	return reviewEscalated
}

func (t *tx) auditDecision(a Actor, r reviewState, d Decision, nonce, action string) error {
	digest, err := d.digest(nonce)
	if err != nil {
		return err
	}
	signature, err := d.Signature.digest(d.ID)
	if err != nil {
		return err
	}
	data := map[string]any{"review_id": r.id, "decision_id": d.ID, "decision_sha256": digest, "signature_sha256": signature, "adjudication": d.Adjudication}
	// The audit log is open to leads, who may have to answer the same item yet.
	if action != opinionGiven {
		data["action"] = d.Action
	}
	if d.To != "" {
		data["to"] = d.To
	}
	if action == decisionMade || action == opinionAdded {
		data["choice"], data["verdict"], data["label"], data["reason_code"] = d.Choice, d.Verdict, d.Label, d.ReasonCode
		if d.Severity != "" {
			data["severity"] = d.Severity
		}
	}
	if d.Supersedes != "" {
		data["supersedes"] = d.Supersedes
	}
	t.audit(event{project: r.project, actor: a, action: action, subject: "evaluation:" + r.evaluationID, data: data})
	return nil
}

// Reopen takes a decided item up again to correct it: it is claimed by the
// actor, the evaluation waits again, and the decision before stays until a new
// one supersedes it. The item is blind no longer, since anybody could read its
// verdict while it was decided; a first answer given before still counts as
// blind. An item that rests on several opinions is reopened by a lead who gave none
// of them, and settled by adjudication; one that was adjudicated by nobody who
// answered before. Roles: who signed the decision, lead, admin.
func (s *Store) Reopen(ctx context.Context, a Actor, reviewID, reason string) (err error) {
	defer wrap(&err, "reopen review %s", reviewID)
	if err := s.authoriseDecider(ctx, a, "review.reopened", "review:"+reviewID); err != nil {
		return err
	}
	if err := checkComment("reason", reason, true); err != nil {
		return err
	}
	last, _, err := lastSettling(ctx, s.reader, reviewID)
	if err != nil {
		return err
	}
	if !a.mayAdjudicate() && last.UserID != "" && last.UserID != a.UserID {
		return s.authorise(ctx, a, nil, "review.reopened", "review:"+reviewID)
	}
	return s.write(ctx, func(t *tx) error {
		if err := t.lockTraceOfReview(ctx, reviewID); err != nil {
			return err
		}
		r, err := loadReviewState(ctx, t, reviewID)
		if err != nil {
			return err
		}
		if r.state != stateDecided {
			return refuse("the item is %s: only a decided one is reopened", r.state)
		}
		last, _, err := lastSettling(ctx, t, r.id)
		if err != nil {
			return err
		}
		if !a.mayAdjudicate() && last.UserID != a.UserID {
			return refuse("%s decided it meanwhile", last.UserName)
		}
		if r.opinions > 1 {
			r.adjudicating = true
			if !a.mayAdjudicate() {
				return refuse("this item rests on %d opinions: a lead who gave none of them can reopen it", r.opinions)
			}
		}
		r.addressee = "" // whoever it was sent to has settled it
		if r.adjudicating && last.UserID == a.UserID && !a.mayAdjudicate() {
			r.addressee = a.UserID
		}
		if r.adjudicating {
			if err := mayAnswer(ctx, t, a, r); err != nil {
				return refuse("you have given an answer on this item: a lead who has not can reopen it")
			}
		}
		return t.reopen(ctx, a, r, last, reason)
	})
}

func (t *tx) reopen(ctx context.Context, a Actor, r reviewState, last Decision, reason string) error {
	n, err := t.changed(ctx, `
UPDATE reviews SET state = 'open', decided_at = NULL, blind = FALSE, reopened = TRUE, adjudicating = ?, addressee = ?
WHERE id = ? AND state = 'decided'`, r.adjudicating, r.addressee, r.id)
	if err != nil {
		return err
	}
	if n != 1 {
		return refuse("the item was reopened meanwhile")
	}
	r.state, r.blind = stateOpen, false
	r.tallyWaiting(t, 1)
	if err := t.moveEvaluation(ctx, r, judge.Final, judge.InReview, judge.Result{}); err != nil {
		return err
	}
	t.audit(event{project: r.project, actor: a, action: "review.reopened", subject: r.subject(),
		data: map[string]any{"evaluation_id": r.evaluationID, "decision_id": last.ID, "reason": reason}})
	return t.claim(ctx, a, r)
}
