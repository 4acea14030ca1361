package judge

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// PolicyFault is one fault of a policy. Path names the place as a JSON pointer
// into the policy's YAML, such as /rules/0/band; Place says it for people.
type PolicyFault struct {
	Path string
	Msg  string
	// from are the keys at the place whose values led to the fault, where that is
	// not the place by itself; an empty one is all that is there.
	from []string
}

func (f *PolicyFault) Error() string {
	if place := f.Place(); place != "" {
		return place + " " + f.Msg
	}
	return f.Msg
}

// Place is where the fault is, in words, which count from 1: "rule 1, band" for
// /rules/0/band, "entry 2 of models" for /models/1. It is empty for a fault of the
// whole policy.
func (f *PolicyFault) Place() string {
	path, err := parsePointer(f.Path)
	if err != nil {
		return f.Path
	}
	var phrases, keys []string
	for _, token := range path {
		i, err := strconv.Atoi(token)
		if err != nil || len(keys) == 0 || !slices.Contains(policyLists, keys[len(keys)-1]) {
			keys = append(keys, token)
			continue
		}
		of, list := keys[:len(keys)-1], keys[len(keys)-1]
		switch {
		case list != "rules":
			phrases = append(phrases, fmt.Sprintf("entry %d of %s", i+1, strings.Join(keys, ".")))
		case len(of) > 0:
			phrases = append(phrases, fmt.Sprintf("rule %d of %s", i+1, strings.Join(of, ".")))
		default:
			phrases = append(phrases, fmt.Sprintf("rule %d", i+1))
		}
		keys = nil
	}
	if len(keys) > 0 {
		phrases = append(phrases, strings.Join(keys, "."))
	}
	return strings.Join(phrases, ", ")
}

// policyLists are the keys of a policy whose values are lists.
var policyLists = []string{"rules", "reason_codes", "domains", "judges", "high_stakes_domains", "endpoints", "engines", "models"}

// Bounds of a policy.
const (
	maxDueHours     = 8760 // a year
	maxLeaseMinutes = 1440 // a day
	// MaxSamples is the most answers that one evaluation asks a model for.
	MaxSamples    = 25
	maxPolicyList = 1000
)

// samplesLie says where samples lie.
var samplesLie = fmt.Sprintf("it lies between 1 and %d (answers of a model)", MaxSamples)

// Check holds a policy to its rules. The error joins a *PolicyFault for each
// fault. What can never be switched off is refused with the reason why.
func (p Policy) Check() error {
	c := &policyCheck{}
	c.share("/audit/random", p.RandomAudit)
	c.share("/audit/boundary", p.BoundaryAudit)
	c.width("/audit/boundary_width", p.BoundaryWidth)
	c.blind("/blind", p.Blind, p.BlindShare)
	if p.BlindOrder != "" && p.BlindOrder != BlindByReason && p.BlindOrder != BlindEvenly {
		c.fault("/blind/order", "is %q: it is reason or even", p.BlindOrder)
	}
	for i, r := range p.BlindRules {
		at := fmt.Sprint("/blind/rules/", i)
		c.blind(at, r.Mode, r.Share)
		if r.Reason != "" && !slices.Contains(reasonOrder, r.Reason) {
			c.fault(at+"/reason", "is %q, which is no reason; reasons are %s", r.Reason, strings.Join(reasonOrder, ", "))
		}
		if r.Stakes != "" && r.Stakes != HighStakes && r.Stakes != StandardStakes {
			c.fault(at+"/stakes", "is %q: it is high or standard", r.Stakes)
		}
	}
	c.between("/due_hours/high", p.DueHoursHigh, 1, maxDueHours, "hours, at most a year")
	c.between("/due_hours/standard", p.DueHoursStandard, 1, maxDueHours, "hours, at most a year")
	c.due(p.DueRules)
	c.assignment(p.Assignment)
	c.between("/lease_minutes", p.LeaseMinutes, 1, maxLeaseMinutes, "minutes, at most a day")
	c.opinions(p.Opinions)
	c.between("/cannot_judge", p.CannotJudge, 0, MaxAbstentions, "people who cannot judge")
	if u := p.UndoSeconds; u != nil {
		c.between("/undo_seconds", *u, 0, maxUndoSeconds, "seconds, at most an hour; 0: no undo")
	}
	c.overrideReasons(p.OverrideReasons)
	c.names("/high_stakes_domains", p.HighStakesDomains)
	for i, d := range p.HighStakesDomains {
		c.domain(fmt.Sprint("/high_stakes_domains/", i), d)
	}
	c.names("/endpoints", p.Endpoints)
	c.disagreement(p.Disagreement)
	c.models("/models", p.Models)
	c.samples("/samples", p.Samples)
	if t := p.SampleTemperature; t != nil && !(*t >= 0 && *t <= 2) {
		c.fault("/temperature", "is %v: it lies between 0 and 2", *t)
	}
	if !(p.BudgetUSD >= 0 && p.BudgetUSD <= 1e9) {
		c.fault("/budget_usd", "is %v: it is 0 (no limit) or an amount in dollars up to 1,000,000,000", p.BudgetUSD)
	}
	c.trust("/trust", p.Trust)
	c.release(p.Release)
	c.reasons("/reasons", p.Reasons, "", "")
	c.rules(p.Rules)
	return errors.Join(c.faults...)
}

