package store

import (
	"context"
	"encoding/json"
	"errors"
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
	ready := make([]finished, len(done))
	for i, d := range done {
		if ready[i], err = prepareFinished(d); err != nil {
			return fmt.Errorf("evaluation %s: %w", d.Work.EvaluationID, err)
		}
	}
	return s.write(ctx, func(t *tx) error {
		known, err := t.knownOf(ctx, ready)
		if err != nil {
			return err
		}
		for _, f := range ready {
			if err := t.finish(ctx, f, known); err != nil {
				return fmt.Errorf("evaluation %s: %w", f.Work.EvaluationID, err)
			}
		}
		return nil
	})
}

// finished is a result with everything encoded and packed that needs no
// database.
type finished struct {
	judge.Finished
	report, findings, checks string // JSON
	calls                    []finishedCall
}

type finishedCall struct {
	judge.Attempt
	prompt, reply text
	errors        string // JSON
}

func prepareFinished(d judge.Finished) (f finished, err error) {
	f.Finished = d
	e := &f.Evaluation
	switch e.Status {
	case judge.Accepted, judge.InReview, judge.Refused:
	default:
		return f, fmt.Errorf("a finished evaluation can't have status %q", e.Status)
	}
	if e.Status == judge.InReview && len(e.Reasons) == 0 {
		return f, errors.New("an evaluation in review needs a reason")
	}
	f.report = string(e.Report)
	if f.findings, err = encode(list(e.Findings)); err != nil {
		return f, err
	}
	if f.checks, err = encode(list(e.Checks)); err != nil {
		return f, err
	}
	for _, c := range e.Calls {
		call := finishedCall{Attempt: c, prompt: newText(c.Prompt), reply: newText(c.Reply)}
		if call.errors, err = encode(list(c.Errors)); err != nil {
			return f, err
		}
		f.calls = append(f.calls, call)
	}
	return f, nil
}

func encode(v any) (string, error) {
	body, err := json.Marshal(v)
	return string(body), err
}

func (t *tx) finish(ctx context.Context, f finished, known *known) error {
	s, ok := known.evaluations[f.Work.EvaluationID]
	if !ok || s.fence != f.Work.Fence {
		return nil
	}
	reopen := known.route(s.subject, &f)
	stored, err := t.storeResult(ctx, s, f)
	if err != nil || !stored {
		return err
	}
	delete(known.evaluations, s.evaluationID) // a second result for it is late
	if err := t.storeCalls(ctx, s, f.calls); err != nil {
		return err
	}
	if f.Work.Planned.Engine == judge.EngineOpenAI { // no other engine is paid
		if err := t.dropReplies(ctx, f.Key); err != nil {
			return err
		}
	}
	t.tally(s.projectID, tallyStatus, string(judge.Judging), -1)
	t.tally(s.projectID, tallyStatus, string(f.Evaluation.Status), 1)
	// What the judge said is not in the event: people read the log who are
	// still to answer blind.
	t.audit(event{project: s.project, actor: worker, action: "evaluation.judged", subject: "evaluation:" + s.evaluationID,
		data: map[string]any{"judge": s.judge, "engine": f.Evaluation.Engine, "model": f.Evaluation.Model}})
	if reopen != nil {
		if err := t.reopenAccepted(ctx, s.with(reopen.id), differs(f.Evaluation), *f.Draw); err != nil {
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
	var r judge.Result
	if e.Result != nil {
		r = *e.Result
	}
	n, err := t.changed(ctx, `
UPDATE evaluations SET status = ?, score = ?, verdict = ?, label = ?, critical = ?, lead_reason = ?, refused_field = ?, error = ?,
    attempts = attempts + ?, repairs = repairs + ?, transport_retries = transport_retries + ?,
    prompt_tokens = prompt_tokens + ?, completion_tokens = completion_tokens + ?, cost_usd = cost_usd + ?, latency_ms = latency_ms + ?,
    result_verdict = ?, result_label = ?, result_source = ?,
    lease_holder = '', lease_expires_at = NULL, started_at = ?, finished_at = ?
WHERE id = ? AND fence = ? AND status = 'judging'`,
		string(e.Status), e.Score, string(e.Verdict), e.Label, e.Critical, leadReason(e.Reasons), e.RefusedField, e.Error,
		e.Attempts, e.Repairs, e.TransportRetries, e.Tokens.Prompt, e.Tokens.Completion, e.CostUSD, e.LatencyMS,
		string(r.Verdict), r.Label, r.Source, nullTime(e.StartedAt), t.now, s.evaluationID, s.fence)
	if err != nil || n == 0 {
		return false, err
	}
	if err := t.addReasons(ctx, s.evaluationID, 0, e.Reasons); err != nil {
		return false, err
	}
	_, err = t.exec(ctx, `
INSERT INTO evaluation_reports (evaluation_id, report, findings, checks) VALUES (?, ?, ?, ?)`,
		s.evaluationID, f.report, f.findings, f.checks)
	return true, err
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

// storeCalls writes the attempts. After a retry their numbers go on.
func (t *tx) storeCalls(ctx context.Context, s stored, calls []finishedCall) error {
	before := 0
	if s.attempts > 0 {
		if err := t.scan(ctx, `SELECT coalesce(max(number), 0) FROM attempts WHERE evaluation_id = ?`,
			[]any{s.evaluationID}, []any{&before}); err != nil {
			return err
		}
	}
	for i, c := range calls {
		if err := t.putText(ctx, c.prompt); err != nil {
			return err
		}
		if err := t.putText(ctx, c.reply); err != nil {
			return err
		}
		if _, err := t.exec(ctx, `
INSERT INTO attempts (evaluation_id, number, engine, endpoint, model_asked, model_answered, parameters, prompt_hash, reply_hash,
    finish_reason, report, errors, prompt_tokens, completion_tokens, cost_usd, latency_ms, transport_retries, started_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			s.evaluationID, before+i+1, c.Engine, c.Endpoint, c.ModelAsked, c.ModelAnswered, string(c.Parameters),
			c.prompt.hash, c.reply.hash, c.FinishReason, string(c.Report), c.errors, c.Tokens.Prompt, c.Tokens.Completion,
			c.CostUSD, c.LatencyMS, c.TransportRetries, toStored(c.StartedAt)); err != nil {
			return err
		}
	}
	return nil
}
