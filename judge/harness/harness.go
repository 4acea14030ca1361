package harness

import (
	"context"
	"fmt"
	"maps"
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
	// Trust says how far the version of the judge, by the model that made an
	// evaluation, is trusted, and if not, why. What is advisory goes to people where
	// the policy wants untrusted_judge, what is suspended always. nil: nothing is
	// known, and everything is advisory.
	Trust func(ctx context.Context, e *judge.Evaluation) (state judge.TrustState, why string)
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
	// Steps keeps references that were cut into steps; nil: memory alone does.
	Steps judge.StepCache
	// Purse pays for calls; nil: there is no budget.
	Purse judge.Purse
	// Breakers of the endpoints; nil: this harness has its own. What runs in one
	// process shares them.
	Breakers *Breakers
	// Ledger keeps replies until their evaluation is stored; nil: none is kept,
	// and an evaluation that was cut off begins anew.
	Ledger judge.ReplyLedger
	// Turn is taken for each call to a model and given back when its reply is there
	// or it failed for good, so that who bounds calls can make more evaluations than
	// that at once: one is prepared or checked while the others wait for their model.
	// first says that the evaluation has made no call yet. An error is that of ctx,
	// or says that no more evaluations are to begin: Evaluate then returns it as a
	// NoTurnError. nil: as many calls as evaluations.
	Turn func(ctx context.Context, first bool) (done func(), err error)
	// NoPrompts leaves the prompt out of attempts, for who throws attempts away.
	NoPrompts bool
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
	if c.Breakers == nil {
		c.Breakers = &Breakers{First: c.Retry.Max / 30, Longest: 2 * c.Retry.Max}
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

// JudgeNames are the names of the judges, in their order.
func (h *Harness) JudgeNames() []string {
	names := make([]string, len(h.config.Judges))
	for i, j := range h.config.Judges {
		names[i] = j.Name
	}
	return names
}

// Engines are those that this harness has, each by its Planned.EngineKey, sorted.
func (h *Harness) Engines() []string { return slices.Sorted(maps.Keys(h.config.Engines)) }
