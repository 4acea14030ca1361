package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// OverrideReason is why a person says something else than the judge, from a
// list, so that overrides can be counted by cause.
type OverrideReason struct {
	Code string `json:"code"` // lower case, digits and underscores
	Text string `json:"text"` // as people read it
	// Severity of the judge's fault unless the person says otherwise:
	// critical, major or minor.
	Severity string `json:"severity"`
	// Domains and Judges that it is offered for; empty: all.
	Domains []string `json:"domains,omitempty"`
	Judges  []string `json:"judges,omitempty"`
}

// fits says whether the reason is offered for a domain and a judge.
func (r OverrideReason) fits(domain, judge string) bool {
	return (len(r.Domains) == 0 || slices.Contains(r.Domains, domain)) && (len(r.Judges) == 0 || slices.Contains(r.Judges, judge))
}

// DefaultOverrideReasons is the list of a policy that names none.
func DefaultOverrideReasons() []OverrideReason {
	legal, medical, finance := []string{"legal"}, []string{"medical"}, []string{"finance"}
	return []OverrideReason{
		{Code: "judge_wrong", Text: "The judge is wrong", Severity: SeverityMajor},
		{Code: "missed_error", Text: "The judge missed an error", Severity: SeverityMajor},
		{Code: "too_strict", Text: "The judge is too strict", Severity: SeverityMinor},
		{Code: "too_lenient", Text: "The judge is too lenient", Severity: SeverityMajor},
		{Code: "outdated_law", Text: "The law has changed or was repealed", Severity: SeverityCritical, Domains: legal},
		{Code: "wrong_jurisdiction", Text: "Another jurisdiction’s law applies", Severity: SeverityCritical, Domains: legal},
		{Code: "authority_overruled", Text: "The authority was overruled or is not binding", Severity: SeverityCritical, Domains: legal},
		{Code: "misquoted_authority", Text: "A provision or ruling is misquoted", Severity: SeverityMajor, Domains: legal},
		{Code: "deadline_error", Text: "A period or deadline is wrong", Severity: SeverityCritical, Domains: legal},
		{Code: "dose_error", Text: "A dose, unit or frequency is wrong", Severity: SeverityCritical, Domains: medical},
		{Code: "contraindication_missed", Text: "A contraindication or interaction was missed", Severity: SeverityCritical, Domains: medical},
		{Code: "outdated_guideline", Text: "The guideline is outdated", Severity: SeverityMajor, Domains: medical},
		{Code: "wrong_population", Text: "The evidence is about other patients", Severity: SeverityMajor, Domains: medical},
		{Code: "red_flag_missed", Text: "A warning sign or urgent referral was missed", Severity: SeverityCritical, Domains: medical},
		{Code: "amount_error", Text: "An amount, rate or date is wrong", Severity: SeverityCritical, Domains: finance},
		{Code: "wrong_period", Text: "Another reporting period or standard applies", Severity: SeverityMajor, Domains: finance},
		{Code: "wrong_source", Text: "The source is the wrong one", Severity: SeverityMajor},
		{Code: "ambiguous_trace", Text: "The text can be read in two ways", Severity: SeverityMinor},
		{Code: "rubric_unclear", Text: "The rubric does not say", Severity: SeverityMinor},
		{Code: "other", Text: "Another reason, explained in the comment", Severity: SeverityMinor},
	}
}

// OverrideReasonsFor are the reasons that are offered for a judge's items of a
// domain, in the policy's order.
func (p Policy) OverrideReasonsFor(domain, judge string) []OverrideReason {
	all := p.OverrideReasons
	if all == nil {
		all = DefaultOverrideReasons()
	}
	fits := []OverrideReason{}
	for _, r := range all {
		if r.fits(domain, judge) {
			fits = append(fits, r)
		}
	}
	return fits
}

var overrideCode = regexp.MustCompile(`^[a-z][a-z0-9_]{0,59}$`)

const maxOverrideText = 200 // characters

func (c *policyCheck) overrideReasons(list []OverrideReason) {
	if list != nil && len(list) == 0 {
		c.fault("/reason_codes", "is empty: an override names its reason, so there has to be one; leave the key out for the usual list")
	}
	if len(list) > maxPolicyList {
		c.fault("/reason_codes", "has %d entries; at most %d are possible", len(list), maxPolicyList)
		return
	}
	seen := map[string]bool{}
	general := len(list) == 0
	for i, r := range list {
		at := fmt.Sprint("/reason_codes/", i)
		if !overrideCode.MatchString(r.Code) {
			c.fault(at+"/code", "is %q: it is a word of at most 60 lower-case letters, digits and underscores, such as dose_error", r.Code)
		}
		if seen[r.Code] {
			c.fault(at+"/code", "is %q, which is there twice", r.Code)
		}
		seen[r.Code] = true
		if n := utf8.RuneCountInString(strings.TrimSpace(r.Text)); n == 0 || n > maxOverrideText {
			c.fault(at+"/text", "has %d characters: it says in 1 to %d what people choose", n, maxOverrideText)
		}
		if SeverityRank(r.Severity) == 0 {
			c.fault(at+"/severity", "is %q: it is critical, major or minor", r.Severity)
		}
		c.names(at+"/domains", r.Domains)
		for k, d := range r.Domains {
			c.domain(fmt.Sprint(at, "/domains/", k), d)
		}
		c.names(at+"/judges", r.Judges)
		general = general || len(r.Domains) == 0 && len(r.Judges) == 0
	}
	if !general {
		c.fault("/reason_codes", "has none for every domain and judge: elsewhere nobody could override; add one such as {code: other, text: Another reason, severity: minor}")
	}
}

func (r policyReader) overrideReasons(n located, p *Policy) {
	p.OverrideReasons = []OverrideReason{}
	for _, item := range r.list(n, "reason_codes") {
		var o OverrideReason
		r.keys(item, "a reason code", map[string]func(located){
			"code":     func(n located) { o.Code = r.text(n, "a reason's code") },
			"text":     func(n located) { o.Text = r.text(n, "a reason's text") },
			"severity": func(n located) { o.Severity = r.text(n, "a reason's severity") },
			"domains":  r.texts(&o.Domains, "domains", "leave the key out for all"),
			"judges":   r.texts(&o.Judges, "judges", "leave the key out for all"),
		})
		for i, d := range o.Domains {
			o.Domains[i] = foldDomain(d)
		}
		if len(o.Domains) == 0 {
			o.Domains = nil
		}
		if len(o.Judges) == 0 {
			o.Judges = nil
		}
		p.OverrideReasons = append(p.OverrideReasons, o)
	}
}

func putOverrideReasons(to *yaml.Node, list []OverrideReason) {
	if list == nil {
		return
	}
	n := &yaml.Node{Kind: yaml.SequenceNode}
	for _, r := range list {
		item := flow(yaml.MappingNode)
		put(item, "code", word(r.Code))
		put(item, "text", word(r.Text))
		put(item, "severity", word(r.Severity))
		putWords(item, "domains", r.Domains)
		putWords(item, "judges", r.Judges)
		n.Content = append(n.Content, item)
	}
	put(to, "reason_codes", n)
}
