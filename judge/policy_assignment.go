package judge

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// AssignmentRule says what a person must bring for the items of a domain, of
// stakes, or of both. Each rule that fits an item has to be met.
type AssignmentRule struct {
	Domain string `json:"domain,omitempty"` // empty: any
	Stakes Stakes `json:"stakes,omitempty"` // empty: both
	// Requires are qualifications of which the person must have each.
	Requires []string `json:"requires,omitempty"`
	// Languages: the person must read the language that the trace's metadata
	// names. A trace that names none asks for nothing.
	Languages bool `json:"languages,omitempty"`
}

// Fits says whether a rule is about items of these stakes and this domain.
func (r AssignmentRule) Fits(stakes Stakes, domain string) bool {
	return (r.Domain == "" || r.Domain == domain) && (r.Stakes == "" || r.Stakes == stakes)
}

// Lacks are the qualifications that a rule requires and that are not among
// those given. Case and white space around them do not count.
func (r AssignmentRule) Lacks(qualifications []string) (missing []string) {
	has := map[string]bool{}
	for _, q := range qualifications {
		has[FoldQualification(q)] = true
	}
	for _, q := range r.Requires {
		if !has[FoldQualification(q)] {
			missing = append(missing, q)
		}
	}
	return missing
}

// FoldQualification is a qualification as two of them are compared.
func FoldQualification(name string) string {
	return strings.ToLower(strings.Join(strings.Fields(name), " "))
}

func (r policyReader) assignment(n located, p *Policy) {
	r.keys(n, "assignment", map[string]func(located){
		"rules": func(n located) {
			for _, item := range r.list(n, "assignment.rules") {
				var rule AssignmentRule
				r.keys(item, "a rule of assignment", map[string]func(located){
					"domain": func(n located) { rule.Domain = foldDomain(r.text(n, "domain")) },
					"stakes": func(n located) { rule.Stakes = Stakes(r.text(n, "stakes")) },
					"requires": r.texts(&rule.Requires, "requires",
						"[] requires nothing; name the qualifications that a person must have"),
					"languages": func(n located) { r.decode(n, &rule.Languages, "languages must be true or false") },
				})
				p.Assignment = append(p.Assignment, rule)
			}
		},
	})
}

// maxQualification bounds the name of a qualification, in characters.
const maxQualification = 100

func (c *policyCheck) assignment(rules []AssignmentRule) {
	if len(rules) > maxAssignmentRules {
		c.fault("/assignment/rules", "has %d entries; at most %d are possible", len(rules), maxAssignmentRules)
		return
	}
	for i, r := range rules {
		at := fmt.Sprint("/assignment/rules/", i)
		c.stakes(at+"/stakes", r.Stakes)
		c.domain(at+"/domain", r.Domain)
		c.names(at+"/requires", r.Requires)
		for k, q := range r.Requires {
			if len([]rune(q)) > maxQualification {
				c.fault(fmt.Sprintf("%s/requires/%d", at, k), "is longer than %d characters", maxQualification)
			}
		}
		if len(r.Requires) == 0 && !r.Languages {
			c.fault(at, "asks for nothing; name qualifications as requires, or set languages: true")
		}
	}
}

// maxAssignmentRules bounds what each claim is held against.
const maxAssignmentRules = 50

func putAssignment(root *yaml.Node, rules []AssignmentRule) {
	if len(rules) == 0 {
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, r := range rules {
		rule := flow(yaml.MappingNode)
		putWord(rule, "domain", r.Domain)
		putWord(rule, "stakes", string(r.Stakes))
		if len(r.Requires) > 0 {
			putWords(rule, "requires", r.Requires)
		}
		if r.Languages {
			put(rule, "languages", plain("!!bool", "true"))
		}
		list.Content = append(list.Content, rule)
	}
	n := &yaml.Node{Kind: yaml.MappingNode}
	put(n, "rules", list)
	put(root, "assignment", n)
}
