package judge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Rubric lists the dimensions by which logic is judged, in order.
type Rubric []Dimension

// Dimension is one question of a rubric, scored from 1 (critically flawed) to 5
// (sound).
type Dimension struct {
	Name  string
	Check string // what is asked, in a sentence without a full stop
	// Anchors say what the scores mean: Anchors[0] is that of 1.
	Anchors [MaxScore]string
	// Fallacies of the dimension by their names; where there are some, each
	// violation is to name one.
	Fallacies []string
}

// MaxScore is the best score of a dimension; 1 is the worst.
const MaxScore = 5

// Named finds a dimension by its exact name.
func (r Rubric) Named(name string) (Dimension, bool) {
	for _, d := range r {
		if d.Name == name {
			return d, true
		}
	}
	return Dimension{}, false
}

// maxDimensions keeps a report, and the reading of it by a person, within reason.
const maxDimensions = 24

// ParseRubric reads a rubric from YAML: a list of dimensions, each with name,
// check, anchors for 1 to 5, and fallacies where it has some. The error joins every
// fault found, each a *DefinitionError with its line.
func ParseRubric(file string, data []byte) (Rubric, error) {
	if len(data) > maxDefinition {
		return nil, &DefinitionError{File: file, Msg: fmt.Sprintf("the file has %d bytes; a rubric has at most %d", len(data), maxDefinition)}
	}
	root, fault := parseYAML(file, data)
	if fault != nil {
		return nil, fault
	}
	p := &parser{file: file}
	r := p.rubric(root)
	if len(p.faults) == 0 {
		return r, nil
	}
	slices.SortStableFunc(p.faults, func(a, b *DefinitionError) int { return cmp.Compare(a.Line, b.Line) })
	errs := make([]error, len(p.faults))
	for i, f := range p.faults {
		errs[i] = f
	}
	return nil, errors.Join(errs...)
}

func (p *parser) rubric(root located) Rubric {
	if root.Kind != yaml.SequenceNode || len(root.Content) == 0 {
		p.fault(root, "a rubric is a list of dimensions, each with name, check and anchors")
		return nil
	}
	if len(root.Content) > maxDimensions {
		p.fault(root, "a rubric has at most %d dimensions; this has %d", maxDimensions, len(root.Content))
		return nil
	}
	var r Rubric
	first := map[string]int{}
	for _, n := range root.items() {
		d, at := p.dimension(n)
		if line, twice := first[d.Name]; twice {
			p.fault(at, "the dimension %s is already given in line %d", d.Name, line)
		} else if d.Name != "" {
			first[d.Name] = at.Line
		}
		r = append(r, d)
	}
	return r
}

// dimension reads one; at is where its name stands.
func (p *parser) dimension(n located) (d Dimension, at located) {
	at = n
	var anchors located
	if !p.keys(n, "a dimension", map[string]func(located){
		"name":      func(v located) { d.Name, at = p.text(v, "name"), v },
		"check":     func(v located) { d.Check = strings.TrimRight(p.line(v, "check"), " .") },
		"anchors":   func(v located) { anchors = v },
		"fallacies": func(v located) { d.Fallacies = p.fallacies(v) },
	}) {
		return d, at
	}
	switch {
	case d.Name == "":
		p.fault(n, "a dimension has no name")
	case !judgeName.MatchString(d.Name):
		p.fault(at, "the name %q must be 1 to 64 letters, digits, dots, - or _, the first a letter or digit", d.Name)
	}
	if d.Check == "" {
		p.fault(at, "dimension %s: check is missing; say in a sentence what is asked", d.Name)
	}
	if anchors.Node == nil {
		p.fault(at, "dimension %s: anchors are missing; say what each score from 1 to %d means", d.Name, MaxScore)
		return d, at
	}
	handle := map[string]func(located){}
	for i := range d.Anchors {
		score := fmt.Sprint(i + 1)
		handle[score] = func(v located) { d.Anchors[i] = p.line(v, "anchor "+score) }
	}
	if !p.keys(anchors, "anchors", handle) {
		return d, at
	}
	for i, text := range d.Anchors {
		if text == "" {
			p.fault(anchors, "dimension %s has no anchor for %d", d.Name, i+1)
		}
	}
	return d, at
}

// line is a text on one line, however it was broken in the file.
func (p *parser) line(n located, what string) string {
	return strings.Join(strings.Fields(p.text(n, what)), " ")
}

func (p *parser) fallacies(n located) []string {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		p.fault(n, "fallacies must be a list of names; leave it out where the dimension has none")
		return nil
	}
	var list []string
	for _, item := range n.items() {
		name := p.line(item, "a fallacy")
		switch {
		case name == "":
			p.fault(item, "a fallacy has no name")
		case slices.Contains(list, name):
			p.fault(item, "the fallacy %q is given twice", name)
		default:
			list = append(list, name)
		}
	}
	return list
}