// AsksModels reports whether the policy says anywhere which models are asked, or
// how often: the engine rules asks none.
func (p Policy) AsksModels() bool {
	return len(p.Models) > 0 || p.Samples > 1 ||
		slices.ContainsFunc(p.Rules, func(r PolicyRule) bool { return len(r.Models) > 0 || r.Samples > 1 })
}

// UnknownJudges warns of each rule for a judge that is none of these, a sentence
// for each. Such a rule holds for nothing until there is a judge of that name: it
// may come later, or the name was written wrong.
func (p Policy) UnknownJudges(known []string) []string {
	var warnings []string
	for i, r := range p.Rules {
		if r.Judge != "" && !slices.Contains(known, r.Judge) {
			warnings = append(warnings, fmt.Sprintf("rule %d is for the judge %q, which the project does not have: the rule holds for nothing until it has; known are %s",
				i+1, r.Judge, strings.Join(known, ", ")))
		}
	}
	for _, r := range p.OverrideReasons {
		for _, name := range r.Judges {
			if !slices.Contains(known, name) {
				warnings = append(warnings, fmt.Sprintf("reason code %s is for the judge %q, which the project does not have; known are %s",
					r.Code, name, strings.Join(known, ", ")))
			}
		}
	}
	return warnings
}

type policyCheck struct{ faults []error }

func (c *policyCheck) fault(path, format string, args ...any) {
	c.faults = append(c.faults, &PolicyFault{Path: path, Msg: fmt.Sprintf(format, args...)})
}

// concluded is a fault that follows from what stands at keys of the place.
func (c *policyCheck) concluded(from []string, path, format string, args ...any) {
	c.faults = append(c.faults, &PolicyFault{Path: path, Msg: fmt.Sprintf(format, args...), from: from})
}

// allThere is all that stands at a place.
var allThere = []string{""}

// samples of 0 are not said.
func (c *policyCheck) samples(path string, v int) {
	if v < 0 || v > MaxSamples {
		c.fault(path, "is %d: %s", v, samplesLie)
	}
}

func (c *policyCheck) share(path string, v float64) {
	if !(v >= 0 && v <= 1) {
		c.fault(path, "is %v: a share lies between 0 and 1", v)
	}
}

func (c *policyCheck) optionalShare(path string, v *float64) {
	if v != nil {
		c.share(path, *v)
	}
}

func (c *policyCheck) width(path string, v *float64) {
	if v != nil && !(*v >= 0 && *v <= 0.5) {
		c.fault(path, "is %v: it lies between 0 and 0.5 of a score", *v)
	}
}

func (c *policyCheck) between(path string, v, low, high int, what string) {
	if v < low || v > high {
		c.fault(path, "is %d: it lies between %d and %d (%s)", v, low, high, what)
	}
}

