package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/judge"
)

// Config is what a Harness needs. Only Judges and Engines are required.
type Config struct {
	Judges  []judge.Judge
	Default []string // judges a trace gets that asks for none
	// Only, when not empty, are the judges that were asked for by name: they
	// replace the trace's own list, and other recorded reports are left alone.
	Only []string

	Engines map[string]judge.Engine // by Planned.EngineKey
	Engine  string                  // the engine that is planned
	Model   string                  // the model that is planned
	// Targets are planned, each for every judge; nil: Engine with Model alone.
	Targets []judge.Target
	// EngineByName: the engine was asked for by name, so it also judges traces
	// that bring a report for the judge. ModelsByName: so were the models, which
	// the policy's do not replace then.
	EngineByName, ModelsByName bool

	Policy judge.Policy // DefaultPolicy when it is zero
	// Trusted says whether the version of the judge, by the model that made an
	// evaluation, has passed its calibration gate, and if not, why. It is asked
	// where the policy wants untrusted_judge; nil: no version is known to have.
	Trusted func(ctx context.Context, e *judge.Evaluation) (ok bool, detail string)
	// Key is the installation's key, from which fences get their nonce. An
	// empty key still gives fences, but ones that a trace's author can compute.
	Key []byte
	Now func() time.Time // time.Now when nil
	// Audit turns on audit draws of accepted evaluations: on in a project, off
	// for `countersign judge`.
	Audit bool

	MaxTokens int    // of one reply; 4096 when 0, which is also the least
	Seed      *int64 // sent where the endpoint takes one; 1 when nil
	Retry     Retry
	// Ledger keeps replies until their evaluation is stored; nil: none is kept,
	// and an evaluation that was cut off begins anew.
	Ledger judge.ReplyLedger
}

// Harness judges traces. It is safe for concurrent use.
type Harness struct {
	config     Config
	schemas    schemaCache
	decomposed decompositions
}

