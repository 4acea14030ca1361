package judge

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// ParsePolicy reads a policy from YAML. What the file leaves out is as
// DefaultPolicy has it, but for version, which is 0 then. The error joins every
// fault found, what can't be read and what breaks a rule alike, each a
// *DefinitionError with its line, in the order of lines.
func ParsePolicy(file string, data []byte) (Policy, error) {
	if len(data) > maxDefinition {
		return Policy{}, &DefinitionError{File: file, Msg: fmt.Sprintf("the file has %d bytes; a policy has at most %d", len(data), maxDefinition)}
	}
	root, fault := parseYAML(file, data)
	if fault != nil {
		return Policy{}, fault
	}
	r := policyReader{&parser{file: file}}
	p := DefaultPolicy()
	p.Version = 0
	r.policy(root, &p)
	for i, d := range p.HighStakesDomains {
		p.HighStakesDomains[i] = foldDomain(d)
	}
	unread := maps.Clone(r.blamed)
	for _, f := range faultsOf(p.Check()) {
		if !f.about(root, unread) { // what could not be read can't be held to the rules
			r.fault(root.at(f.Path), "%s", f.Error())
		}
	}
	if len(r.faults) > 0 {
		slices.SortStableFunc(r.faults, func(a, b *DefinitionError) int { return cmp.Compare(a.Line, b.Line) })
		errs := make([]error, len(r.faults))
		for i, f := range r.faults {
			errs[i] = f
		}
		return Policy{}, errors.Join(errs...)
	}
	return p, nil
}

// faultsOf takes apart what Check joined.
func faultsOf(err error) []*PolicyFault {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	var list []*PolicyFault
	for _, e := range joined.Unwrap() {
		var f *PolicyFault
		if errors.As(e, &f) {
			list = append(list, f)
		}
	}
	return list
}

// at is the node that a JSON pointer leads to, or the last one on its way.
func (n located) at(pointer string) located {
	way := n.way(pointer)
	return way[len(way)-1]
}

// way are the nodes on the way of a JSON pointer, from n to the last that is there.
func (n located) way(pointer string) []located {
	way := []located{n}
	path, err := parsePointer(pointer)
	if err != nil {
		return way
	}
	for _, token := range path {
		next, ok := n.get(token)
		if !ok {
			i, err := strconv.Atoi(token)
			items := n.items()
			if err != nil || i < 0 || i >= len(items) {
				break
			}
			next = items[i]
		}
		n = next
		way = append(way, n)
	}
	return way
}

// about reports whether a fault speaks of what could not be read: its place, what
// that is part of, or what it was concluded from.
func (f *PolicyFault) about(root located, unread map[*yaml.Node]bool) bool {
	way := root.way(f.Path)
	for _, n := range way {
		if unread[n.Node] {
			return true
		}
	}
	for _, key := range f.from {
		part := way[len(way)-1]
		if key != "" {
			var said bool
			if part, said = part.get(key); !said {
				continue
			}
		}
		if part.anyOf(unread) {
			return true
		}
	}
	return false
}

// anyOf reports whether the node or one inside it is among these.
func (n located) anyOf(nodes map[*yaml.Node]bool) bool {
	return nodes[n.Node] || slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return located{c, n.file}.anyOf(nodes) })
}

// policyReader reads nodes into a policy and collects what cannot be read.
type policyReader struct{ *parser }

