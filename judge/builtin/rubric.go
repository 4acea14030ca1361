package builtin

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// dimension is one line of a rubric.
type dimension struct {
	Name      string         `yaml:"name"`
	Check     string         `yaml:"check"`
	Anchors   map[int]string `yaml:"anchors"` // what 1 to 5 mean
	Fallacies []string       `yaml:"fallacies"`
}

// rubric lists the dimensions in order.
type rubric []dimension

func parseRubric(data []byte) (rubric, error) {
	var r rubric
	if err := yaml.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("rubric: %w", err)
	}
	for _, d := range r {
		for score := 1; score <= 5; score++ {
			if d.Name == "" || d.Anchors[score] == "" {
				return nil, fmt.Errorf("rubric: dimension %q has no anchor for %d", d.Name, score)
			}
		}
	}
	if len(r) == 0 {
		return nil, fmt.Errorf("rubric: it has no dimension")
	}
	return r, nil
}

// text is the rubric as the prompt shows it.
func (r rubric) text() string {
	var b strings.Builder
	for i, d := range r {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s: %s.\n", d.Name, d.Check)
		for score := 5; score >= 1; score-- {
			fmt.Fprintf(&b, "  %d: %s\n", score, d.Anchors[score])
		}
		if len(d.Fallacies) > 0 {
			fmt.Fprintf(&b, "  fallacies: %s\n", strings.Join(d.Fallacies, ", "))
		}
	}
	return b.String()
}

func (r rubric) has(name string) bool {
	for _, d := range r {
		if d.Name == name {
			return true
		}
	}
	return false
}

// defaultRubric is the one of the built-in judges.
func defaultRubric() rubric {
	r, err := parseRubric(content("logic/rubric.yaml"))
	if err != nil {
		panic("builtin: " + err.Error())
	}
	return r
}
