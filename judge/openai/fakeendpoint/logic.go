package fakeendpoint

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// dimension of the rubric that the prompt shows.
type dimension struct {
	name    string
	fallacy string // the first of those it lists; empty when it lists none
}

var (
	dimensionHead = regexp.MustCompile(`^([a-z][a-z0-9_-]*): \S`)
	bestAnchor    = regexp.MustCompile(`^\s+5: `)
	fallacies     = regexp.MustCompile(`^\s+fallacies: ([^,\n]+)`)
)

// rubric reads the dimensions: a line of name and question, then the anchors
// from 5 down.
func (m *material) rubric() []dimension {
	var found []dimension
	before := ""
	for line := range strings.Lines(m.user) {
		line = strings.TrimRight(line, "\n")
		if head := dimensionHead.FindStringSubmatch(before); head != nil && bestAnchor.MatchString(line) {
			found = append(found, dimension{name: head[1]})
		}
		if f := fallacies.FindStringSubmatch(line); f != nil && len(found) > 0 {
			found[len(found)-1].fallacy = strings.TrimSpace(f[1])
		}
		before = line
	}
	names := m.dimensionNames()
	if names == nil {
		return found
	}
	return slices.DeleteFunc(found, func(d dimension) bool { return !slices.Contains(names, d.name) })
}

// dimensionNames are those that the schema itself lists; nil when it lists none.
func (m *material) dimensionNames() []string {
	var s struct {
		Properties struct {
			Scores struct {
				Properties map[string]json.RawMessage `json:"properties"`
			} `json:"dimension_scores"`
		} `json:"properties"`
	}
	if json.Unmarshal(m.schema, &s) != nil {
		return nil
	}
	var names []string
	for name := range s.Properties.Scores.Properties {
		names = append(names, name)
	}
	return names
}

// verbatim is the beginning of a step as it stands in the trace.
func verbatim(step string) string {
	step = strings.TrimSpace(step)
	step, _, _ = strings.Cut(step, "\n")
	for len(step) > 120 || !utf8.ValidString(step) {
		_, size := utf8.DecodeLastRuneInString(step)
		step = step[:len(step)-size]
	}
	return step
}

// marks a dimension gets and how grave its violation is.
var (
	scores     = []float64{5, 3, 2}
	severities = []string{"", "minor", "critical"}
)

// rubricReport is the report of the judge logic.
func rubricReport(m *material, o opinion, wrong bool) any {
	cited := verbatim(stepTexts(m.output())[0])
	byName := map[string]any{}
	for _, d := range m.rubric() {
		violations := []any{}
		if o != good {
			violations = append(violations, map[string]any{
				"step_citation": cited, "explanation": "it does not follow", "fallacy_type": d.fallacyOrNil(), "severity": severities[o],
			})
		}
		byName[d.name] = map[string]any{"violations": violations, "score": scores[o]}
	}
	overall := scores[o]
	if wrong {
		overall--
	}
	return map[string]any{"dimension_scores": byName, "overall_validity_score": overall, "overall_assessment": "as the dimensions say"}
}

// violationsReport is the report of the judge logic-steps.
func violationsReport(m *material, o opinion, wrong bool) any {
	steps := stepTexts(m.output())
	var marks, violations []any
	for i, d := range m.rubric() {
		marks = append(marks, map[string]any{"dimension": d.name, "rationale": "as the steps show", "score": scores[o]})
		if o == good {
			continue
		}
		rule := "what follows must follow from what was said"
		if d.fallacy != "" {
			rule = d.fallacy
		}
		at := i % len(steps)
		violations = append(violations, map[string]any{
			"step_index": at + 1, "step_citation": verbatim(steps[at]), "dimension": d.name, "rule_violated": rule,
			"description": "it does not follow", "severity": severities[o],
		})
	}
	overall := scores[o]
	if wrong {
		overall--
	}
	return map[string]any{"violations": list(violations), "dimension_scores": list(marks), "validity_score": overall}
}

func (d dimension) fallacyOrNil() any {
	if d.fallacy == "" {
		return nil
	}
	return d.fallacy
}
