package harness

import (
	"context"

	"github.com/countersign/countersign/judge"
)

// PlanAgain says by whom a judge would judge a trace now, whatever the trace asks for
// and whatever reports it brings: for what is judged once more.
func (h *Harness) PlanAgain(t *judge.Trace, judgeName string, policy *judge.Policy) ([]judge.Planned, error) {
	p := h.planning(policy)
	p.Only, p.ByName = []string{judgeName}, true
	bare := *t
	bare.Judges, bare.Judgments = nil, nil
	return p.Plan(&bare)
}

// EvaluateAgain is EvaluateUnder for a judgment that is no evaluation of its own, such
// as a repeat: key is the name under which its replies are kept, and purse pays; nil:
// nobody has to. It has as long as a worker gives an evaluation.
func (h *Harness) EvaluateAgain(ctx context.Context, key string, j *judge.Judge, t *judge.Trace, p judge.Planned, policy *judge.Policy, purse judge.Purse) (judge.Evaluation, error) {
	config := h.config
	config.Purse = purse
	paid, err := New(config)
	if err != nil {
		return judge.Evaluation{}, err
	}
	ctx, cancel := withLimit(ctx, (&Worker{}).limit())
	defer cancel()
	e, _, err := paid.evaluate(ctx, task{judge: j, trace: t, planned: p, policy: policy, key: key})
	return e, err
}
