package harness

import (
	"strings"

	"github.com/countersign/countersign/judge"
)

// Plan says which evaluations a trace gets (see judge.Planning for the rules and
// the error), under the harness's own policy.
func (h *Harness) Plan(t *judge.Trace) ([]judge.Planned, error) { return h.PlanUnder(t, nil) }

// PlanUnder is Plan under a policy; nil: the harness's own.
func (h *Harness) PlanUnder(t *judge.Trace, policy *judge.Policy) ([]judge.Planned, error) {
	return h.planning(policy).Plan(t)
}

// Explain says what a trace gets from every judge, and if nothing, why not.
// policy may be nil: the harness's own.
func (h *Harness) Explain(t *judge.Trace, policy *judge.Policy) ([]judge.Why, error) {
	return h.planning(policy).Explain(t)
}

// where an engine sends texts. An endpoint that is not configured here, because
// another process judges, is known by the name it is planned under.
func (h *Harness) where(engineKey string) judge.Endpoint {
	if engine, here := h.config.Engines[engineKey]; here {
		return judge.EndpointOf(engine)
	}
	_, name, _ := strings.Cut(engineKey, "/")
	return judge.Endpoint{Name: name}
}

// StakesOf a domain under the harness's policy, for traces that do not say theirs.
func (h *Harness) StakesOf(domain string) judge.Stakes { return h.config.Policy.StakesOf(domain) }

func (h *Harness) planning(policy *judge.Policy) judge.Planning {
	c := &h.config
	if policy == nil {
		policy = &c.Policy
	}
	return judge.Planning{
		Judges: c.Judges, Default: c.Default, Only: c.Only, Targets: c.Targets,
		ByName: c.EngineByName, ModelsByName: c.ModelsByName, Policy: policy,
		Where: h.where,
	}
}
