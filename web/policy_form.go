package web

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/views"
)

// The form of a policy's project level: its fields as text, and back. What the
// form has no field for (rules, exceptions of blindness) stays as it was.

// defaultHighDomains are what a policy means that names none.
var defaultHighDomains = []string{"legal", "medical", "finance", "safety"}

// policyFields writes a policy's project level into the fields.
func policyFields(p judge.Policy, known []Endpoint) views.PolicyFields {
	e := p.For("", "", judge.StandardStakes)
	f := views.PolicyFields{
		RandomAudit: percentText(p.RandomAudit), BoundaryAudit: percentText(p.BoundaryAudit), BoundaryWidth: numberText(e.BoundaryWidth), Seed: p.Seed,
		Blind: p.Blind, BlindShare: percentText(p.BlindShare), DueHigh: strconv.Itoa(p.DueHoursHigh), DueStandard: strconv.Itoa(p.DueHoursStandard),
		Lease: strconv.Itoa(p.LeaseMinutes), EndpointsNamed: p.Endpoints != nil, Endpoints: strings.Join(p.Endpoints, ", "),
		Samples: strconv.Itoa(e.Samples), Temperature: numberText(e.SampleTemperature), Between: e.Disagreement.Between, Recorded: e.Disagreement.Recorded,
		BlindRules: len(p.BlindRules), DueRules: len(p.DueRules), Assignment: len(p.Assignment),
		Opinions: "1", CannotJudge: strconv.Itoa(p.AbstentionsToAdjudicate()), Undo: strconv.Itoa(int(p.UndoTime().Seconds())),
		ReasonCodes: len(p.OverrideReasons),
	}
	if p.Opinions != nil {
		f.Opinions, f.OpinionRules = strconv.Itoa(max(1, p.Opinions.Default)), len(p.Opinions.Rules)
	}
	domains := p.HighStakesDomains
	if domains == nil {
		domains = defaultHighDomains
	}
	f.Domains = strings.Join(domains, ", ")
	if p.BudgetUSD > 0 {
		f.Budget = numberText(p.BudgetUSD)
	}
	l := p.TrustFor("")
	f.MinKappa, f.MinLabels, f.MaxMissRate = numberText(l.MinKappa), strconv.Itoa(l.MinLabels), percentText(l.MaxMissRate)
	f.SliceLabels, f.SliceKappa = strconv.Itoa(l.SliceLabels), numberText(l.SliceKappa)
	if m := p.ReleaseLimits().MinPassRate; m != nil {
		f.ReleasePassRate = percentText(*m)
	}
	var models []string
	for _, m := range p.Models {
		models = append(models, modelText(m))
	}
	f.Models = strings.Join(models, ", ")
	var names []string
	for _, k := range known {
		names = append(names, endpointText(k))
	}
	f.Known = strings.Join(names, ", ")
	for _, code := range judge.ReasonCodes() {
		f.Reasons = append(f.Reasons, policyReason(p, code))
	}
	return f
}

func policyReason(p judge.Policy, code string) views.PolicyReason {
	usual := judge.DefaultPolicy()
	r := views.PolicyReason{
		Code: code, High: p.Reasons[code].High, Standard: p.Reasons[code].Standard, Severities: code == judge.ReasonMisattribution,
		UsualHigh: usualSwitch(usual, code, judge.HighStakes), UsualStandard: usualSwitch(usual, code, judge.StandardStakes),
	}
	if err := (judge.Policy{Reasons: map[string]judge.Switch{code: {High: judge.SwitchOff, Standard: judge.SwitchOff}}}).Check(); err != nil {
		for _, f := range policyFaultsOf(err) {
			if f.Path == "/reasons/"+code {
				r.Fixed = f.Msg
			}
		}
	}
	return r
}

// usualSwitch is what holds where a policy says nothing.
func usualSwitch(p judge.Policy, code string, stakes judge.Stakes) string {
	e := p.For("", "", stakes)
	switch {
	case code == judge.ReasonMisattribution:
		return "from " + e.LeastSeverity()
	case code == judge.ReasonBelowThreshold:
		return "as the judge says"
	case e.On(nil, code):
		return "on"
	}
	return "off"
}

