package judge

import (
	"fmt"
	"slices"
)

// Effective is what a policy means for one judge, domain and stakes. It is a
// value: a later change of the policy does not reach it.
type Effective struct {
	Version int
	Stakes  Stakes

	// Band replaces the judge's own and Below its line; nil: none was set.
	Band  *Band
	Below *float64

	// RandomAudit and BoundaryAudit are shares in [0,1]; 0 where the reason is
	// switched off. Seed is that of the draws.
	RandomAudit, BoundaryAudit float64
	Seed                       string
	// BoundaryWidth in [0,1] around the ends of the band. BoundarySet: a rule of
	// this judge sets it or the band, so that it replaces a stratum of the
	// judge's own (logic, mean 2 to 3).
	BoundaryWidth float64
	BoundarySet   bool

	// Endpoints that the trace may be sent to; nil: any.
	Endpoints []string
	// Models that judge where the command names none; nil: the configured one.
	Models []ModelChoice
	// Samples of one evaluation, at least 1, and the temperature of those after
	// the first.
	Samples           int
	SampleTemperature float64

	Disagreement Disagreement

	// Examples to be drawn for the judge's prompt; nil: it has its own.
	Examples *ExampleRule

	switches map[string]string // by code; what is not there has its default
	fixed    map[string]bool   // codes that this judge and domain cannot switch
}

// For says what holds for a judge's evaluations of traces of a domain and of
// stakes. A more special rule wins over a less special one, field by field.
func (p Policy) For(judge, domain string, stakes Stakes) Effective {
	e := Effective{
		Version: p.Version, Stakes: stakes, Seed: p.Seed,
		RandomAudit: p.RandomAudit, BoundaryAudit: p.BoundaryAudit, BoundaryWidth: defaultBoundaryWidth,
		Endpoints: p.Endpoints, Models: p.Models, Samples: max(1, p.Samples),
		SampleTemperature: defaultSampleTemperature, Disagreement: DefaultDisagreement(),
		switches: map[string]string{}, fixed: fixedReasons(judge, domain),
	}
	if p.BoundaryWidth != nil {
		e.BoundaryWidth = *p.BoundaryWidth
	}
	if p.SampleTemperature != nil {
		e.SampleTemperature = *p.SampleTemperature
	}
	if p.Disagreement != nil {
		e.Disagreement = *p.Disagreement
		if e.Disagreement.Engines == nil {
			e.Disagreement.Engines = DefaultDisagreement().Engines
		}
	}
	e.set(p.Reasons)
	for _, r := range p.rulesFor(judge, domain) {
		e.under(r)
	}
	if e.switches[ReasonRandomAudit] == SwitchOff {
		e.RandomAudit = 0
	}
	if e.switches[ReasonBoundaryAudit] == SwitchOff {
		e.BoundaryAudit = 0
	}
	return e
}

// rulesFor are the rules that fit, the least special first.
func (p Policy) rulesFor(judge, domain string) []*PolicyRule {
	var fits []*PolicyRule
	for i := range p.Rules {
		r := &p.Rules[i]
		if (r.Judge == "" || r.Judge == judge) && (r.Domain == "" || r.Domain == domain) {
			fits = append(fits, r)
		}
	}
	slices.SortStableFunc(fits, func(a, b *PolicyRule) int { return a.special() - b.special() })
	return fits
}

// special ranks a rule: 1 domain, 2 judge, 3 both.
func (r *PolicyRule) special() (n int) {
	if r.Domain != "" {
		n++
	}
	if r.Judge != "" {
		n += 2
	}
	return n
}

// under puts a more special rule on top.
func (e *Effective) under(r *PolicyRule) {
	if r.Band != nil {
		e.Band, e.BoundarySet = r.Band, e.BoundarySet || r.Judge != ""
	}
	if r.Below != nil {
		e.Below = r.Below
	}
	if r.RandomAudit != nil {
		e.RandomAudit = *r.RandomAudit
	}
	if r.BoundaryAudit != nil {
		e.BoundaryAudit = *r.BoundaryAudit
	}
	if r.BoundaryWidth != nil {
		e.BoundaryWidth, e.BoundarySet = *r.BoundaryWidth, e.BoundarySet || r.Judge != ""
	}
	if r.Endpoints != nil {
		e.Endpoints = r.Endpoints
	}
	if r.Models != nil {
		e.Models = r.Models
	}
	if r.Samples > 0 {
		e.Samples = r.Samples
	}
	if r.Examples != nil {
		e.Examples = r.Examples
	}
	e.set(r.Reasons)
}

