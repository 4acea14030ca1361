package builtin

import (
	"strings"

	"github.com/countersign/countersign/judge/evidence"
)

// stepFinder finds the steps of an output that a report quotes. It belongs to one
// reading of one report.
type stepFinder struct {
	output string
	steps  []evidence.Step
	named  map[string][]int // steps by their folded text, whole and without label
	source *evidence.Source // made when first needed
	found  map[string]evidence.Match
	effort evidence.Effort
}

func newStepFinder(output string, steps []evidence.Step) *stepFinder {
	return &stepFinder{output: output, steps: steps}
}

func folded(text string) string { return strings.TrimSpace(evidence.Fold(text).Text) }

// step is the number of the step that a text is, or stands in; 0 when no step has
// it. Where several steps are the same text, each is given in turn.
func (f *stepFinder) step(text string) int {
	want := folded(text)
	if want == "" {
		return 0
	}
	if f.named == nil {
		f.named = make(map[string][]int, 2*len(f.steps))
		for _, s := range f.steps {
			whole, body := folded(s.Text), folded(s.Body())
			f.named[whole] = append(f.named[whole], s.Number)
			if body != whole && body != "" {
				f.named[body] = append(f.named[body], s.Number)
			}
		}
	}
	if list := f.named[want]; len(list) > 0 {
		if len(list) > 1 {
			f.named[want] = list[1:]
		}
		return list[0]
	}
	if m := f.match(text); m.Found() {
		return evidence.StepAt(f.steps, m.Start)
	}
	return 0
}

// match is where a text stands in the output, exactly or nearly. Past maxSearch
// steps nothing more is looked for; tired then says so.
func (f *stepFinder) match(text string) evidence.Match {
	if m, ok := f.found[text]; ok {
		return m
	}
	if f.tired() {
		return evidence.Match{Kind: evidence.None}
	}
	if f.source == nil {
		f.source, f.found = evidence.NewSource(f.output), map[string]evidence.Match{}
	}
	m := f.source.LocateNearCounting(text, &f.effort)
	f.found[text] = m
	return m
}

func (f *stepFinder) tired() bool { return f.effort.Steps > maxSearch }

// FindSteps gives for each of some texts the number of the step of an output that
// it is, or stands in, exactly or nearly; 0 when no step has it. Where several
// steps are the same text, each is given in turn.
func FindSteps(output string, steps []evidence.Step, texts []string) []int {
	f := newStepFinder(output, steps)
	found := make([]int, len(texts))
	for i, text := range texts {
		found[i] = f.step(text)
	}
	return found
}
