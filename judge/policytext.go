package judge

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// YAML writes a policy as ParsePolicy reads it: the whole of it, and of what has a
// default only what was said.
func (p Policy) YAML() []byte {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	err := enc.Encode(p.node())
	if err == nil {
		err = enc.Close()
	}
	if err != nil { // scalars, lists and mappings always encode
		panic(fmt.Sprintf("judge: a policy cannot be written: %v", err))
	}
	return b.Bytes()
}

func (p Policy) node() *yaml.Node {
	root := &yaml.Node{Kind: yaml.MappingNode}
	if p.Version != 0 {
		put(root, "version", whole(p.Version))
	}
	audit := flow(yaml.MappingNode)
	put(audit, "random", decimal(p.RandomAudit))
	put(audit, "boundary", decimal(p.BoundaryAudit))
	putDecimal(audit, "boundary_width", p.BoundaryWidth)
	put(audit, "seed", word(p.Seed))
	put(root, "audit", audit)
	put(root, "blind", p.blindNode())
	p.putDue(root)
	putAssignment(root, p.Assignment)
	put(root, "lease_minutes", whole(p.LeaseMinutes))
	if p.Opinions != nil {
		put(root, "opinions", p.Opinions.node())
	}
	if p.CannotJudge != 0 {
		put(root, "cannot_judge", whole(p.CannotJudge))
	}
	if p.UndoSeconds != nil {
		put(root, "undo_seconds", whole(*p.UndoSeconds))
	}
	putOverrideReasons(root, p.OverrideReasons)
	putWords(root, "high_stakes_domains", p.HighStakesDomains)
	putWords(root, "endpoints", p.Endpoints)
	if d := p.Disagreement; d != nil {
		n := flow(yaml.MappingNode)
		putWords(n, "engines", d.Engines)
		put(n, "between", word(d.Between))
		put(n, "recorded", plain("!!bool", strconv.FormatBool(d.Recorded)))
		put(root, "disagreement", n)
	}
	putModels(root, p.Models)
	if p.Samples != 0 {
		put(root, "samples", whole(p.Samples))
	}
	putDecimal(root, "temperature", p.SampleTemperature)
	if p.BudgetUSD != 0 {
		put(root, "budget_usd", decimal(p.BudgetUSD))
	}
	putTrust(root, p.Trust)
	putRelease(root, p.Release)
	putReasons(root, p.Reasons)
	if len(p.Rules) > 0 {
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, r := range p.Rules {
			list.Content = append(list.Content, r.node())
		}
		put(root, "rules", list)
	}
	return root
}

func (p Policy) blindNode() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	put(n, "mode", word(p.Blind))
	put(n, "share", decimal(p.BlindShare))
	if p.BlindOrder != "" {
		put(n, "order", word(p.BlindOrder))
	}
	if len(p.BlindRules) == 0 {
		n.Style = yaml.FlowStyle
		return n
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, r := range p.BlindRules {
		rule := flow(yaml.MappingNode)
		if r.Reason != "" {
			put(rule, "reason", word(r.Reason))
		}
		if r.Stakes != "" {
			put(rule, "stakes", word(string(r.Stakes)))
		}
		put(rule, "mode", word(r.Mode))
		if r.Mode == BlindByLot || r.Share != 0 {
			put(rule, "share", decimal(r.Share))
		}
		list.Content = append(list.Content, rule)
	}
	put(n, "rules", list)
	return n
}

func (r PolicyRule) node() *yaml.Node {
	n := &yaml.Node{Kind: yaml.MappingNode}
	if r.Judge != "" {
		put(n, "judge", word(r.Judge))
	}
	if r.Domain != "" {
		put(n, "domain", word(r.Domain))
	}
	if b := r.Band; b != nil {
		ends := flow(yaml.SequenceNode)
		ends.Content = []*yaml.Node{decimal(b.Low), decimal(b.Pass)}
		put(n, "band", ends)
	}
	putDecimal(n, "below", r.Below)
	audit := flow(yaml.MappingNode)
	putDecimal(audit, "random", r.RandomAudit)
	putDecimal(audit, "boundary", r.BoundaryAudit)
	putDecimal(audit, "boundary_width", r.BoundaryWidth)
	if len(audit.Content) > 0 {
		put(n, "audit", audit)
	}
	putWords(n, "endpoints", r.Endpoints)
	putModels(n, r.Models)
	if r.Samples != 0 {
		put(n, "samples", whole(r.Samples))
	}
	if e := r.Examples; e != nil {
		drawn := flow(yaml.MappingNode)
		put(drawn, "from", word(e.From))
		put(drawn, "count", whole(e.Count))
		put(drawn, "seed", plain("!!int", strconv.FormatInt(e.Seed, 10)))
		put(n, "examples", drawn)
	}
	putTrust(n, r.Trust)
	putReasons(n, r.Reasons)
	return n
}

func putReasons(to *yaml.Node, reasons map[string]Switch) {
	if len(reasons) == 0 {
		return
	}
	n := &yaml.Node{Kind: yaml.MappingNode}
	for _, code := range sortedKeys(reasons) {
		put(n, code, reasons[code].node())
	}
	put(to, "reasons", n)
}

// node writes a switch in the shortest form that says the same.
func (s Switch) node() *yaml.Node {
	listed := func(v string) bool { return v == SwitchOn || v == SwitchOff }
	switch {
	case s.High == s.Standard:
		return word(s.High)
	case listed(s.High) && listed(s.Standard):
		n, stakes := flow(yaml.SequenceNode), HighStakes
		if s.Standard == SwitchOn {
			stakes = StandardStakes
		}
		n.Content = []*yaml.Node{word(string(stakes))}
		return n
	}
	n := flow(yaml.MappingNode)
	if s.High != "" {
		put(n, "high", word(s.High))
	}
	if s.Standard != "" {
		put(n, "standard", word(s.Standard))
	}
	return n
}

func putModels(to *yaml.Node, models []ModelChoice) {
	if len(models) == 0 {
		return
	}
	list := flow(yaml.SequenceNode)
	for _, m := range models {
		n := word(m.Model)
		if m.Endpoint != "" {
			n = flow(yaml.MappingNode)
			put(n, "model", word(m.Model))
			put(n, "endpoint", word(m.Endpoint))
		}
		list.Content = append(list.Content, n)
	}
	put(to, "models", list)
}

// putWords writes a list that may be there and empty.
func putWords(to *yaml.Node, key string, words []string) {
	if words == nil {
		return
	}
	list := flow(yaml.SequenceNode)
	for _, w := range words {
		list.Content = append(list.Content, word(w))
	}
	put(to, key, list)
}

func putDecimal(to *yaml.Node, key string, v *float64) {
	if v != nil {
		put(to, key, decimal(*v))
	}
}

func put(mapping *yaml.Node, key string, value *yaml.Node) {
	mapping.Content = append(mapping.Content, word(key), value)
}

func flow(kind yaml.Kind) *yaml.Node { return &yaml.Node{Kind: kind, Style: yaml.FlowStyle} }

// word is a text; the encoder quotes what would read as something else.
func word(s string) *yaml.Node {
	n := &yaml.Node{}
	n.SetString(s)
	return n
}

func whole(v int) *yaml.Node { return plain("!!int", strconv.Itoa(v)) }

// decimal has no tag of floats where it is a whole number, which the encoder would
// write out.
func decimal(v float64) *yaml.Node {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".eN") {
		return plain("!!int", text)
	}
	return plain("!!float", text)
}

func plain(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}