// New checks the configuration and makes a Harness.
func New(c Config) (*Harness, error) {
	for i, j := range c.Judges {
		if slices.ContainsFunc(c.Judges[:i], func(o judge.Judge) bool { return o.Name == j.Name }) {
			return nil, fmt.Errorf("harness: judge %q is given twice; keep one definition of it", j.Name)
		}
	}
	for name, engine := range c.Engines {
		_, reporter := engine.(judge.Reporter)
		_, chat := engine.(judge.Chat)
		if !reporter && !chat {
			return nil, fmt.Errorf("harness: engine %q neither reports nor chats", name)
		}
	}
	if c.Engine != "" && c.Engine != judge.EngineRecorded && c.Engines[c.Engine] == nil {
		return nil, fmt.Errorf("harness: engine %q is not configured", c.Engine)
	}
	if c.Policy.IsZero() {
		c.Policy = judge.DefaultPolicy()
		c.Policy.Version = 0 // of no project
	}
	if c.Targets == nil && c.Engine != "" {
		c.Targets = []judge.Target{{Engine: c.Engine, Model: c.Model}}
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Seed == nil {
		one := int64(1)
		c.Seed = &one
	}
	c.MaxTokens = max(c.MaxTokens, minMaxTokens)
	c.Retry = c.Retry.withDefaults()
	return &Harness{config: c}, nil
}

// minMaxTokens is the least room a reply gets (judges.md, Call).
const minMaxTokens = 4096

// Judge finds a judge by name.
func (h *Harness) Judge(name string) (*judge.Judge, bool) {
	for i := range h.config.Judges {
		if h.config.Judges[i].Name == name {
			return &h.config.Judges[i], true
		}
	}
	return nil, false
}

// Evaluate makes one planned evaluation. It always comes back whole: what the
// engine cannot do, or does badly, is an evaluation in review with its reason.
// The draw says how it came to be reviewed, nil when it is not.
//
// The only errors are that of ctx and a LedgerError; the work is then unfinished
// and belongs back in the queue.
func (h *Harness) Evaluate(ctx context.Context, t *judge.Trace, p judge.Planned) (judge.Evaluation, *judge.Draw, error) {
	j, ok := h.Judge(p.Judge)
	if !ok {
		e, draw := h.abandoned(t, p, fmt.Sprintf("judge %q is not known here; add its definition and retry", p.Judge))
		return e, draw, nil
	}
	return h.EvaluateUnder(ctx, j, t, p, nil)
}

// evaluateWork evaluates claimed work with the judge and under the policy that it
// brings, else with the harness's own.
func (h *Harness) evaluateWork(ctx context.Context, w *judge.Work) (judge.Evaluation, *judge.Draw, error) {
	j := w.Judge
	if j == nil {
		known, ok := h.Judge(w.Planned.Judge)
		if !ok {
			return h.Evaluate(ctx, &w.Trace, w.Planned)
		}
		j = known
	}
	return h.EvaluateUnder(ctx, j, &w.Trace, w.Planned, w.Policy)
}

// EvaluateWith is Evaluate with a definition that the harness need not know.
func (h *Harness) EvaluateWith(ctx context.Context, j *judge.Judge, t *judge.Trace, p judge.Planned) (judge.Evaluation, *judge.Draw, error) {
	return h.EvaluateUnder(ctx, j, t, p, nil)
}

// EvaluateUnder is EvaluateWith under a policy; nil: the harness's own.
func (h *Harness) EvaluateUnder(ctx context.Context, j *judge.Judge, t *judge.Trace, p judge.Planned, policy *judge.Policy) (judge.Evaluation, *judge.Draw, error) {
	if policy == nil {
		policy = &h.config.Policy
	}
	e := h.begin(t, p)
	e.PolicyVersion = policy.Version
	if p.PromptVersion == "" {
		e.PromptVersion = j.PromptVersion
	}
	field, message := p.RefusedField, p.Message
	if field == "" {
		field, message = j.Lacks(t)
	}
	if field != "" {
		e.Status, e.RefusedField, e.Error = judge.Refused, field, message
		return e, nil, nil
	}
	got := h.ask(ctx, j, t, p, &e)
	var unkept *LedgerError
	if errors.As(got.err, &unkept) {
		return judge.Evaluation{}, nil, unkept
	}
	if ctx.Err() != nil && got.failure != "" {
		return judge.Evaluation{}, nil, context.Cause(ctx)
	}
	under := policy.For(j.Name, t.Domain, policy.StakesOfTrace(t))
	h.conclude(&e, j, got, under)
	return e, h.route(ctx, j, &e, got.reading, under), nil
}

// ask gets the report from the planned engine. A panic in a check or an engine
// is a fault of this program; the trace still gets an owner and is kept.
func (h *Harness) ask(ctx context.Context, j *judge.Judge, t *judge.Trace, p judge.Planned, e *judge.Evaluation) (got outcome) {
	defer func() {
		if fault := recover(); fault != nil {
			got = outcome{failure: judge.ReasonJudgeFailed,
				detail: fmt.Sprintf("judge %s stopped on this trace: %v; report this as a fault of the program", j.Name, fault)}
		}
	}()
	switch engine := h.config.Engines[p.Engine].(type) {
	case judge.Reporter:
		return h.report(ctx, engine, j, t, p, e)
	case judge.Chat:
		if j.Settle != nil {
			if report := j.Settle(t); report != nil {
				return h.settled(report, j, t, e)
			}
		}
		return h.converse(ctx, engine, j, t, p, e)
	}
	return outcome{failure: judge.ReasonJudgeFailed,
		detail: fmt.Sprintf("engine %q is not configured here; configure it and retry", p.Engine)}
}

// callsModel reports whether an evaluation by this engine calls a model.
func (h *Harness) callsModel(engine string) bool {
	_, chat := h.config.Engines[engine].(judge.Chat)
	return chat
}

// abandoned is the evaluation of work that took longer than it may.
func (h *Harness) abandoned(t *judge.Trace, p judge.Planned, detail string) (judge.Evaluation, *judge.Draw) {
	e := h.begin(t, p)
	h.fail(&e, judge.ReasonJudgeFailed, detail)
	return e, h.route(context.Background(), nil, &e, nil, judge.Effective{})
}