func (r policyReader) policy(root located, p *Policy) {
	if at, both := root.get("due"); both {
		if _, both = root.get("due_hours"); both {
			r.fault(at, "due and due_hours say the same; write one of them")
		}
	}
	r.keys(root, "the policy", map[string]func(located){
		"version": func(n located) {
			if r.decode(n, &p.Version, "version must be a whole number") && p.Version < 0 {
				r.fault(n, "version must be 0 or more")
			}
		},
		"audit": func(n located) {
			r.keys(n, "audit", map[string]func(located){
				"random":         func(n located) { r.decode(n, &p.RandomAudit, "audit.random must be a number") },
				"boundary":       func(n located) { r.decode(n, &p.BoundaryAudit, "audit.boundary must be a number") },
				"boundary_width": r.number(&p.BoundaryWidth, "audit.boundary_width"),
				"seed":           func(n located) { p.Seed = r.text(n, "audit.seed") },
			})
		},
		"blind": func(n located) { r.blind(n, p) },
		"due_hours": func(n located) {
			r.keys(n, "due_hours", map[string]func(located){
				"high":     func(n located) { r.decode(n, &p.DueHoursHigh, "due_hours.high must be a whole number") },
				"standard": func(n located) { r.decode(n, &p.DueHoursStandard, "due_hours.standard must be a whole number") },
			})
		},
		"due":           func(n located) { r.due(n, p) },
		"assignment":    func(n located) { r.assignment(n, p) },
		"lease_minutes": func(n located) { r.decode(n, &p.LeaseMinutes, "lease_minutes must be a whole number") },
		"opinions":      func(n located) { r.opinions(n, p) },
		"cannot_judge": func(n located) {
			if r.decode(n, &p.CannotJudge, "cannot_judge must be a whole number") && p.CannotJudge < 1 {
				r.fault(n, "cannot_judge is %d: at least one person says so before a lead settles an item", p.CannotJudge)
			}
		},
		"undo_seconds": func(n located) {
			var v int
			if r.decode(n, &v, "undo_seconds must be a whole number") {
				p.UndoSeconds = &v
			}
		},
		"reason_codes":        func(n located) { r.overrideReasons(n, p) },
		"high_stakes_domains": r.texts(&p.HighStakesDomains, "high_stakes_domains", "[] means that no domain has high stakes of itself; leave the key out for legal, medical, finance, safety"),
		"endpoints":           r.texts(&p.Endpoints, "endpoints", noEndpoints),
		"disagreement":        func(n located) { r.disagreement(n, p) },
		"models":              r.models(&p.Models, "models"),
		"samples":             r.samples(&p.Samples, "samples"),
		"temperature":         r.number(&p.SampleTemperature, "temperature"),
		"budget_usd":          func(n located) { r.decode(n, &p.BudgetUSD, "budget_usd must be a number") },
		"trust":               r.trust(&p.Trust, "trust"),
		"release":             func(n located) { r.release(n, p) },
		"reasons":             r.reasons(&p.Reasons, "reasons"),
		"rules": func(n located) {
			for i, item := range r.list(n, "rules") {
				p.Rules = append(p.Rules, r.rule(item, fmt.Sprintf("rule %d", i+1)))
			}
		},
	})
}

const noEndpoints = "[] means that traces are sent nowhere; leave the key out to allow each endpoint that is configured"

// rule reads one of the rules; what names it, as "rule 2".
func (r policyReader) rule(item located, what string) (rule PolicyRule) {
	of := func(key string) string { return what + ", " + key }
	r.keys(item, what, map[string]func(located){
		"judge":  func(n located) { rule.Judge = r.text(n, of("judge")) },
		"domain": func(n located) { rule.Domain = foldDomain(r.text(n, of("domain"))) },
		"band": func(n located) {
			var ends []float64
			if !r.decode(n, &ends, of("band must be two numbers such as [0.6, 0.8]")) {
				return
			}
			if len(ends) != 2 {
				r.fault(n, "%s", of("band must be two numbers such as [0.6, 0.8]"))
				return
			}
			rule.Band = &Band{Low: ends[0], Pass: ends[1]}
		},
		"below": r.number(&rule.Below, of("below")),
		"audit": func(n located) {
			r.keys(n, of("audit"), map[string]func(located){
				"random":         r.number(&rule.RandomAudit, of("audit.random")),
				"boundary":       r.number(&rule.BoundaryAudit, of("audit.boundary")),
				"boundary_width": r.number(&rule.BoundaryWidth, of("audit.boundary_width")),
			})
		},
		"endpoints": r.texts(&rule.Endpoints, of("endpoints"), noEndpoints),
		"models":    r.models(&rule.Models, of("models")),
		"samples":   r.samples(&rule.Samples, of("samples")),
		"trust":     r.trust(&rule.Trust, of("trust")),
		"reasons":   r.reasons(&rule.Reasons, of("reasons")),
		"examples": func(n located) {
			e := ExampleRule{}
			if r.keys(n, of("examples"), map[string]func(located){
				"from":  func(n located) { e.From = r.text(n, of("examples.from")) },
				"count": func(n located) { r.decode(n, &e.Count, of("examples.count must be a whole number")) },
				"seed":  func(n located) { r.decode(n, &e.Seed, of("examples.seed must be a whole number")) },
			}) {
				rule.Examples = &e
			}
		},
	})
	return rule
}

func (r policyReader) blind(n located, p *Policy) {
	mode := func(to *string, what string) func(located) {
		return func(n located) { *to = r.text(n, what) }
	}
	share := func(to *float64, what string) func(located) {
		return func(n located) { r.decode(n, to, what+" must be a number") }
	}
	given := func(n located, mode string) {
		if _, said := n.get("share"); mode == BlindByLot && !said {
			at, _ := n.get("mode") // it was said: it is not the default
			r.fault(at, "the mode share needs the share, such as {mode: share, share: 0.8}")
		}
	}
	if !r.keys(n, "blind", map[string]func(located){
		"mode": mode(&p.Blind, "blind.mode"), "share": share(&p.BlindShare, "blind.share"),
		"order": mode(&p.BlindOrder, "blind.order"),
		"rules": func(n located) {
			for i, item := range r.list(n, "blind.rules") {
				var rule BlindRule
				what := fmt.Sprintf("rule %d of blind", i+1)
				if r.keys(item, what, map[string]func(located){
					"reason": func(n located) { rule.Reason = r.text(n, what+", reason") },
					"stakes": func(n located) { rule.Stakes = Stakes(r.text(n, what+", stakes")) },
					"mode":   mode(&rule.Mode, what+", mode"), "share": share(&rule.Share, what+", share"),
				}) {
					given(item, rule.Mode)
				}
				p.BlindRules = append(p.BlindRules, rule)
			}
		},
	}) {
		return
	}
	given(n, p.Blind)
}

