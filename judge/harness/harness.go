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

	Engines map[string]judge.Engine // by engine name
	Engine  string                  // the engine that is planned
	Model   string                  // the model that is planned
	// EngineByName: the engine was asked for by name, so it also judges traces
	// that bring a report for the judge.
	EngineByName bool

	Policy judge.Policy // DefaultPolicy when its Version is 0
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
	// Breakers of the endpoints; nil: this harness has its own. What runs in one
	// process shares them.
	Breakers *Breakers
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
	if c.Policy.Version == 0 {
		c.Policy = judge.DefaultPolicy()
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
	if c.Breakers == nil {
		c.Breakers = &Breakers{First: c.Retry.Max / 6, Longest: 2 * c.Retry.Max}
	}
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

// Plan says which evaluations a trace gets (see judge.Plan for the rules and
// the error).
func (h *Harness) Plan(t *judge.Trace) ([]judge.Planned, error) {
	c := &h.config
	if len(c.Only) == 0 {
		return judge.Plan(t, c.Judges, c.Default, c.Engine, c.Model, c.EngineByName)
	}
	asked := *t
	asked.Judges = c.Only
	planned, err := judge.Plan(&asked, c.Judges, c.Default, c.Engine, c.Model, c.EngineByName)
	planned = slices.DeleteFunc(planned, func(p judge.Planned) bool { return !slices.Contains(c.Only, p.Judge) })
	return planned, err
}

// Evaluate makes one planned evaluation. It always comes back whole: what the
// engine cannot do, or does badly, is an evaluation in review with its reason.
// The draw says how it came to be reviewed, nil when it is not.
//
// The only errors are that of ctx, a LedgerError and an OutageError; the work is
// then unfinished and belongs back in the queue.
func (h *Harness) Evaluate(ctx context.Context, t *judge.Trace, p judge.Planned) (judge.Evaluation, *judge.Draw, error) {
	return h.evaluate(ctx, task{trace: t, planned: p})
}

// EvaluateWith is Evaluate with a definition that the harness need not know.
func (h *Harness) EvaluateWith(ctx context.Context, j *judge.Judge, t *judge.Trace, p judge.Planned) (judge.Evaluation, *judge.Draw, error) {
	return h.evaluate(ctx, task{judge: j, trace: t, planned: p})
}

// task is one evaluation to be made.
type task struct {
	judge   *judge.Judge // nil: the harness's own of the planned name
	trace   *judge.Trace
	planned judge.Planned
	key     string // under which ledger and purse know it; its EvaluationID when empty
}

func (h *Harness) evaluate(ctx context.Context, k task) (judge.Evaluation, *judge.Draw, error) {
	j, t, p := k.judge, k.trace, k.planned
	e := h.begin(t, p)
	if k.key == "" {
		k.key = e.ID
	}
	if j == nil {
		var ok bool
		if j, ok = h.Judge(p.Judge); !ok {
			h.fail(&e, judge.ReasonJudgeFailed, fmt.Sprintf("judge %q is not known here; add its definition and retry", p.Judge))
			return e, h.route(nil, &e, t, nil, ""), nil
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
		e.Status, e.RefusedField, e.Error = judge.Refused, field, message
		return e, nil, nil
	}
	if detail := otherVersion(j, p); detail != "" {
		h.fail(&e, judge.ReasonJudgeFailed, detail)
		return e, h.route(nil, &e, t, nil, ""), nil
	}
	got := h.ask(ctx, j, k, &e)
	if err := unfinished(ctx, &got); err != nil {
		return judge.Evaluation{}, nil, err
	}
	h.conclude(&e, j, t, got)
	return e, h.route(j, &e, t, got.reading, got.explanation), nil
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
	switch {
	case errors.As(got.err, &unkept):
		return unkept
	case errors.As(got.err, &down):
		return down
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
func (h *Harness) ask(ctx context.Context, j *judge.Judge, k task, e *judge.Evaluation) (got outcome) {
	t, p := k.trace, k.planned
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
		return h.converse(ctx, &line{chat: engine, breaker: h.config.Breakers.of(p.Engine), planned: p, key: k.key}, j, t, e)
	}
	return outcome{failure: judge.ReasonJudgeFailed,
		detail: fmt.Sprintf("engine %q is not configured here; configure it and retry", p.Engine)}
}

// callsModel reports whether an evaluation by this engine calls a model.
func (h *Harness) callsModel(engine string) bool {
	_, chat := h.config.Engines[engine].(judge.Chat)
	return chat
}
