package judge

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/countersign/countersign/judge/fold"
)

// generalCheck is a check that a definition can ask for without Go. Exactly one
// of its four kinds is set. The exported form is what the prompt version counts.
type generalCheck struct {
	Name string
	Kind CheckKind

	Quote pointerPath // its text occurs in the field In of the trace
	In    string

	Sum, Mean pointerPath // of these numbers…
	Equals    pointerPath // …is this number, give or take Within
	Within    float64

	When     pointerPath // when the value here is WhenIs,
	WhenIs   any
	Requires pointerPath // something must be here
}

func (p *parser) checkList(n located) {
	if n.Node == nil {
		return
	}
	if n.Kind != yaml.SequenceNode {
		p.fault(n, "checks must be a list")
		return
	}
	for _, item := range n.items() {
		before := len(p.faults)
		c := p.check(item)
		if len(p.faults) > before {
			continue
		}
		if slices.ContainsFunc(p.checks, func(o generalCheck) bool { return o.Name == c.Name }) {
			p.fault(item, "the check %q is given twice", c.Name)
			continue
		}
		p.checks = append(p.checks, c)
		p.judge.Checks = append(p.judge.Checks, Check{Name: c.Name, Kind: c.Kind, Run: c.run})
	}
}

func (p *parser) check(item located) generalCheck {
	var c generalCheck
	at := func(to *pointerPath, key string) func(located) {
		return func(n located) { *to = p.optional(n, key) }
	}
	if !p.keys(item, "a check", map[string]func(located){
		"name": func(n located) { c.Name = p.text(n, "a check's name") },
		"kind": func(n located) {
			if c.Kind = CheckKind(n.Value); c.Kind != Hard && c.Kind != Soft {
				p.fault(n, "a check's kind must be hard or soft")
			}
		},
		"quote": at(&c.Quote, "quote"),
		"in": func(n located) {
			if c.In = n.Value; !slices.Contains(Fields(), c.In) {
				p.fault(n, "in must be a field of a trace: %s", strings.Join(Fields(), ", "))
			}
		},
		"sum":    at(&c.Sum, "sum"),
		"mean":   at(&c.Mean, "mean"),
		"equals": at(&c.Equals, "equals"),
		"within": func(n located) {
			if p.decode(n, &c.Within, "within must be a number") && !(c.Within >= 0 && c.Within < math.Inf(1)) {
				p.fault(n, "within must be 0 or more")
			}
		},
		"when":     func(n located) { p.when(n, &c) },
		"requires": at(&c.Requires, "requires"),
	}) {
		return c
	}
	switch {
	case c.Name == "":
		p.fault(item, "a check has no name")
	case !judgeName.MatchString(c.Name):
		p.fault(item, "the check's name %q must be letters, digits, dots, - or _", c.Name)
	}
	if _, given := item.get("kind"); !given {
		p.fault(item, "the check %q has no kind; write hard or soft", c.Name)
	}
	p.oneKind(item)
	return c
}

// oneKind holds a check to one of the four forms, with all its keys.
func (p *parser) oneKind(item located) {
	forms := map[string][]string{"quote": {"in"}, "sum": {"equals"}, "mean": {"equals"}, "when": {"requires"}}
	given := func(key string) bool { _, ok := item.get(key); return ok }
	var form string
	for _, key := range sortedKeys(forms) {
		if !given(key) {
			continue
		}
		if form != "" {
			p.fault(item, "a check has one of quote, sum, mean and when; this one has %s and %s", form, key)
			return
		}
		form = key
	}
	if form == "" {
		p.fault(item, "a check needs quote and in, or sum and equals, or mean and equals, or when and requires")
		return
	}
	allowed := append([]string{"name", "kind", form}, forms[form]...)
	if form == "sum" || form == "mean" {
		allowed = append(allowed, "within")
	}
	for _, key := range forms[form] {
		if !given(key) {
			p.fault(item, "a check with %s needs %s", form, key)
		}
	}
	for i := 0; i+1 < len(item.Content); i += 2 {
		key := item.Content[i]
		if !slices.Contains(allowed, key.Value) && slices.Contains([]string{"in", "equals", "within", "requires"}, key.Value) {
			p.fault(located{key, item.file}, "%s does not go with %s", key.Value, form)
		}
	}
}

