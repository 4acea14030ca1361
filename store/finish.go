package store

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/judge"
)

// worker is who judging is recorded as.
var worker = Operator("judging worker")

// FinishWork stores what came of claimed work: evaluation, attempts, texts, the
// item in the queue and the audit event, all in one transaction. A result
// whose claim was lost (another worker has it, or it was stored already) is
// dropped silently: its fence no longer fits.
func (s *Store) FinishWork(ctx context.Context, done []judge.Finished) (err error) {
	defer wrap(&err, "finish work")
	ready, err := s.prepareFinished(ctx, done)
	if err != nil {
		return err
	}
	return s.writeAlone(ctx, func(t *tx) error {
		known, err := t.knownOf(ctx, ready)
		if err != nil {
			return err
		}
		rows := newFinishing()
		for _, f := range ready {
			if err := t.finish(ctx, f, known, rows); err != nil {
				return fmt.Errorf("evaluation %s: %w", f.Work.EvaluationID, err)
			}
		}
		return rows.write(ctx, t)
	})
}

func (t *tx) finish(ctx context.Context, f finished, known *known, rows *finishing) error {
	s, ok := known.evaluations[f.Work.EvaluationID]
	if !ok || s.fence != f.Work.Fence {
		return nil
	}
	var contradicted []*verdictOf
	if s.shadowOf != "" {
		asShadow(&f)
	} else {
		contradicted = known.route(s.subject, &f)
	}
	stored, err := t.storeResult(ctx, s, f)
	if err != nil || !stored {
		return err
	}
	delete(known.evaluations, s.evaluationID) // a second result for it is late
	rows.add(f)
	t.measureRound(s, f)
	t.measureVerdict(s, f)
	if f.Work.Planned.Engine == judge.EngineOpenAI { // no other engine is paid
		if err := t.dropReplies(ctx, f.Key); err != nil {
			return err
		}
		if s.run != "" {
			if err := t.settleHolds(ctx, s.evaluationID); err != nil {
				return err
			}
		}
	}
	t.recount(s.traceID)
	t.tally(s.projectID, tallyStatus, string(judge.Judging), -1)
	t.tally(s.projectID, tallyStatus, statusTally(s.shadowOf, f.Evaluation.Status), 1)
	// What the judge said is not in the event: people read the log who are
	// still to answer blind.
	t.audit(event{project: s.project, actor: worker, action: "evaluation.judged", subject: "evaluation:" + s.evaluationID,
		data: map[string]any{"judge": s.judge, "engine": f.Evaluation.Engine, "model": f.Evaluation.Model}})
	if shadow := known.shadowFor(s, f); shadow != nil {
		if err := t.queueShadow(ctx, s, shadow); err != nil {
			return err
		}
	}
	for _, other := range contradicted {
		if err := t.contradict(ctx, s.subject, other, f.Evaluation, *f.Draw); err != nil {
			return err
		}
	}
	if f.Evaluation.Status == judge.InReview {
		return t.enqueue(ctx, s.subject, leadReason(f.Evaluation.Reasons), *f.Draw, false)
	}
	return nil
}

// storeResult writes the evaluation's row, reasons and report, unless the claim
// was lost. What a retry cost is added to what was spent before.
func (t *tx) storeResult(ctx context.Context, s stored, f finished) (stored bool, err error) {
	e := f.Evaluation
	answered := ""
	if e.Engine != f.Work.Planned.Engine {
		answered = e.Engine
	}
	var r judge.Result
	if e.Result != nil {
		r = *e.Result
	}
	n, err := t.changed(ctx, `
UPDATE evaluations SET status = ?, score = ?, verdict = ?, label = ?, critical = ?, lead_reason = ?, reasons = ?, refused_field = ?, error = ?,
    attempts = attempts + ?, repairs = repairs + ?, transport_retries = transport_retries + ?,
    prompt_tokens = prompt_tokens + ?, completion_tokens = completion_tokens + ?, cost_usd = cost_usd + ?, latency_ms = latency_ms + ?,
    result_verdict = ?, result_label = ?, result_source = ?, answered_engine = ?, undecided = ?, uncited = ?, policy_version = ?, unpriced = unpriced + ?,
    lease_holder = '', lease_expires_at = NULL, started_at = ?, finished_at = ?
WHERE id = ? AND fence = ? AND status = 'judging'`,
		string(e.Status), e.Score, string(e.Verdict), e.Label, e.Critical, leadReason(e.Reasons), reasonMask(e.Reasons), e.RefusedField, e.Error,
		e.Attempts, e.Repairs, e.TransportRetries, e.Tokens.Prompt, e.Tokens.Completion, e.CostUSD, e.LatencyMS,
		string(r.Verdict), r.Label, r.Source, answered, e.Undecided, e.Uncited, e.PolicyVersion, e.UnpricedCalls, nullTime(e.StartedAt), t.now, s.evaluationID, s.fence)
	if err != nil || n == 0 {
		return false, err
	}
	return true, t.addReasons(ctx, s.evaluationID, 0, e.Reasons)
}

// addReasons writes reasons from a position on.
func (t *tx) addReasons(ctx context.Context, evaluationID string, from int, reasons []judge.Reason) error {
	for i, r := range reasons {
		if _, err := t.exec(ctx, `INSERT INTO evaluation_reasons (evaluation_id, position, code, detail) VALUES (?, ?, ?, ?)`,
			evaluationID, from+i, r.Code, r.Detail); err != nil {
			return err
		}
	}
	return nil
}