func (c *policyCheck) blind(path, mode string, share float64) {
	if mode != BlindNever && mode != BlindAlways && mode != BlindByLot {
		c.fault(path+"/mode", "is %q: it is one of never, always, share", mode)
	}
	c.share(path+"/share", share)
}

// names of a list are not blank and not twice there.
func (c *policyCheck) names(path string, list []string) {
	if len(list) > maxPolicyList {
		c.fault(path, "has %d entries; at most %d are possible", len(list), maxPolicyList)
		return
	}
	seen := map[string]bool{}
	for i, name := range list {
		at := path + "/" + strconv.Itoa(i)
		switch {
		case strings.TrimSpace(name) == "":
			c.fault(at, "is empty")
		case seen[name]:
			c.fault(at, "names %q, as one before it does", name)
		}
		seen[name] = true
	}
}

// domain is as traces have it, or a rule for it would fit none.
func (c *policyCheck) domain(path, name string) {
	if name != foldDomain(name) {
		c.fault(path, "is %q: domains of traces are written in lower case, without white space around them", name)
	}
}

// foldDomain is a domain as traces have it when they were read.
func foldDomain(name string) string { return strings.ToLower(strings.TrimSpace(name)) }

func (c *policyCheck) disagreement(d *Disagreement) {
	if d == nil {
		return
	}
	for i, engine := range d.Engines {
		if engine != EngineOpenAI && engine != EngineRules {
			c.fault(fmt.Sprint("/disagreement/engines/", i), "is %q: it is openai or rules (recorded reports have their own key, recorded)", engine)
		}
	}
	if b := d.Between; b != BetweenModels && b != BetweenVersions && b != BetweenBoth {
		c.fault("/disagreement/between", "is %q: it is one of models, versions, both", b)
	}
}

func (c *policyCheck) models(path string, list []ModelChoice) {
	seen := map[ModelChoice]bool{}
	for i, m := range list {
		at := path + "/" + strconv.Itoa(i)
		if strings.TrimSpace(m.Model) == "" {
			c.concluded(allThere, at, "names no model")
		} else if seen[m] {
			c.concluded(allThere, at, "names the model %q, as one before it does", m.Model)
		}
		seen[m] = true
	}
}

// never says why a reason can't be switched off.
var never = map[string]string{
	ReasonInvalidOutput:    "can't be switched: without a valid report there is nothing that could be accepted",
	ReasonIncompleteReport: "can't be switched: what a report left out was judged by nobody",
	ReasonJudgeFailed:      "can't be switched: a trace whose judge failed would be without an owner",
	ReasonRequested:        "can't be switched: a person asked for the review",
}

func (c *policyCheck) reasons(path string, list map[string]Switch, judge, domain string) {
	for _, code := range sortedKeys(list) {
		at, s := path+"/"+escapePointer(code), list[code]
		if !slices.Contains(reasonOrder, code) {
			c.fault(at, "is no reason; reasons are %s", strings.Join(reasonOrder, ", "))
			continue
		}
		if why, fixed := never[code]; fixed {
			c.fault(at, "%s", why)
			continue
		}
		if s == (Switch{}) {
			c.concluded(allThere, at, "says nothing; write on, off, or the stakes for which it is on, such as [high]")
		}
		for _, side := range []struct{ stakes, value string }{{"high", s.High}, {"standard", s.Standard}} {
			c.switched(at, code, side.stakes, side.value)
			if side.value == SwitchOff && code == ReasonCriticalError && fixedReasons(judge, domain)[code] {
				c.concluded(allThere, at, "can't be off for %s in the domain %s: a critical violation of logic is always reviewed there", judge, domain)
				break
			}
		}
	}
}

func (c *policyCheck) switched(at, code, stakes, value string) {
	switch {
	case value == "", value == SwitchOn, value == SwitchOff:
	case SeverityRank(value) > 0 && code == ReasonMisattribution:
	case SeverityRank(value) > 0:
		c.fault(at, "has the severity %s for %s stakes; only misattribution is switched by severity", value, stakes)
	default:
		c.fault(at, "is %q for %s stakes: it is on, off, or for misattribution the least severity (minor, major, critical)", value, stakes)
	}
}

