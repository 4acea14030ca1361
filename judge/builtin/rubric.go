package builtin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
)

// rubricText is the rubric as the prompt shows it.
func rubricText(r judge.Rubric) string {
	var b strings.Builder
	for i, d := range r {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s.\n", d.Name, d.Check)
		for score := judge.MaxScore; score >= 1; score-- {
			fmt.Fprintf(&b, "  %d: %s\n", score, d.Anchors[score-1])
		}
		if len(d.Fallacies) > 0 {
			fmt.Fprintf(&b, "  fallacies: %s\n", strings.Join(d.Fallacies, ", "))
		}
	}
	return b.String()
}

// DefaultRubric is the one that logic and logic-steps have unless a project gives
// its own. The slice is the caller's own.
func DefaultRubric() judge.Rubric {
	r, err := judge.ParseRubric("logic/rubric.yaml", content("logic/rubric.yaml"))
	if err != nil {
		panic("builtin: " + err.Error())
	}
	return r
}

// examplesFor are the worked examples of the default rubric, with a word where a
// project's has other dimensions: a model would else copy theirs.
func examplesFor(r judge.Rubric, examples string) string {
	same := func(a, b judge.Dimension) bool { return a.Name == b.Name }
	if slices.EqualFunc(r, DefaultRubric(), same) {
		return examples
	}
	names := make([]string, len(r))
	for i, d := range r {
		names[i] = d.Name
	}
	return "These were judged by another rubric. Only their form and their strictness count here: your report has the dimensions " +
		strings.Join(names, ", ") + " and no others.\n\n" + examples
}

// logicSchema is the schema of logic's report with the rubric's dimensions as
// properties, so that an endpoint can be held to them. None is required and
// others are let through: the check dimensions.complete says what is missing or
// too many better than a schema does.
func logicSchema(r judge.Rubric) []byte {
	var properties bytes.Buffer
	properties.WriteByte('{')
	for i, d := range r {
		if i > 0 {
			properties.WriteByte(',')
		}
		name, err := json.Marshal(d.Name)
		if err != nil { // a string always encodes
			panic("builtin: " + err.Error())
		}
		properties.Write(name)
		properties.WriteByte(':')
		properties.Write(bytes.TrimSpace(content("logic/dimension.json")))
	}
	properties.WriteByte('}')
	return bytes.Replace(content("logic/schema.json"), []byte(`{"[DIMENSION]": {}}`), properties.Bytes(), 1)
}
