package judge

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// reportPlaces says where an own judge's report holds what every judge yields.
type reportPlaces struct {
	label, score, critical pointerPath
	low, high              float64 // the scale of score; 0 and 1 when not said
}

// canonical is the places as the prompt version counts them.
func (r reportPlaces) canonical() []any {
	return []any{r.label, r.score, r.low, r.high, r.critical}
}

func (p *parser) reportPlaces(n, root located) {
	p.report.high = 1
	if n.Node == nil {
		p.fault(root, "report is missing; say where the label or the score is, such as {label: /verdict}")
		return
	}
	var labelNode located
	if !p.keys(n, "report", map[string]func(located){
		"label": func(n located) { labelNode, p.report.label = n, p.pointer(n, "report.label") },
		"score": func(n located) {
			if n.Kind != yaml.MappingNode {
				p.report.score = p.pointer(n, "report.score")
				return
			}
			const msg = "must be a number"
			p.keys(n, "report.score", map[string]func(located){
				"pointer": func(n located) { p.report.score = p.pointer(n, "report.score") },
				"min":     func(n located) { p.decode(n, &p.report.low, "min "+msg) },
				"max":     func(n located) { p.decode(n, &p.report.high, "max "+msg) },
			})
			if _, given := n.get("pointer"); !given {
				p.fault(n, "report.score has no pointer")
			}
			if !(p.report.low < p.report.high) || math.IsInf(p.report.low, 0) || math.IsInf(p.report.high, 0) {
				p.fault(n, "report.score: min must be less than max")
			}
		},
		"critical": func(n located) { p.report.critical = p.optional(n, "report.critical") },
	}) {
		return
	}
	if _, label := n.get("label"); !label {
		if _, score := n.get("score"); !score {
			p.fault(n, "report must say where the label or the score is")
		}
		return
	}
	if len(p.judge.Labels) == 0 {
		p.fault(labelNode, "report.label needs labels; list the judge's classes under labels, best first")
		return
	}
	p.labelsInSchema()
}

// labelsInSchema refuses values that the schema allows for the label and that
// are no labels.
func (p *parser) labelsInSchema() {
	if p.report.label == nil || p.schema.Node == nil {
		return
	}
	for _, s := range p.report.label.inSchema(p.schema) {
		allowed := []located{}
		if enum, ok := s.get("enum"); ok {
			allowed = enum.items()
		} else if c, ok := s.get("const"); ok {
			allowed = append(allowed, c)
		}
		for _, value := range allowed {
			if value.Tag == "!!null" {
				continue
			}
			if _, ok := p.judge.LabelNamed(value.Value); !ok {
				p.fault(value, "the schema allows the label %q, which is not among labels (%s)", value.Value, strings.Join(labelNames(p.judge.Labels), ", "))
			}
		}
	}
}

func labelNames(labels []Label) []string {
	list := make([]string, len(labels))
	for i, l := range labels {
		list[i] = l.Name
	}
	return list
}

// reading gives the function that reads an own judge's report.
func (p *parser) reading() func(json.RawMessage, *Trace) (Reading, error) {
	places, labels := p.report, slices.Clone(p.judge.Labels)
	return func(report json.RawMessage, _ *Trace) (Reading, error) {
		return places.read(report, labels)
	}
}

// read turns a report into its normalised result. Without a score a label
// counts 1 for pass, 0.5 for borderline and 0 for fail.
func (r reportPlaces) read(report json.RawMessage, labels []Label) (Reading, error) {
	var doc any
	if err := json.Unmarshal(report, &doc); err != nil {
		return Reading{}, fmt.Errorf("the report is not valid JSON: %w", err)
	}
	var got Reading
	if r.label != nil {
		found := r.label.find(doc)
		if len(found) == 0 {
			return Reading{}, fmt.Errorf("/%s: the report gives no label", strings.Join(r.label, "/"))
		}
		name := scalarText(found[0].value)
		i := slices.IndexFunc(labels, func(l Label) bool { return l.Name == name })
		if i < 0 {
			return Reading{}, fmt.Errorf("%s: the label %q is not one of %s", found[0].at, name, strings.Join(labelNames(labels), ", "))
		}
		got.Label, got.Verdict = labels[i].Name, labels[i].Verdict
		switch labels[i].Verdict {
		case Pass:
			got.Score = 1
		case Borderline:
			got.Score = 0.5
		}
	}
	if r.score != nil {
		switch found := r.score.find(doc); {
		case len(found) > 0:
			value, ok := number(found[0].value)
			if !ok || value < r.low-epsilon || value > r.high+epsilon {
				return Reading{}, fmt.Errorf("%s: the score %s must be a number from %v to %v", found[0].at, scalarText(found[0].value), r.low, r.high)
			}
			got.Score = (value - r.low) / (r.high - r.low)
		case r.label == nil:
			return Reading{}, fmt.Errorf("/%s: the report gives no score", strings.Join(r.score, "/"))
		}
	}
	for _, found := range r.critical.findAll(doc) {
		if holdsSomething(found.value) {
			got.Critical = true
			got.Findings = append(got.Findings, Finding{
				Class: "critical_error", Severity: "critical", Explanation: criticalText(found.value),
			})
		}
	}
	return got, nil
}

func (p pointerPath) findAll(doc any) []place {
	if p == nil {
		return nil
	}
	return p.find(doc)
}

// holdsSomething: true, a number that is not 0, and what is not empty.
func holdsSomething(v any) bool {
	switch v := v.(type) {
	case bool:
		return v
	case float64:
		return v != 0
	case string:
		return strings.TrimSpace(v) != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return false
}

func criticalText(v any) string {
	if _, flag := v.(bool); flag {
		return "the report marks a critical error"
	}
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil { // it was decoded from JSON
		panic(err)
	}
	return string(b)
}

// scalarText is a label as labels are written in a definition.
func scalarText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		return strconv.FormatBool(v)
	}
	b, err := json.Marshal(v)
	if err != nil { // it was decoded from JSON
		panic(err)
	}
	return string(b)
}
