package builtin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
)

// referenceExample is the pair of texts with the class that people gave it. A
// trace with rules of its own is none: its class may hang on them. Identical texts
// are none: no model is ever asked about them.
func referenceExample(t *judge.Trace, _ json.RawMessage, by judge.Settled) (judge.Example, bool) {
	var counts string
	switch by.Label {
	case semanticEquivalent:
		counts = "critical_error_count 0, partial_credit 0.95"
	case acceptableVariation:
		counts = "critical_error_count 0, partial_credit 0.7"
	case substantiveDifference:
		counts = "critical_error_count at least 1"
	default:
		return judge.Example{}, false
	}
	if len(t.Constraints) > 0 || identical(t) {
		return judge.Example{}, false
	}
	return judge.Example{
		Class:  by.Label,
		Texts:  []judge.ExampleText{{Name: "EXAMPLE_REFERENCE", Text: t.Reference}, {Name: "EXAMPLE_CANDIDATE", Text: t.Output}},
		Answer: fmt.Sprintf("Class: %s. %s.", by.Label, counts),
	}, true
}

// citationExample is one citation of a trace with what the report says of it: the
// first flagged one, else the first that is right in everything. A person stands
// behind the parts only where the report was confirmed, and a step of one marker
// leaves no doubt which citation is meant.
func citationExample(t *judge.Trace, report json.RawMessage, by judge.Settled,
	open func(json.RawMessage, *judge.Trace) (*citationsReport, error)) (none judge.Example, _ bool) {
	if !by.Confirmed || len(report) == 0 || len(t.Constraints) > 0 {
		return none, false
	}
	r, err := open(report, t)
	if err != nil { // an older report in another form gives no example
		return none, false
	}
	var correct *judge.Example
	for i, e := range r.Evaluations {
		x, ok := r.example(i, e)
		if ok && x.Class == judge.ExampleFlagged {
			return x, true
		}
		if ok && correct == nil {
			correct = &x
		}
	}
	if correct == nil {
		return none, false
	}
	return *correct, true
}

func (r *citationsReport) example(i int, e citationEvaluation) (x judge.Example, ok bool) {
	o := r.occurrence[i]
	if o < 0 || !slices.Contains([]string{"accurate", "partial_mismatch", "mismatch"}, e.Fidelity) ||
		!slices.Contains([]string{"fully_supported", "partially_supported", "unsupported"}, e.Support) {
		return x, false
	}
	at := r.markers[o].Step
	for other, m := range r.markers {
		if other != o && m.Step == at {
			return x, false
		}
	}
	for _, s := range r.steps {
		if s.Number == at {
			x.Texts = append(x.Texts, judge.ExampleText{Name: "EXAMPLE_STEP", Text: s.Text})
		}
	}
	source, given := r.sources[e.ID]
	if given != e.Exists || len(x.Texts) == 0 {
		return x, false
	}
	if given {
		x.Texts = append(x.Texts, judge.ExampleText{Name: "EXAMPLE_SOURCE", Text: r.trace.Sources[source].Text})
	}
	answer := fmt.Sprintf("citation_exists %t, quote_accurate %t, context_fidelity %s, claim_support_strength %s, flagged %t",
		e.Exists, e.Quote, e.Fidelity, e.Support, e.Flagged)
	switch right := e.Exists && e.Quote && e.Fidelity == "accurate" && e.Support == "fully_supported"; {
	case e.Flagged && !right && len(e.wrong()) > 0:
		x.Class = judge.ExampleFlagged
		answer += ",\nwith the flags " + strings.Join(e.wrong(), ", ")
	case right && !e.Flagged:
		x.Class = judge.ExampleCorrect
	default:
		return x, false
	}
	if !given {
		answer = "No source has the id that this step cites.\n" + answer
	}
	x.Answer = answer + "."
	return x, true
}
