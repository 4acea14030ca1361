package judge

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// alternativesBetween parts the answers of a reference each of which is right.
const alternativesBetween = " | "

// identicalTexts reports whether an output is its reference, or one of its
// alternatives, but for white space around it. A blank one is no answer.
func identicalTexts(t *Trace) bool {
	output := strings.TrimSpace(t.Output)
	if output == "" {
		return false
	}
	if output == strings.TrimSpace(t.Reference) {
		return true
	}
	for alternative := range strings.SplitSeq(t.Reference, alternativesBetween) {
		if output == strings.TrimSpace(alternative) {
			return true
		}
	}
	return false
}

// identical reads the key of that name: the report on a trace whose output is the
// reference itself, which no model is asked about. It is a label, where that makes
// a whole report, or the report written out. It is held to the schema and the
// checks here, so that it never fails on a trace. What it is held to is left out
// where that has faults of its own: labels and places say whether those of the
// labels and of the report's places were read without one.
func (p *parser) identical(n located, labels, places bool) {
	if n.Node == nil {
		return
	}
	for _, field := range []string{"output", "reference"} {
		if !slices.ContainsFunc(p.judge.Inputs, func(in Input) bool { return in.Field == field }) {
			p.fault(n, "identical compares output and reference; add %s to inputs", field)
		}
	}
	report := p.identicalReport(n, labels, places)
	if report == nil {
		return
	}
	if faults := p.reportFaults(report, labels && places); faults != nil {
		p.fault(n, "the report on identical texts, %s, does not hold: %s", report, strings.Join(faults, "; "))
		return
	}
	p.settled = report
	p.judge.Settle = func(t *Trace) json.RawMessage {
		if !identicalTexts(t) {
			return nil
		}
		return report
	}
}

func (p *parser) identicalReport(n located, labels, places bool) json.RawMessage {
	if n.Kind == yaml.MappingNode {
		text, fault := n.appendJSON(nil)
		if fault != nil {
			p.faults = append(p.faults, fault)
			return nil
		}
		return text
	}
	label := p.text(n, "identical")
	switch _, known := p.judge.LabelNamed(label); {
	case label == "":
		return nil // it is no text, which is told
	case labels && len(p.judge.Labels) > 0 && !known:
		p.fault(n, "identical: the label %q is not one of %s", label, strings.Join(labelNames(p.judge.Labels), ", "))
		return nil
	case !labels || !places:
		return nil
	case p.report.label == nil:
		p.fault(n, "identical names a label, and report says of none where it is; write the whole report instead")
		return nil
	}
	// The label alone, at its place.
	text := appendString(nil, label)
	for _, token := range slices.Backward(p.report.label) {
		if _, err := strconv.Atoi(token); err == nil || token == "*" {
			p.fault(n, "identical: a label at /%s makes no report by itself; write the whole report instead", strings.Join(p.report.label, "/"))
			return nil
		}
		text = append(append(append(appendString([]byte("{"), token), ':'), text...), '}')
	}
	return text
}

// reportFaults holds a report to the schema, the reading and the hard checks that
// need no trace; to the schema only where there is one, to the reading where it can
// be made.
func (p *parser) reportFaults(report json.RawMessage, readable bool) (faults []string) {
	if p.judge.Schema == nil {
		return nil
	}
	schema, err := CompileSchema(p.judge.Schema)
	if err != nil {
		return []string{err.Error()}
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(report))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		return []string{strings.Join(strings.Fields(err.Error()), " ") + "; write the whole report under identical"}
	}
	if !readable {
		return nil
	}
	if _, err := p.report.read(report, p.judge.Labels); err != nil {
		return []string{err.Error()}
	}
	for _, c := range p.judge.Checks {
		if c.Kind != Hard {
			continue
		}
		if found, skipped := c.Run(report, &Trace{}); !skipped {
			for _, f := range found {
				faults = append(faults, "check "+c.Name+": "+f)
			}
		}
	}
	return faults
}
