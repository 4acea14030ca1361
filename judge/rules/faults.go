package rules

import (
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// Dimensions of the default rubric that this engine can say something of.
const (
	premiseSupport = "premise_support"
	inferenceRules = "inference_rule_adherence"
	formalFallacy  = "formal_fallacy_detection"
)

// fault is what comparing texts found against a step of a reasoning.
type fault struct {
	step        int
	dimension   string
	quote       string // words of the trace
	rule        string
	fallacy     bool // rule is the name of a fallacy
	explanation string
	severity    string
}

// maxFaults in a report; a reader needs no more to see that a trace is wrong.
const maxFaults = 200

// faultsOf finds calculations that do not hold, statements that are taken back
// by a bare negation, and premises given with another number. sums counts the
// calculations that were read.
//
// A calculation is critical when the reasoning goes on with its result, and
// minor when the same chain makes it good; everything else is major, since a
// person must see whether the conclusion needs it.
func faultsOf(t *judge.Trace, steps []evidence.Step) (list []fault, sums int) {
	found := make([][]equation, len(steps))
	held := map[string]bool{}   // questions that are answered rightly somewhere
	lastUse := map[string]int{} // of a figure: the last step that has it
	for i, s := range steps {
		found[i] = equations(unlabelled(s))
		for _, e := range found[i] {
			if !e.hedged {
				sums++
			}
			if near(e.left.value, e.right.value) {
				held[e.question()] = true
			}
		}
		for _, n := range evidence.Numbers(s.Text) {
			lastUse[n.Value] = s.Number
		}
	}
	final := answerOf(t.Output, steps)
	told := map[string]bool{}
	for i, s := range steps {
		for _, e := range found[i] {
			if !e.wrong() || held[e.question()] || told[e.calculation()] {
				continue
			}
			told[e.calculation()] = true
			f := fault{step: s.Number, dimension: inferenceRules, quote: e.text, rule: "arithmetic", explanation: e.says(), severity: major}
			switch goesOn := lastUse[figure(e.right.value)] > s.Number; {
			case e.madeGood:
				f.severity, f.explanation = minor, f.explanation+" A later sign of the same line makes it good."
			case goesOn, final.Numeric && near(final.Number, e.right.value):
				f.severity = critical
			}
			list = append(list, f)
		}
	}
	for _, f := range flips(t.Premises, steps) {
		v := fault{step: f.now.step, quote: f.now.text, explanation: f.says(), severity: major}
		if f.before.step == 0 {
			v.dimension, v.rule = premiseSupport, "premise changed"
		} else {
			v.dimension, v.rule, v.fallacy = formalFallacy, "contradiction", true
		}
		list = append(list, v)
	}
	slices.SortStableFunc(list, func(a, b fault) int { return a.step - b.step })
	return list, sums
}

// rubricOf are the dimensions of a logic judge, in order, as its prompt lists
// them: each on a line of its own that is not indented, "name: what to check".
func rubricOf(j *judge.Judge) []string {
	var names []string
	for line := range strings.SplitSeq(j.Blocks["RUBRIC_DIMENSIONS"], "\n") {
		if name, _, ok := strings.Cut(line, ":"); ok && name != "" && name[0] != ' ' {
			names = append(names, name)
		}
	}
	return names
}
