// Package trust decides whether a judge may decide without a person: it holds what
// is known of one judge, model and prompt version against the rules of a policy,
// and says of each rule what was wanted, what was found, and what to do.
//
// It computes no statistic of its own, reads nothing, keeps nothing, and never adds
// up two versions.
package trust

import "github.com/countersign/countersign/judge"

// Names of the rules, in the order in which they stand.
const (
	RuleKappa    = "kappa"
	RuleLabels   = "labels"
	RuleMissRate = "miss_rate"
	RuleSlices   = "slices"
	RuleDrift    = "drift"
)

// Bases of a figure.
const (
	// Weighted labels stand for all evaluations: each counts one over its chance of
	// being drawn.
	Weighted = "weighted"
	// BlindLabels count once each: the figure holds of what was labelled.
	BlindLabels = "blind_labels"
)

// Rule is one rule as it came out.
type Rule struct {
	Name string `json:"rule"`
	Met  bool   `json:"met"`
	// Wanted is the limit, and Found what is held against it: a kappa in [-1,1], a
	// share in [0,1], or a number of labels or markers; nil: there is no such figure.
	Wanted float64  `json:"wanted"`
	Found  *float64 `json:"found"`
	// N labels are behind Found; Basis is weighted or blind_labels, empty for what is
	// no figure of labels.
	N     int    `json:"n"`
	Basis string `json:"basis,omitempty"`
	// Asks says the rule, Shows what was found, Detail where that comes from or why
	// there is none and what to do: in plain words.
	Asks   string `json:"asks"`
	Shows  string `json:"shows"`
	Detail string `json:"detail"`
}

// Standing is what the rules come to.
type Standing struct {
	State judge.TrustState `json:"state"` // trusted or advisory
	Rules []Rule           `json:"rules"`
}

// Failing are the rules that are not met, as one line; empty: all are.
func (s Standing) Failing() string { return Failing(s.Rules) }

// Failing are those of the rules that are not met, as one line.
func Failing(rules []Rule) string {
	line := ""
	for _, r := range rules {
		if r.Met {
			continue
		}
		if line != "" {
			line += "; "
		}
		line += r.Asks + ": " + r.Shows
	}
	return line
}
