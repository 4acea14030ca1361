package judge

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// TrustState says whether a judge, as one model and prompt version, may decide
// without a person.
type TrustState string

// States of trust.
const (
	Trusted   TrustState = "trusted"   // every rule of the policy is met
	Advisory  TrustState = "advisory"  // a rule is not met, or nothing is known yet
	Suspended TrustState = "suspended" // a lead took the judge out of use, whatever the rules say
)

// TrustRules are what a policy asks of a judge before it is trusted. What is nil
// is as the less special rules say, else as DefaultTrust.
type TrustRules struct {
	// MinKappa in [-1,1] that the lower bound of kappa must reach.
	MinKappa *float64 `json:"min_kappa,omitempty"`
	// MinLabels is how many blind labels there must be.
	MinLabels *int `json:"min_labels,omitempty"`
	// MaxMissRate in [0,1]: of what the judge passed and people judged, the share
	// that people fail.
	MaxMissRate *float64 `json:"max_miss_rate,omitempty"`
	// SliceKappa in [-1,1] that the lower bound of kappa must reach in each domain
	// and stakes with SliceLabels labels or more.
	SliceLabels *int     `json:"slice_labels,omitempty"`
	SliceKappa  *float64 `json:"slice_kappa,omitempty"`
}

// TrustLimits are the rules of trust that hold for one judge.
type TrustLimits struct {
	MinKappa    float64 `json:"min_kappa"`
	MinLabels   int     `json:"min_labels"`
	MaxMissRate float64 `json:"max_miss_rate"`
	SliceLabels int     `json:"slice_labels"`
	SliceKappa  float64 `json:"slice_kappa"`
}

// LeastSliceLabels is the number of labels under which no slice has a kappa.
const LeastSliceLabels = 30

// DefaultTrust are the rules of a policy that says nothing. 0.60 is "substantial"
// in the words of Landis & Koch (1977), held against the lower bound.
func DefaultTrust() TrustLimits {
	return TrustLimits{MinKappa: 0.60, MinLabels: 150, MaxMissRate: 0.05, SliceLabels: LeastSliceLabels, SliceKappa: 0.40}
}

// TrustFor are the rules of trust for a judge: its own where a rule names it, else
// the project's, else the defaults, field by field.
func (p Policy) TrustFor(judge string) TrustLimits {
	limits := DefaultTrust()
	limits.under(p.Trust)
	for _, r := range p.Rules {
		if r.Judge == judge && r.Domain == "" {
			limits.under(r.Trust)
		}
	}
	return limits
}

func (l *TrustLimits) under(r *TrustRules) {
	if r == nil {
		return
	}
	replace(&l.MinKappa, r.MinKappa)
	replace(&l.MinLabels, r.MinLabels)
	replace(&l.MaxMissRate, r.MaxMissRate)
	replace(&l.SliceLabels, r.SliceLabels)
	replace(&l.SliceKappa, r.SliceKappa)
}

func replace[T any](value *T, by *T) {
	if by != nil {
		*value = *by
	}
}

// ReleaseRules are what a policy asks of a run before it is released. What is nil
// is not asked for.
type ReleaseRules struct {
	// MinPassRate in [0,1] that the pass rate of every judge must reach.
	MinPassRate *float64 `json:"min_pass_rate,omitempty"`
}

// ReleaseLimits are the rules of a release, none where the policy says nothing.
func (p Policy) ReleaseLimits() ReleaseRules {
	if p.Release == nil {
		return ReleaseRules{}
	}
	return *p.Release
}

// mostTrustLabels bounds what a policy can ask of people.
const mostTrustLabels = 1_000_000

func (c *policyCheck) trust(path string, r *TrustRules) {
	if r == nil {
		return
	}
	if *r == (TrustRules{}) {
		c.fault(path, "asks for nothing; say min_kappa, min_labels, max_miss_rate, slice_labels or slice_kappa, or leave it out")
	}
	c.optionalKappa(path+"/min_kappa", r.MinKappa)
	c.optionalShare(path+"/max_miss_rate", r.MaxMissRate)
	c.optionalKappa(path+"/slice_kappa", r.SliceKappa)
	if n := r.MinLabels; n != nil {
		c.between(path+"/min_labels", *n, 0, mostTrustLabels, "blind labels")
	}
	if n := r.SliceLabels; n != nil {
		c.between(path+"/slice_labels", *n, LeastSliceLabels, mostTrustLabels, "labels; with fewer no slice has a kappa")
	}
}

// trustOfJudge holds the rules of trust of one judge to that they are for it alone.
func (c *policyCheck) trustOfJudge(path string, r PolicyRule) {
	c.trust(path, r.Trust)
	if r.Trust != nil && r.Domain != "" {
		c.fault(path, "can't be asked in one domain: a judge is trusted or not as a whole, and slice_kappa holds each domain to a floor; write a rule for the judge alone")
	}
}

func (c *policyCheck) optionalKappa(path string, v *float64) {
	if v != nil && !(*v >= -1 && *v <= 1) {
		c.fault(path, "is %v: a kappa lies between -1 and 1", *v)
	}
}

func (c *policyCheck) release(r *ReleaseRules) {
	if r != nil {
		c.optionalShare("/release/min_pass_rate", r.MinPassRate)
	}
}

func (r policyReader) trust(to **TrustRules, what string) func(located) {
	return func(n located) {
		var t TrustRules
		whole := func(to **int, key string) func(located) {
			return func(n located) {
				var v int
				if r.decode(n, &v, fmt.Sprintf("%s.%s must be a whole number", what, key)) {
					*to = &v
				}
			}
		}
		if r.keys(n, what, map[string]func(located){
			"min_kappa": r.number(&t.MinKappa, what+".min_kappa"), "min_labels": whole(&t.MinLabels, "min_labels"),
			"max_miss_rate": r.number(&t.MaxMissRate, what+".max_miss_rate"),
			"slice_labels":  whole(&t.SliceLabels, "slice_labels"), "slice_kappa": r.number(&t.SliceKappa, what+".slice_kappa"),
		}) {
			*to = &t
		}
	}
}

func (r policyReader) release(n located, p *Policy) {
	var rules ReleaseRules
	if r.keys(n, "release", map[string]func(located){"min_pass_rate": r.number(&rules.MinPassRate, "release.min_pass_rate")}) {
		p.Release = &rules
	}
}

func putTrust(to *yaml.Node, r *TrustRules) {
	if r == nil {
		return
	}
	n := flow(yaml.MappingNode)
	putDecimal(n, "min_kappa", r.MinKappa)
	putWhole(n, "min_labels", r.MinLabels)
	putDecimal(n, "max_miss_rate", r.MaxMissRate)
	putWhole(n, "slice_labels", r.SliceLabels)
	putDecimal(n, "slice_kappa", r.SliceKappa)
	put(to, "trust", n)
}

func putWhole(to *yaml.Node, key string, v *int) {
	if v != nil {
		put(to, key, whole(*v))
	}
}

func putRelease(to *yaml.Node, r *ReleaseRules) {
	if r == nil {
		return
	}
	n := flow(yaml.MappingNode)
	putDecimal(n, "min_pass_rate", r.MinPassRate)
	put(to, "release", n)
}