func (e *Effective) set(reasons map[string]Switch) {
	for code, s := range reasons {
		if v := s.at(e.Stakes); v != "" {
			e.switches[code] = v
		}
	}
}

// On reports whether a reason sends evaluations of judge j to people. j may be
// nil, where there is no judge.
func (e Effective) On(j *Judge, code string) bool {
	if e.fixed[code] {
		return true
	}
	if v, said := e.switches[code]; said {
		return v != SwitchOff
	}
	switch code {
	case ReasonBelowThreshold:
		return j != nil && j.Routing.On(e.Stakes, code)
	case ReasonSubstantiveDifference:
		return e.Stakes == HighStakes
	case ReasonUncitedClaims, ReasonUntrustedJudge:
		return false // only where policy asks
	}
	return true
}

// LeastSeverity of a misattribution that is sent to people; empty: none is.
func (e Effective) LeastSeverity() string {
	switch v, said := e.switches[ReasonMisattribution]; {
	case v == SwitchOff:
		return ""
	case said && v != SwitchOn:
		return v
	case said || e.Stakes == HighStakes:
		return SeverityMinor
	}
	return SeverityMajor
}

// BandOf is the band of a judge's scores.
func (e Effective) BandOf(j *Judge) Band {
	if e.Band != nil {
		return *e.Band
	}
	return j.Band
}

// LineOf is the line under which a part of a judge's result is too low for high
// stakes: the policy's, else the judge's own, else where its band passes.
func (e Effective) LineOf(j *Judge) Line {
	switch {
	case e.Below != nil:
		return Line{At: *e.Below}
	case j.Below != nil:
		return *j.Below
	}
	return Line{At: e.BandOf(j).Pass}
}

// MayGoTo reports whether a trace may be sent to an endpoint, which policies
// name by its name or its host. One that has neither is only allowed where any
// is.
func (e Effective) MayGoTo(to Endpoint) bool {
	return e.Endpoints == nil || slices.ContainsFunc(e.Endpoints, func(allowed string) bool {
		return allowed != "" && (allowed == to.Name || allowed == to.Host)
	})
}

// Refusal says why a trace may not be sent to an endpoint: the field of the
// refused evaluation (RefusedEndpoint) and a sentence. Both are empty when it may.
func (e Effective) Refusal(to Endpoint) (field, message string) {
	if e.MayGoTo(to) {
		return "", ""
	}
	name := to.Name
	switch {
	case to.Host != "" && to.Host != name:
		name = fmt.Sprintf("%s (%s)", name, to.Host)
	case name == "":
		name = "of an unknown name"
	}
	return RefusedEndpoint, fmt.Sprintf("the endpoint %s is not one that the project's policy names: the trace was not sent; "+
		"choose an endpoint that it names, or let a lead add this one", name)
}

// RefusedEndpoint is the Planned.RefusedField of work that would send a trace
// where it may not go.
const RefusedEndpoint = "endpoint"

// fixedReasons can never be switched off for a judge and domain. A report that
// does not hold, and a judge that failed, leave nothing to accept; a person asked
// for what was requested; and a critical violation of logic is always reviewed
// where law, health or safety hang on it.
func fixedReasons(judge, domain string) map[string]bool {
	if (judge == "logic" || judge == "logic-steps") && slices.Contains(strictDomains, domain) {
		return withCritical
	}
	return neverOff
}

var (
	neverOff = map[string]bool{ReasonInvalidOutput: true, ReasonJudgeFailed: true, ReasonIncompleteReport: true, ReasonRequested: true}

	withCritical = map[string]bool{ReasonInvalidOutput: true, ReasonJudgeFailed: true, ReasonIncompleteReport: true, ReasonRequested: true,
		ReasonCriticalError: true}

	strictDomains = []string{"legal", "medical", "safety"}
)