func (r policyReader) disagreement(n located, p *Policy) {
	d := Disagreement{Between: BetweenBoth}
	r.keys(n, "disagreement", map[string]func(located){
		"engines":  r.texts(&d.Engines, "disagreement.engines", "[] compares none; leave the key out for openai and rules"),
		"between":  func(n located) { d.Between = r.text(n, "disagreement.between") },
		"recorded": func(n located) { r.decode(n, &d.Recorded, "disagreement.recorded must be true or false") },
	})
	p.Disagreement = &d
}

func (r policyReader) models(to *[]ModelChoice, what string) func(located) {
	return func(n located) {
		items := r.list(n, what)
		if items != nil && len(items) == 0 {
			r.fault(n, "%s is empty; leave the key out for the configured model", what)
		}
		for i, item := range items {
			var m ModelChoice
			entry := fmt.Sprintf("entry %d of %s", i+1, what)
			if item.Kind == yaml.ScalarNode {
				m.Model = r.text(item, entry)
			} else {
				r.keys(item, entry, map[string]func(located){
					"model":    func(n located) { m.Model = r.text(n, entry+", model") },
					"endpoint": func(n located) { m.Endpoint = r.text(n, entry+", endpoint") },
				})
			}
			*to = append(*to, m)
		}
	}
}

// reasons reads switches: on, off, the list of stakes for which a reason is on, or
// a value for each.
func (r policyReader) reasons(to *map[string]Switch, what string) func(located) {
	return func(n located) {
		if n.Kind != yaml.MappingNode {
			r.fault(n, "%s must be a mapping such as {below_threshold: [high, standard], random_audit: off}", what)
			return
		}
		*to = map[string]Switch{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			key, value := located{n.Content[i], n.file}, located{n.Content[i+1], n.file}
			if _, twice := (*to)[key.Value]; twice {
				r.fault(key, "the key %q is given twice", key.Value)
				continue
			}
			(*to)[key.Value] = r.switched(value, what+"."+key.Value)
		}
		if len(*to) == 0 {
			*to = nil
		}
	}
}

func (r policyReader) switched(n located, code string) (s Switch) {
	switch n.Kind {
	case yaml.SequenceNode:
		s = Switch{High: SwitchOff, Standard: SwitchOff}
		for _, item := range n.items() {
			switch Stakes(item.Value) {
			case HighStakes:
				s.High = SwitchOn
			case StandardStakes:
				s.Standard = SwitchOn
			default:
				r.fault(item, "%s: %q is neither high nor standard", code, item.Value)
			}
		}
	case yaml.MappingNode:
		r.keys(n, code, map[string]func(located){
			"high":     func(n located) { s.High = r.switchValue(n, code) },
			"standard": func(n located) { s.Standard = r.switchValue(n, code) },
		})
	default:
		v := r.switchValue(n, code)
		s = Switch{High: v, Standard: v}
	}
	return s
}

func (r policyReader) switchValue(n located, code string) string {
	switch v := r.text(n, code); v {
	case "true":
		return SwitchOn
	case "false":
		return SwitchOff
	default:
		return v
	}
}

// list is the elements of a sequence, nil where n is none.
func (r policyReader) list(n located, what string) []located {
	if n.Kind != yaml.SequenceNode {
		r.fault(n, "%s must be a list", what)
		return nil
	}
	return n.items()
}

// texts reads a list of texts. empty says what [] and a missing key mean, for who
// wrote neither.
func (r policyReader) texts(to *[]string, what, empty string) func(located) {
	return func(n located) {
		if n.Kind != yaml.SequenceNode {
			r.fault(n, "%s must be a list; %s", what, empty)
			return
		}
		*to = []string{}
		for i, item := range n.items() {
			*to = append(*to, r.text(item, fmt.Sprintf("entry %d of %s", i+1, what)))
		}
	}
}

// samples is left out or a number: 0, which is what left out is stored as, is none.
func (r policyReader) samples(to *int, what string) func(located) {
	return func(n located) {
		if r.decode(n, to, what+" must be a whole number") && *to == 0 {
			r.fault(n, "%s is 0: %s", what, samplesLie)
		}
	}
}

func (r policyReader) number(to **float64, what string) func(located) {
	return func(n located) {
		var v float64
		if n.Tag != "!!null" && r.decode(n, &v, what+" must be a number") {
			*to = &v
		} else if n.Tag == "!!null" {
			r.fault(n, "%s must be a number", what)
		}
	}
}