func (p *parser) when(n located, c *generalCheck) {
	p.keys(n, "when", map[string]func(located){
		"pointer": func(n located) { c.When = p.optional(n, "when.pointer") },
		"equals": func(n located) {
			text, fault := n.appendJSON(nil)
			if fault != nil {
				p.faults = append(p.faults, fault)
				return
			}
			if err := json.Unmarshal(text, &c.WhenIs); err != nil {
				p.fault(n, "when.equals: %v", err)
			}
		},
	})
	for _, key := range []string{"pointer", "equals"} {
		if _, given := n.get(key); !given {
			p.fault(n, "when needs %s", key)
		}
	}
}

// run is the check's Check.Run.
func (c generalCheck) run(report json.RawMessage, t *Trace) (faults []string, skipped bool) {
	var doc any
	if err := json.Unmarshal(report, &doc); err != nil {
		return []string{"the report is not valid JSON: " + err.Error()}, false
	}
	switch {
	case c.Quote != nil:
		return c.runQuote(doc, t)
	case c.When != nil:
		return c.runWhen(doc)
	}
	return c.runNumbers(doc)
}

// runQuote: the whole text, or else each quotation in it, must occur in the
// field (see quotedIn).
func (c generalCheck) runQuote(doc any, t *Trace) (faults []string, skipped bool) {
	found := c.Quote.find(doc)
	if len(found) == 0 || !HasField(t, c.In) {
		return nil, true
	}
	var texts []string
	for _, text := range FieldTexts(t, c.In) {
		texts = append(texts, fold.Text(text).Text)
	}
	occurs := func(s string) bool { return quotedIn(texts, s) }
	for _, f := range found {
		text, ok := f.value.(string)
		if !ok {
			continue
		}
		if occurs(text) {
			continue
		}
		quoted := quotedParts(text)
		if len(quoted) == 0 {
			faults = append(faults, fmt.Sprintf("%s: it quotes nothing from the %s", f.at, c.In))
		}
		for _, q := range quoted {
			if !occurs(q) {
				faults = append(faults, fmt.Sprintf("%s: %q does not occur in the %s", f.at, q, c.In))
			}
		}
	}
	return faults, false
}

// FieldTexts are the texts of an input field: one, or those of a list.
func FieldTexts(t *Trace, field string) []string {
	switch field {
	case "question":
		return []string{t.Question}
	case "output":
		return []string{t.Output}
	case "reference":
		return []string{t.Reference}
	case "conclusion":
		return []string{t.Conclusion}
	case "premises":
		return t.Premises
	case "constraints":
		return t.Constraints
	case "sources":
		list := make([]string, len(t.Sources))
		for i, s := range t.Sources {
			list[i] = s.Text
		}
		return list
	}
	return nil
}

func (c generalCheck) runNumbers(doc any) (faults []string, skipped bool) {
	of, word := c.Sum, "sum"
	if c.Mean != nil {
		of, word = c.Mean, "mean"
	}
	said := c.Equals.find(doc)
	parts := of.find(doc)
	if len(said) == 0 || (len(parts) == 0 && c.Mean != nil) {
		return nil, true
	}
	total := 0.0
	for _, part := range parts {
		n, ok := number(part.value)
		if !ok {
			return []string{fmt.Sprintf("%s: %s is not a number", part.at, scalarText(part.value))}, false
		}
		total += n
	}
	if c.Mean != nil {
		total /= float64(len(parts))
	}
	n, ok := number(said[0].value)
	if !ok {
		return []string{fmt.Sprintf("%s: %s is not a number", said[0].at, scalarText(said[0].value))}, false
	}
	if math.Abs(n-total) > c.Within+epsilon {
		return []string{fmt.Sprintf("%s: it is %v, but the %s of /%s is %.6g", said[0].at, n, word, strings.Join(of, "/"), total)}, false
	}
	return nil, false
}

func (c generalCheck) runWhen(doc any) (faults []string, skipped bool) {
	found := c.When.find(doc)
	if len(found) == 0 {
		return nil, true
	}
	want := scalarText(c.WhenIs)
	for _, f := range found {
		if scalarText(f.value) != want {
			continue
		}
		ok := slices.ContainsFunc(c.Requires.find(doc), func(r place) bool {
			switch r.value.(type) {
			case bool, float64:
				return true
			}
			return holdsSomething(r.value)
		})
		if !ok {
			faults = append(faults, fmt.Sprintf("/%s: it is missing or empty although %s is %s", strings.Join(c.Requires, "/"), f.at, want))
		}
	}
	return faults, false
}
