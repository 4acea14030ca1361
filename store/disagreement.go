package store

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"slices"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
)

// disagreement looks for evaluations of the same judge and trace that contradict
// this one, by the rule of harness.Differing. Then this one waits for a person,
// and so does each of them that nobody has settled: those are returned, with the
// status they have until now.
func (k *known) disagreement(s subject, f *finished) (contradicted []*verdictOf) {
	e := &f.Evaluation
	all := k.verdicts[tracedJudge{s.traceID, s.judge}]
	others := make([]*judge.Evaluation, 0, len(all))
	var of []*verdictOf
	for _, other := range all {
		if other.id != s.evaluationID {
			others, of = append(others, &other.Evaluation), append(of, other)
		}
	}
	// As the plan names it: what is asked of a model is planned with its endpoint.
	this := *e
	this.Endpoint, this.Samples = f.Work.Planned.Endpoint, f.Work.Planned.Samples
	var differing []*judge.Evaluation
	for _, i := range harness.Differing(&this, others, s.policy.For(s.judge, s.domain, s.stakes)) {
		differing = append(differing, others[i])
		if st := others[i].Status; st == judge.Accepted || st == judge.InReview && !of[i].disagrees {
			contradicted = append(contradicted, of[i])
		}
	}
	if differing == nil {
		return nil
	}
	// Whatever it was drawn for: an evaluation like this is always reviewed.
	e.Status, f.Draw = judge.InReview, &judge.Draw{Stratum: judge.StratumFlagged, InclusionProbability: 1}
	e.Reasons = slices.DeleteFunc(e.Reasons, func(r judge.Reason) bool {
		return r.Code == judge.ReasonRandomAudit || r.Code == judge.ReasonBoundaryAudit
	})
	e.Reasons = append(e.Reasons, harness.Disagreement(differing...))
	return contradicted
}

// contradict sends an evaluation to a person because another one, which has just
// come, contradicts it.
func (t *tx) contradict(ctx context.Context, s subject, other *verdictOf, by judge.Evaluation, draw judge.Draw) error {
	reason, was := harness.Disagreement(&by), other.Status
	other.Status, other.disagrees = judge.InReview, true
	if was == judge.Accepted {
		return t.reopenAccepted(ctx, s.with(other.id), reason, draw)
	}
	return t.addReasonWaiting(ctx, s.with(other.id), reason)
}

// with is the same trace and judge for another evaluation.
func (s subject) with(evaluationID string) subject {
	s.evaluationID = evaluationID
	return s
}

var namedVerdict = regexp.MustCompile(` says (pass|borderline|fail)$`)

// withoutVerdict is a reason as it may be read: those of disagreement that are
// older named the other verdict, which may still wait for the blind answer of
// whoever reads the reason.
func withoutVerdict(r judge.Reason) judge.Reason {
	if r.Code == judge.ReasonJudgeDisagreement {
		r.Detail = namedVerdict.ReplaceAllString(r.Detail, " says otherwise")
	}
	return r
}

// addOneReason adds a reason to those an evaluation has.
func (t *tx) addOneReason(ctx context.Context, evaluationID string, r judge.Reason) error {
	var position int
	if err := t.scan(ctx, `SELECT count(*) FROM evaluation_reasons WHERE evaluation_id = ?`, []any{evaluationID}, []any{&position}); err != nil {
		return err
	}
	return t.addReasons(ctx, evaluationID, position, []judge.Reason{r})
}

// reopenWithdrawn sends an evaluation back to people whose item was withdrawn, for
// all the reasons it had and one more.
func (t *tx) reopenWithdrawn(ctx context.Context, s subject, r judge.Reason, draw judge.Draw) error {
	if err := t.addOneReason(ctx, s.evaluationID, r); err != nil {
		return err
	}
	reasons, err := collect(ctx, t, func(rows *sql.Rows, x *judge.Reason) error { return rows.Scan(&x.Code) },
		`SELECT code FROM evaluation_reasons WHERE evaluation_id = ? ORDER BY position`, s.evaluationID)
	if err != nil {
		return err
	}
	lead := leadReason(reasons)
	if _, err := t.exec(ctx, `
UPDATE evaluations SET status = 'in_review', lead_reason = ?, reasons = reasons | ?, refused_field = '', error = '' WHERE id = ?`,
		lead, reasonMask([]judge.Reason{r}), s.evaluationID); err != nil {
		return err
	}
	t.recount(s.traceID)
	t.tally(s.projectID, tallyStatus, string(judge.Refused), -1)
	t.tally(s.projectID, tallyStatus, string(judge.InReview), 1)
	return t.enqueue(ctx, s, lead, draw, true)
}

// reopenAccepted sends an accepted evaluation to a person for one more reason;
// its result is no longer final.
func (t *tx) reopenAccepted(ctx context.Context, s subject, r judge.Reason, draw judge.Draw) error {
	if err := t.addOneReason(ctx, s.evaluationID, r); err != nil {
		return err
	}
	if _, err := t.exec(ctx, `
UPDATE evaluations SET status = 'in_review', lead_reason = ?, reasons = reasons | ?, result_verdict = '', result_label = '', result_source = ''
WHERE id = ?`, r.Code, reasonMask([]judge.Reason{r}), s.evaluationID); err != nil {
		return err
	}
	t.recount(s.traceID)
	t.tally(s.projectID, tallyStatus, string(judge.Accepted), -1)
	t.tally(s.projectID, tallyStatus, string(judge.InReview), 1)
	return t.enqueue(ctx, s, r.Code, draw, true)
}

// addReasonWaiting adds a reason to an evaluation that waits already. If it is
// more urgent than those it waits for, its item moves up in the queue.
func (t *tx) addReasonWaiting(ctx context.Context, s subject, r judge.Reason) error {
	if err := t.addOneReason(ctx, s.evaluationID, r); err != nil {
		return err
	}
	var id, lead string
	var blind bool
	err := t.scan(ctx, `
SELECT r.id, r.lead_reason, r.blind FROM reviews r
WHERE r.evaluation_id = ? AND r.state IN ('open', 'claimed', 'adjudication')`, []any{s.evaluationID}, []any{&id, &lead, &blind})
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	first := err == nil && judge.ReasonRank(r.Code) < judge.ReasonRank(lead)
	if first {
		if _, err := t.exec(ctx, `UPDATE reviews SET lead_reason = ?, urgency = CASE WHEN priority = 0 THEN ? ELSE urgency END WHERE id = ?`, r.Code, urgency(s.policy.QueueReason(r.Code, blind), s.stakes), id); err != nil {
			return err
		}
		t.tally(s.projectID, tallyQueue, queueName(lead, blind), -1)
		t.tally(s.projectID, tallyQueue, queueName(r.Code, blind), 1)
	}
	if _, err := t.exec(ctx, `
UPDATE evaluations SET reasons = reasons | ?, lead_reason = CASE WHEN ? THEN ? ELSE lead_reason END WHERE id = ?`,
		reasonMask([]judge.Reason{r}), first, r.Code, s.evaluationID); err != nil {
		return err
	}
	t.recount(s.traceID)
	return nil
}