// policyOf reads the fields onto the policy they were made from. The error joins
// a *judge.PolicyFault for each value that is not of its form or breaks a rule.
func policyOf(base judge.Policy, form url.Values) (judge.Policy, error) {
	r := &fieldReader{form: form}
	p := base
	p.RandomAudit, p.BoundaryAudit = r.percent("random_audit", "The random audit"), r.percent("boundary_audit", "The boundary audit")
	p.BoundaryWidth = orDefault(r.number("boundary_width", "The width of the boundary"), judge.Policy{}.For("", "", "").BoundaryWidth, base.BoundaryWidth)
	p.Seed, p.Blind = form.Get("seed"), form.Get("blind")
	p.BlindShare = r.percent("blind_share", "The blind share")
	p.DueHoursHigh, p.DueHoursStandard = r.whole("due_high", "The due time at high stakes"), r.whole("due_standard", "The due time at standard stakes")
	p.LeaseMinutes = r.whole("lease_minutes", "The length of a claim")
	r.answers(base, &p)
	p.HighStakesDomains = listOf(form.Get("domains"))
	if slices.Equal(p.HighStakesDomains, defaultHighDomains) && base.HighStakesDomains == nil {
		p.HighStakesDomains = nil
	}
	p.Endpoints = nil
	if form.Get("endpoints_named") == "on" {
		p.Endpoints = listOf(form.Get("endpoints"))
	}
	p.Models = nil
	for _, m := range listOf(form.Get("models")) {
		model, endpoint, _ := strings.Cut(m, "@")
		p.Models = append(p.Models, judge.ModelChoice{Model: strings.TrimSpace(model), Endpoint: strings.TrimSpace(endpoint)})
	}
	switch p.Samples = r.whole("samples", "The number of calls"); {
	case p.Samples == 0:
		r.zero("samples", "The number of calls", judge.MaxSamples)
	case p.Samples == 1 && base.Samples == 0:
		p.Samples = 0
	}
	p.SampleTemperature = orDefault(r.number("temperature", "The temperature"), judge.Policy{}.For("", "", "").SampleTemperature, base.SampleTemperature)
	p.BudgetUSD = 0
	if form.Get("budget") != "" {
		p.BudgetUSD = r.number("budget", "The budget")
	}
	var d judge.Disagreement
	if base.Disagreement != nil {
		d = *base.Disagreement
	}
	d.Between, d.Recorded = form.Get("between"), form.Get("recorded") == "on"
	if usual := judge.DefaultDisagreement(); base.Disagreement != nil || d.Between != usual.Between || d.Recorded != usual.Recorded {
		p.Disagreement = &d
	}
	r.trust(base, &p)
	p.Reasons = reasonsOf(form)
	for _, f := range policyFaultsOf(p.Check()) {
		if slices.Contains(r.unread, f.Path) { // that is told already
			continue
		}
		if name := r.labels[f.Path]; name != "" {
			f = &judge.PolicyFault{Msg: name + " " + f.Msg}
		}
		r.faults = append(r.faults, f)
	}
	return p, errors.Join(r.faults...)
}

// answers reads what is asked of people. What has its default and was not said
// before stays unsaid.
func (r *fieldReader) answers(base judge.Policy, p *judge.Policy) {
	opinions := judge.Opinions{}
	if base.Opinions != nil {
		opinions = *base.Opinions
	}
	if opinions.Default = r.whole("opinions", "The number of opinions"); opinions.Default == 0 {
		r.zero("opinions", "The number of opinions", judge.MaxOpinions)
	}
	if p.Opinions = &opinions; base.Opinions == nil && opinions.Default == 1 {
		p.Opinions = nil
	}
	if p.CannotJudge = r.whole("cannot_judge", "The number of people who cannot judge"); p.CannotJudge == 0 {
		r.zero("cannot_judge", "The number of people who cannot judge", judge.MaxAbstentions)
	} else if base.CannotJudge == 0 && p.CannotJudge == base.AbstentionsToAdjudicate() {
		p.CannotJudge = 0
	}
	seconds := r.whole("undo_seconds", "The time for undo")
	if p.UndoSeconds = &seconds; base.UndoSeconds == nil && seconds == int(base.UndoTime().Seconds()) {
		p.UndoSeconds = nil
	}
}

// zero refuses a 0 that would mean the default, unless the number can't be read
// and that is told already.
func (r *fieldReader) zero(name, what string, most int) {
	if !slices.Contains(r.unread, fieldPlaces[name]) {
		r.fault(name, what, "0", fmt.Sprintf("a number from 1 to %d", most))
	}
}

