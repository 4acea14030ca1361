package judge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// Opinions says how many people give an answer on an item of their own before
// it is settled.
type Opinions struct {
	// Default is how many where no rule fits, 1..MaxOpinions; 0: 1.
	Default int           `json:"default,omitempty"`
	Rules   []OpinionRule `json:"rules,omitempty"` // the first that fits counts
}

// OpinionRule is how many opinions items of a reason, a domain and stakes need.
type OpinionRule struct {
	Reason string `json:"reason,omitempty"` // the leading one; empty: any
	Domain string `json:"domain,omitempty"` // empty: any
	Stakes Stakes `json:"stakes,omitempty"` // empty: both
	N      int    `json:"n"`                // 1..MaxOpinions
}

// Bounds of what a policy asks of people.
const (
	// MaxOpinions is the most opinions that one item can need.
	MaxOpinions = 5
	// MaxAbstentions is the most people who can be asked in vain before an item
	// goes to adjudication.
	MaxAbstentions = 5

	maxUndoSeconds = 3600
)

// What fields of a policy mean that are left unsaid.
const (
	defaultAbstentions = 2
	defaultUndoSeconds = 60
)

// OpinionsFor is how many opinions an item of this leading reason, domain and
// stakes needs: at least 1.
func (p Policy) OpinionsFor(reason, domain string, stakes Stakes) int {
	if p.Opinions == nil {
		return 1
	}
	for _, r := range p.Opinions.Rules {
		if (r.Reason == "" || r.Reason == reason) && (r.Domain == "" || r.Domain == domain) && (r.Stakes == "" || r.Stakes == stakes) {
			return max(1, r.N)
		}
	}
	return max(1, p.Opinions.Default)
}

// AbstentionsToAdjudicate is how many people have to say that they cannot judge
// an item before a lead settles it.
func (p Policy) AbstentionsToAdjudicate() int {
	if p.CannotJudge == 0 {
		return defaultAbstentions
	}
	return p.CannotJudge
}

// UndoTime is how long a decision can be taken back by who gave it, as long as
// nothing was built on it; 0: not at all.
func (p Policy) UndoTime() time.Duration {
	if p.UndoSeconds == nil {
		return defaultUndoSeconds * time.Second
	}
	return time.Duration(*p.UndoSeconds) * time.Second
}

func (c *policyCheck) opinions(o *Opinions) {
	if o == nil {
		return
	}
	c.between("/opinions/default", o.Default, 0, MaxOpinions, "people who answer")
	if len(o.Rules) > maxPolicyList {
		c.fault("/opinions/rules", "has %d entries; at most %d are possible", len(o.Rules), maxPolicyList)
		return
	}
	for i, r := range o.Rules {
		at := fmt.Sprint("/opinions/rules/", i)
		if r.Reason != "" && !slices.Contains(reasonOrder, r.Reason) {
			c.fault(at+"/reason", "is %q, which is no reason; reasons are %s", r.Reason, strings.Join(reasonOrder, ", "))
		}
		if r.Stakes != "" && r.Stakes != HighStakes && r.Stakes != StandardStakes {
			c.fault(at+"/stakes", "is %q: it is high or standard", r.Stakes)
		}
		c.domain(at+"/domain", r.Domain)
		c.between(at+"/n", r.N, 1, MaxOpinions, "people who answer")
	}
}

func (r policyReader) opinions(n located, p *Policy) {
	o := Opinions{Default: 1}
	r.keys(n, "opinions", map[string]func(located){
		"default": func(n located) {
			if r.decode(n, &o.Default, "opinions.default must be a whole number") && o.Default < 1 {
				r.fault(n, "opinions.default is %d: an item needs one opinion at least", o.Default)
			}
		},
		"rules": func(n located) {
			for _, item := range r.list(n, "opinions.rules") {
				var rule OpinionRule
				r.keys(item, "a rule of opinions", map[string]func(located){
					"reason": func(n located) { rule.Reason = r.text(n, "reason") },
					"domain": func(n located) { rule.Domain = foldDomain(r.text(n, "domain")) },
					"stakes": func(n located) { rule.Stakes = Stakes(r.text(n, "stakes")) },
					"n":      func(n located) { r.decode(n, &rule.N, "n must be a whole number") },
				})
				o.Rules = append(o.Rules, rule)
			}
		},
	})
	p.Opinions = &o
}

func (o Opinions) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	put(n, "default", whole(max(1, o.Default)))
	if len(o.Rules) == 0 {
		n.Style = yaml.FlowStyle
		return n
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, r := range o.Rules {
		rule := flow(yaml.MappingNode)
		putWord(rule, "reason", r.Reason)
		putWord(rule, "domain", r.Domain)
		putWord(rule, "stakes", string(r.Stakes))
		put(rule, "n", whole(r.N))
		list.Content = append(list.Content, rule)
	}
	put(n, "rules", list)
	return n
}

// putWord writes a text unless it is empty.
func putWord(to *yaml.Node, key, text string) {
	if text != "" {
		put(to, key, word(text))
	}
}
