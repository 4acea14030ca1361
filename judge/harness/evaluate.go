package harness

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/judge"
)

// Evaluate makes one planned evaluation. It always comes back whole: what the
// engine cannot do, or does badly, is an evaluation in review with its reason.
// The draw says how it came to be reviewed, nil when it is not.
//
// The only errors are that of ctx, a LedgerError, an OutageError, a
// MisdirectedError, a BudgetError and a NoTurnError; the work is then unfinished
// and belongs back in the queue.
func (h *Harness) Evaluate(ctx context.Context, t *judge.Trace, p judge.Planned) (judge.Evaluation, *judge.Draw, error) {
	return h.evaluate(ctx, task{trace: t, planned: p})
}

// EvaluateWith is Evaluate with a definition that the harness need not know.
func (h *Harness) EvaluateWith(ctx context.Context, j *judge.Judge, t *judge.Trace, p judge.Planned) (judge.Evaluation, *judge.Draw, error) {
	return h.evaluate(ctx, task{judge: j, trace: t, planned: p})
}

// EvaluateUnder is EvaluateWith under a policy; nil: the harness's own.
func (h *Harness) EvaluateUnder(ctx context.Context, j *judge.Judge, t *judge.Trace, p judge.Planned, policy *judge.Policy) (judge.Evaluation, *judge.Draw, error) {
	return h.evaluate(ctx, task{judge: j, trace: t, planned: p, policy: policy})
}

// task is one evaluation to be made.
type task struct {
	judge   *judge.Judge // nil: the harness's own of the planned name
	trace   *judge.Trace
	planned judge.Planned
	policy  *judge.Policy // nil: the harness's own
	key     string        // under which ledger and purse know it; its EvaluationID when empty
}

func (h *Harness) evaluate(ctx context.Context, k task) (judge.Evaluation, *judge.Draw, error) {
	j, t, p := k.judge, k.trace, k.planned
	if k.policy == nil {
		k.policy = &h.config.Policy
	}
	e := h.begin(t, p)
	e.PolicyVersion = k.policy.Version
	if k.key == "" {
		k.key = e.ID
	}
	under := k.policy.For(p.Judge, t.Domain, k.policy.StakesOfTrace(t))
	failed := func(detail string) (judge.Evaluation, *judge.Draw, error) {
		h.fail(&e, judge.ReasonJudgeFailed, detail)
		return e, h.route(ctx, nil, &e, nil, under), nil
	}
	if j == nil {
		var ok bool
		if j, ok = h.Judge(p.Judge); !ok {
			return failed(fmt.Sprintf("judge %q is not known here; add its definition and retry", p.Judge))
		}
		if planned := j.VersionOf(p.PromptVersion); planned != nil {
			j = planned
		}
	}
	if p.PromptVersion == "" {
		e.PromptVersion = j.PromptVersion
	}
	field, message := p.RefusedField, p.Message
	if field == "" {
		field, message = j.Lacks(t)
	}
	if field != "" {
		return refused(e, field, message), nil, nil
	}
	if detail := otherVersion(j, p); detail != "" {
		return failed(detail)
	}
	got := h.ask(ctx, j, k, under, &e)
	if err := unfinished(ctx, &got); err != nil {
		return judge.Evaluation{}, nil, err
	}
	var elsewhere *refusedEndpoint
	if errors.As(got.err, &elsewhere) {
		return refused(e, elsewhere.field, elsewhere.message), nil, nil
	}
	h.conclude(&e, j, got, under)
	got.vote.cast(&e, j, under)
	return e, h.route(ctx, j, &e, got.reading, under), nil
}

func refused(e judge.Evaluation, field, message string) judge.Evaluation {
	e.Status, e.RefusedField, e.Error = judge.Refused, field, message
	return e
}

// otherVersion says why an evaluation that was planned with one version of a
// judge is not made with another: its prompt would be one, and its name the
// other. A recorded report has no version of ours.
func otherVersion(j *judge.Judge, p judge.Planned) string {
	if p.PromptVersion == "" || p.Engine == judge.EngineRecorded || p.PromptVersion == j.PromptVersion {
		return ""
	}
	return fmt.Sprintf("it was planned with version %.12s of judge %s, and here is version %.12s: re-run the trace with the present version",
		p.PromptVersion, j.Name, j.PromptVersion)
}

// unfinished is the error of an evaluation that came to no end. One that took
// longer than it may has come to its end, with the calls that were made.
func unfinished(ctx context.Context, got *outcome) error {
	var unkept *LedgerError
	var down *OutageError
	var spent *BudgetError
	var wrong *MisdirectedError
	var late *NoTurnError
	switch {
	case errors.As(got.err, &unkept):
		return unkept
	case errors.As(got.err, &down):
		return down
	case errors.As(got.err, &wrong):
		return wrong
	case errors.As(got.err, &spent):
		return spent
	case errors.As(got.err, &late):
		return late
	case ctx.Err() == nil || got.failure == "":
		return nil
	}
	var over *overLimit
	if !errors.As(context.Cause(ctx), &over) {
		return context.Cause(ctx)
	}
	got.failure, got.detail = judge.ReasonJudgeFailed, over.Error()
	return nil
}

// ask gets the report from the planned engine. A panic in a check or an engine
// is a fault of this program; the trace still gets an owner and is kept.
func (h *Harness) ask(ctx context.Context, j *judge.Judge, k task, under judge.Effective, e *judge.Evaluation) (got outcome) {
	defer func() {
		if fault := recover(); fault != nil {
			got = outcome{failure: judge.ReasonJudgeFailed,
				detail: fmt.Sprintf("judge %s stopped on this trace: %v; report this as a fault of the program", j.Name, fault)}
		}
	}()
	key := k.planned.EngineKey()
	switch engine := h.config.Engines[key].(type) {
	case judge.Reporter:
		return h.report(ctx, engine, j, k.trace, k.planned, e)
	case judge.Chat:
		if j.Settle != nil {
			if report := j.Settle(k.trace); report != nil {
				return h.settled(report, j, k.trace, e)
			}
		}
		l := &line{chat: engine, breaker: h.config.Breakers.of(key), planned: k.planned, key: k.key, under: under}
		return h.converse(ctx, l, j, k.trace, e)
	}
	return outcome{failure: judge.ReasonJudgeFailed,
		detail: fmt.Sprintf("engine %q is not configured here; configure it and retry", key)}
}

// callsModel reports whether an evaluation calls a model.
func (h *Harness) callsModel(p judge.Planned) bool {
	_, chat := h.config.Engines[p.EngineKey()].(judge.Chat)
	return chat
}
