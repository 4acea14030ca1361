package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/countersign/countersign/judge"
)

// storeDecision keeps a decision with all that follows from it: the review's
// and the evaluation's state, the label, the consensus, the counts.
func (t *tx) storeDecision(ctx context.Context, a Actor, f facts, in DecisionInput, out outcome) (Decision, error) {
	r := f.review
	d := Decision{
		ID: t.newID(), ReviewID: r.id, EvaluationID: r.evaluationID, UserID: a.UserID, UserName: a.Name,
		Action: out.action, Choice: out.choice, Verdict: out.answer.Verdict, Label: out.answer.Label, Findings: out.answer.Findings,
		ReasonCode: in.ReasonCode, Comment: in.Comment, Confidence: in.Confidence,
		Blind: r.blind || f.first != nil, VerdictVisible: f.visible(), FirstVerdict: out.answer.Verdict, FirstLabel: out.answer.Label,
		Adjudication: r.adjudicating, At: t.now,
	}
	if d.Findings == nil {
		d.Findings = []judge.Finding{}
	}
	if f.first != nil {
		d.FirstVerdict, d.FirstLabel = f.first.Verdict, f.first.Label
	}
	if f.corrects != nil {
		d.Supersedes = f.corrects.ID
	}
	if r.claimedAt != nil {
		d.Seconds = max(0, t.now.Sub(*r.claimedAt).Seconds())
	}
	if err := t.leaveClaim(ctx, a, r, d); err != nil {
		return Decision{}, err
	}
	if err := t.dropDraft(ctx, r.id, a.UserID); err != nil {
		return Decision{}, err
	}
	if err := t.insertDecision(ctx, d); err != nil {
		return Decision{}, err
	}
	if d.Action != Escalate {
		if err := t.insertLabel(ctx, f, d, out.abstain); err != nil {
			return Decision{}, err
		}
		if err := recomputeConsensus(ctx, t, r.projectID, r.judge, []string{r.traceID}); err != nil {
			return Decision{}, err
		}
	}
	return d, t.auditDecision(a, r, d)
}

// leaveClaim moves the item out of its claim. The condition on the claim is
// what makes a decision happen once, whatever the number of servers.
func (t *tx) leaveClaim(ctx context.Context, a Actor, r reviewState, d Decision) error {
	state, decidedAt := stateAdjudication, sql.NullTime{}
	if d.settles() {
		state, decidedAt = stateDecided, sql.NullTime{Time: t.now, Valid: true}
	}
	n, err := t.changed(ctx, `
UPDATE reviews SET state = ?, adjudicating = ?, decided_at = ?, holder_id = NULL, claimed_at = NULL, lease_expires_at = NULL
WHERE id = ? AND state = 'claimed' AND holder_id = ?`, state, r.adjudicating || !d.settles(), decidedAt, r.id, a.UserID)
	if err != nil {
		return err
	}
	if n != 1 {
		return &ExpiredError{}
	}
	if !d.settles() {
		t.tally(r.projectID, tallyQueueState, tallyAdjudication, 1)
		return nil
	}
	r.tallyWaiting(t, -1)
	source := judge.ByHuman
	if r.adjudicating {
		source = judge.ByAdjudication
	}
	return t.moveEvaluation(ctx, r, judge.InReview, judge.Final, judge.Result{Verdict: d.Verdict, Label: d.Label, Source: source})
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

func (t *tx) insertDecision(ctx context.Context, d Decision) error {
	findings, err := json.Marshal(d.Findings)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `
INSERT INTO decisions (id, review_id, evaluation_id, user_id, action, choice, verdict, label, findings, reason_code, comment,
    confidence, blind, verdict_visible, first_verdict, first_label, adjudication, seconds, supersedes, decided_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		d.ID, d.ReviewID, d.EvaluationID, d.UserID, d.Action, d.Choice, string(d.Verdict), d.Label, string(findings), d.ReasonCode, d.Comment,
		d.Confidence, d.Blind, d.VerdictVisible, string(d.FirstVerdict), d.FirstLabel, d.Adjudication, d.Seconds,
		sql.NullString{String: d.Supersedes, Valid: d.Supersedes != ""}, d.At)
	return err
}

// insertLabel writes the decision into the label ledger with the design it was
// drawn by: without it no agreement figure says what it is about.
func (t *tx) insertLabel(ctx context.Context, f facts, d Decision, abstained bool) error {
	findings, err := json.Marshal(d.Findings)
	if err != nil {
		return err
	}
	r, id := f.review, t.newID()
	t.recountLabel(r.traceID, id)
	_, err = t.exec(ctx, `
INSERT INTO labels (id, project_id, trace_id, judge, source, content_hash, reviewer, decision_id, evaluation_id, prompt_version,
    first_verdict, first_label, verdict, label, abstained, findings, comment, adjudicated, verdict_visible, stratum,
    inclusion_probability, cluster, labelled_at)
VALUES (?, ?, ?, ?, 'decision', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, r.projectID, r.traceID, r.judge, d.ID, d.UserID, d.ID, r.evaluationID, f.promptVersion,
		string(d.FirstVerdict), d.FirstLabel, string(d.Verdict), d.Label, abstained, string(findings), d.Comment, r.adjudicating,
		d.VerdictVisible, r.stratum, r.probability, f.cluster, d.At)
	return err
}

func (t *tx) auditDecision(a Actor, r reviewState, d Decision) error {
	digest, err := d.digest()
	if err != nil {
		return err
	}
	data := map[string]any{"review_id": r.id, "decision_id": d.ID, "decision_sha256": digest, "action": d.Action, "adjudication": d.Adjudication}
	if !d.settles() {
		t.audit(event{project: r.project, actor: a, action: "review.escalated", subject: "evaluation:" + r.evaluationID, data: data})
		return nil
	}
	data["choice"], data["verdict"], data["label"], data["reason_code"] = d.Choice, d.Verdict, d.Label, d.ReasonCode
	if d.Supersedes != "" {
		data["supersedes"] = d.Supersedes
	}
	t.audit(event{project: r.project, actor: a, action: "decision.made", subject: "evaluation:" + r.evaluationID, data: data})
	return nil
}

// Reopen takes a decided item up again to correct it: it is claimed by the
// actor, the evaluation waits again, and the decision before stays until a new
// one supersedes it. The item is blind no longer, since anybody could read its
// verdict while it was decided; a first answer given before still counts as
// blind. Roles: who signed the decision, lead, admin.
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
		return t.reopen(ctx, a, r, last, reason)
	})
}

func (t *tx) reopen(ctx context.Context, a Actor, r reviewState, last Decision, reason string) error {
	n, err := t.changed(ctx, `
UPDATE reviews SET state = 'open', decided_at = NULL, blind = FALSE WHERE id = ? AND state = 'decided'`, r.id)
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