// reasonsOf reads the switches; what is as usual is not said.
func reasonsOf(form url.Values) map[string]judge.Switch {
	var reasons map[string]judge.Switch
	for _, code := range judge.ReasonCodes() {
		s := judge.Switch{High: form.Get("reason." + code + ".high"), Standard: form.Get("reason." + code + ".standard")}
		if s == (judge.Switch{}) {
			continue
		}
		if reasons == nil {
			reasons = map[string]judge.Switch{}
		}
		reasons[code] = s
	}
	return reasons
}

// orDefault keeps a number unsaid that has its default and was not said before.
func orDefault(v, usual float64, said *float64) *float64 {
	if said == nil && v == usual {
		return nil
	}
	return &v
}

// fieldReader reads numbers and collects what is none.
type fieldReader struct {
	form   url.Values
	faults []error
	unread []string          // places in the policy of the values that are not of their form
	labels map[string]string // what the form calls them, by place in the policy
}

// text of a field, and notes what it is called.
func (r *fieldReader) text(name, what string) string {
	if r.labels == nil {
		r.labels = map[string]string{}
	}
	r.labels[fieldPlaces[name]] = what
	return strings.TrimSpace(r.form.Get(name))
}

// fieldPlaces are where the numbers of the form stand in a policy.
var fieldPlaces = map[string]string{
	"random_audit": "/audit/random", "boundary_audit": "/audit/boundary", "boundary_width": "/audit/boundary_width", "blind_share": "/blind/share",
	"due_high": "/due_hours/high", "due_standard": "/due_hours/standard", "lease_minutes": "/lease_minutes", "samples": "/samples",
	"opinions": "/opinions/default", "cannot_judge": "/cannot_judge", "undo_seconds": "/undo_seconds",
	"temperature": "/temperature", "budget": "/budget_usd",
	"min_kappa": "/trust/min_kappa", "min_labels": "/trust/min_labels", "max_miss_rate": "/trust/max_miss_rate",
	"slice_labels": "/trust/slice_labels", "slice_kappa": "/trust/slice_kappa", "release_pass_rate": "/release/min_pass_rate",
}

func (r *fieldReader) fault(name, what, text, must string) {
	r.unread = append(r.unread, fieldPlaces[name])
	r.faults = append(r.faults, &judge.PolicyFault{Msg: fmt.Sprintf("%s is %q: it is %s", what, text, must)})
}

func (r *fieldReader) number(name, what string) float64 {
	text := r.text(name, what)
	v, err := decimal(text)
	if err != nil {
		r.fault(name, what, text, "a number such as 0.05")
	}
	return v
}

// percent is a share in [0,1] that is written in per cent.
func (r *fieldReader) percent(name, what string) float64 {
	text := r.text(name, what)
	v, err := decimal(strings.TrimSuffix(text, "%"))
	if err != nil || !(v >= 0 && v <= 100) {
		r.fault(name, what, text, "a number from 0 to 100")
		return 0
	}
	// Shares are written with few digits: 7% is 0.07 and not a neighbour of it.
	share, err := strconv.ParseFloat(strconv.FormatFloat(v/100, 'g', 12, 64), 64)
	if err != nil {
		r.fault(name, what, text, "a number from 0 to 100")
	}
	return share
}

func (r *fieldReader) whole(name, what string) int {
	text := r.text(name, what)
	v, err := strconv.Atoi(text)
	if err != nil {
		r.fault(name, what, text, "a whole number")
	}
	return v
}

// listOf splits at commas; no name gives an empty list, which is not nil.
func listOf(text string) []string {
	list := []string{}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" {
			list = append(list, part)
		}
	}
	return list
}

// percentText writes a share in per cent, without digits that mean nothing.
func percentText(share float64) string { return strconv.FormatFloat(100*share, 'g', 10, 64) }

func numberText(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func modelText(m judge.ModelChoice) string {
	if m.Endpoint == "" {
		return m.Model
	}
	return m.Model + "@" + m.Endpoint
}

func endpointText(e Endpoint) string {
	switch {
	case e.Name == "" || e.Name == e.Host:
		return e.Host
	case e.Host == "":
		return e.Name
	}
	return e.Name + " (" + e.Host + ")"
}

// policyFaultsOf takes apart what a policy's check joined.
func policyFaultsOf(err error) []*judge.PolicyFault {
	var list []*judge.PolicyFault
	walkErrors(err, func(e error) {
		var f *judge.PolicyFault
		if errors.As(e, &f) {
			list = append(list, f)
		}
	})
	return list
}

// walkErrors gives fn each error that was joined.
func walkErrors(err error, fn func(error)) {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, e := range joined.Unwrap() {
			walkErrors(e, fn)
		}
		return
	}
	if err != nil {
		fn(err)
	}
}