func (c *policyCheck) rules(list []PolicyRule) {
	if len(list) > maxPolicyList {
		c.fault("/rules", "has %d entries; at most %d are possible", len(list), maxPolicyList)
		return
	}
	type subject struct{ judge, domain string }
	first := map[subject]int{}
	for i, r := range list {
		at := "/rules/" + strconv.Itoa(i)
		switch before, twice := first[subject{r.Judge, r.Domain}]; {
		case r.Judge == "" && r.Domain == "":
			c.concluded([]string{"judge", "domain"}, at, "names neither a judge nor a domain; write what holds for the whole project outside the rules")
		case twice:
			c.concluded([]string{"judge", "domain"}, at, "is for the same judge and domain as rule %d; write them as one", before+1)
		default:
			first[subject{r.Judge, r.Domain}] = i
		}
		if r.Judge != "" && !judgeName.MatchString(r.Judge) {
			c.fault(at+"/judge", "is %q, which is no name of a judge", r.Judge)
		}
		c.domain(at+"/domain", r.Domain)
		if r.says() == 0 {
			c.concluded(allThere, at, "changes nothing; say what holds for it")
		}
		if b := r.Band; b != nil && !(0 <= b.Low && b.Low <= b.Pass && b.Pass <= 1) {
			c.fault(at+"/band", "is [%v, %v]: it is two numbers from 0 to 1, the lower first", b.Low, b.Pass)
		}
		if v := r.Below; v != nil && !(*v >= 0 && *v <= 1) {
			c.fault(at+"/below", "is %v: it lies between 0 and 1, as a share of the best value", *v)
		}
		c.optionalShare(at+"/audit/random", r.RandomAudit)
		c.optionalShare(at+"/audit/boundary", r.BoundaryAudit)
		c.width(at+"/audit/boundary_width", r.BoundaryWidth)
		c.names(at+"/endpoints", r.Endpoints)
		c.models(at+"/models", r.Models)
		c.samples(at+"/samples", r.Samples)
		c.examples(at+"/examples", r)
		c.trustOfJudge(at+"/trust", r)
		c.reasons(at+"/reasons", r.Reasons, r.Judge, r.Domain)
	}
}

// examples are a judge's, in all domains.
func (c *policyCheck) examples(path string, r PolicyRule) {
	e := r.Examples
	if e == nil {
		return
	}
	if e.From != ExamplesConfirmed {
		c.fault(path+"/from", "is %q: examples are drawn from confirmed labels, so it is confirmed; leave examples out for the judge's own", e.From)
	}
	if e.Seed < 0 {
		c.fault(path+"/seed", "is %d: it is a whole number from 0 on", e.Seed)
	}
	need, takes := exampleNeeds[r.Judge]
	if !takes {
		c.fault(path, "can be drawn for the judges citations and reference only; write a rule for one of them")
	} else if e.Count < need.least || e.Count > need.most {
		c.fault(path+"/count", "is %d: %s takes %d to %d examples (at least %s)", e.Count, r.Judge, need.least, need.most, need.words)
	}
	if r.Domain != "" {
		c.fault(path, "can't be drawn for one domain: a judge has one prompt for all; write a rule for the judge alone")
	}
}

// says counts the fields that a rule sets.
func (r PolicyRule) says() (n int) {
	for _, set := range []bool{
		r.Band != nil, r.Below != nil, r.RandomAudit != nil, r.BoundaryAudit != nil, r.BoundaryWidth != nil,
		r.Endpoints != nil, len(r.Models) > 0, r.Samples != 0, len(r.Reasons) > 0, r.Examples != nil, r.Trust != nil,
	} {
		if set {
			n++
		}
	}
	return n
}

// escapePointer writes a key as a token of a JSON pointer (RFC 6901).
func escapePointer(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
