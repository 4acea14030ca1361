package judge

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// DueRule says within how many hours an item is due that has this reason, these
// stakes and this domain.
type DueRule struct {
	Reason string `json:"reason,omitempty"` // the leading one; empty: any
	Stakes Stakes `json:"stakes,omitempty"` // empty: both
	Domain string `json:"domain,omitempty"` // empty: any
	Hours  int    `json:"hours"`            // 1 to 8,760
}

// DueHours is how many hours after it began to wait an item of this leading
// reason, these stakes and this domain is due: the first rule that fits counts,
// else what holds for the stakes.
func (p Policy) DueHours(reason string, stakes Stakes, domain string) int {
	for _, r := range p.DueRules {
		if (r.Reason == "" || r.Reason == reason) && (r.Stakes == "" || r.Stakes == stakes) && (r.Domain == "" || r.Domain == domain) {
			return r.Hours
		}
	}
	if stakes == HighStakes {
		return p.DueHoursHigh
	}
	return p.DueHoursStandard
}

// due reads the key due, which holds what due_hours does and its exceptions.
func (r policyReader) due(n located, p *Policy) {
	r.keys(n, "due", map[string]func(located){
		"high":     func(n located) { r.decode(n, &p.DueHoursHigh, "due.high must be a whole number") },
		"standard": func(n located) { r.decode(n, &p.DueHoursStandard, "due.standard must be a whole number") },
		"rules": func(n located) {
			for _, item := range r.list(n, "due.rules") {
				var rule DueRule
				r.keys(item, "a rule of due", map[string]func(located){
					"reason": func(n located) { rule.Reason = r.text(n, "reason") },
					"stakes": func(n located) { rule.Stakes = Stakes(r.text(n, "stakes")) },
					"domain": func(n located) { rule.Domain = foldDomain(r.text(n, "domain")) },
					"hours":  func(n located) { r.decode(n, &rule.Hours, "hours must be a whole number") },
				})
				p.DueRules = append(p.DueRules, rule)
			}
		},
	})
}

func (c *policyCheck) due(rules []DueRule) {
	if len(rules) > maxPolicyList {
		c.fault("/due/rules", "has %d entries; at most %d are possible", len(rules), maxPolicyList)
		return
	}
	for i, r := range rules {
		at := fmt.Sprint("/due/rules/", i)
		if r.Reason == "" && r.Stakes == "" && r.Domain == "" {
			c.fault(at, "is for everything; write what holds for all items as due.high and due.standard")
		}
		if r.Reason != "" && !slices.Contains(reasonOrder, r.Reason) {
			c.fault(at+"/reason", "is %q, which is no reason; reasons are %s", r.Reason, strings.Join(reasonOrder, ", "))
		}
		c.stakes(at+"/stakes", r.Stakes)
		c.domain(at+"/domain", r.Domain)
		c.between(at+"/hours", r.Hours, 1, maxDueHours, "hours, at most a year")
	}
}

// stakes of a rule may be empty, which means both.
func (c *policyCheck) stakes(path string, s Stakes) {
	if s != "" && s != HighStakes && s != StandardStakes {
		c.fault(path, "is %q: it is high or standard", s)
	}
}

// putDue writes the due times: as due_hours as long as there is no exception, so
// that an earlier program reads them.
func (p Policy) putDue(root *yaml.Node) {
	due := flow(yaml.MappingNode)
	put(due, "high", whole(p.DueHoursHigh))
	put(due, "standard", whole(p.DueHoursStandard))
	if len(p.DueRules) == 0 {
		put(root, "due_hours", due)
		return
	}
	due.Style = 0
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, r := range p.DueRules {
		rule := flow(yaml.MappingNode)
		putWord(rule, "reason", r.Reason)
		putWord(rule, "stakes", string(r.Stakes))
		putWord(rule, "domain", r.Domain)
		put(rule, "hours", whole(r.Hours))
		list.Content = append(list.Content, rule)
	}
	put(due, "rules", list)
	put(root, "due", due)
}
