package judge

import (
	"regexp"
	"slices"
	"strings"
)

// placeholderFields maps a placeholder's name to the trace field it stands for.
var placeholderFields = map[string]string{
	"QUESTION":               "question",
	"CANDIDATE_OUTPUT":       "output",
	"REASONING_TRACE":        "output",
	"REFERENCE_OUTPUT":       "reference",
	"REFERENCE_SOLUTION":     "reference",
	"PREMISES":               "premises",
	"CONCLUSION":             "conclusion",
	"SOURCE_DOCUMENTS":       "sources",
	"SOURCE_CONTEXT":         "sources",
	"PREMISE_CONTEXT":        "sources",
	"CONSTRAINTS":            "constraints",
	"ADDITIONAL_CONSTRAINTS": "constraints",
}

// Fields lists the trace fields that a judge can read.
func Fields() []string {
	return []string{"question", "output", "reference", "premises", "conclusion", "sources", "constraints"}
}

// PlaceholderField is the trace field that [name] stands for; ok is false when
// no field has that placeholder.
func PlaceholderField(name string) (field string, ok bool) {
	field, ok = placeholderFields[name]
	return field, ok
}

// PlaceholderNames lists the placeholders of trace fields in order.
func PlaceholderNames() []string {
	list := make([]string, 0, len(placeholderFields))
	for name := range placeholderFields {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// placeholderPattern matches [NAME]; sectionPattern a line that opens or closes
// an optional section: [IF NAME] … [END NAME].
var (
	placeholderPattern = regexp.MustCompile(`\[([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)\]`)
	sectionPattern     = regexp.MustCompile(`^[ \t]*\[(IF|END) ([A-Z][A-Z0-9_]*)\][ \t]*$`)
)

// Placeholder is one place of a template that a value goes to.
type Placeholder struct {
	Name string
	Line int // of the template, from 1
}

// Placeholders finds those of a template, section marks included.
func Placeholders(template string) []Placeholder {
	var found []Placeholder
	for i, line := range strings.Split(template, "\n") {
		if m := sectionPattern.FindStringSubmatch(line); m != nil {
			found = append(found, Placeholder{Name: m[2], Line: i + 1})
			continue
		}
		for _, m := range placeholderPattern.FindAllStringSubmatch(line, -1) {
			found = append(found, Placeholder{Name: m[1], Line: i + 1})
		}
	}
	return found
}
