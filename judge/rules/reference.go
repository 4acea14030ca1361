package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// between parts the alternatives of a reference: any of them is right.
const between = " | "

// Reference compares an output with its reference. When undecided is not empty
// there is no report: text comparison cannot tell, and it says why.
//
// Golden answers that ` | ` parts are either wordings of one answer, or several
// answers of which people want one, or all: text does not tell. So an output
// equal to one of them is decided only where another shares a word with it, and
// no other is another number. Nor does a golden answer count that the question
// itself names.
//
// Similarity is 1 for identical texts, 0.95 for texts that differ in form
// only, 0.85 for an answer that contains a short reference, and for a changed
// number or negation the partial credit, but 0.5 at most.
func Reference(t *judge.Trace) (report ReferenceReport, undecided string) {
	if strings.TrimSpace(t.Output) == strings.TrimSpace(t.Reference) {
		return ReferenceReport{
			Similarity: 1, Class: exactMatch, Credit: 1, Differences: []string{},
			Rationale: "The texts are identical but for white space around them.",
		}, ""
	}
	if len(t.Constraints) > 0 {
		return report, "the trace has rules of its own for what may vary, which comparing texts cannot apply"
	}
	output := formOf(t.Output)
	var alternatives []form
	for alt := range strings.SplitSeq(t.Reference, between) {
		if f := formOf(alt); len(f.words) > 0 {
			alternatives = append(alternatives, f)
		}
	}
	for i, alt := range alternatives {
		if output.same(alt) {
			if other := otherAnswer(alternatives, i); other != "" {
				return report, fmt.Sprintf("the output is “%s”; the reference also has “%s”, which is another answer and not another wording; a person decides whether one is enough",
					shortened(alt.text), shortened(other))
			}
			return ReferenceReport{
				Similarity: 0.95, Class: equivalent, Credit: 0.95, Differences: []string{},
				Rationale: fmt.Sprintf("The same as the reference “%s” but for case, punctuation, articles or white space.", shortened(alt.text)),
			}, ""
		}
	}
	if changed := changedFrom(output, alternatives); len(changed) > 0 {
		credit := max(0, 1-0.3*float64(len(changed)))
		return ReferenceReport{
			Similarity: min(0.5, credit), Class: difference, Credit: credit,
			Differences: changed, Critical: len(changed),
			Rationale: fmt.Sprintf("The words are those of the reference “%s” but for what is listed.", shortened(alternatives[0].text)),
		}, ""
	}
	question := formOf(t.Question)
	for _, alt := range alternatives {
		if output.contains(alt) && !question.has(alt.words) {
			return ReferenceReport{
				Similarity: 0.85, Class: variation, Credit: 0.7, Differences: []string{},
				Rationale: fmt.Sprintf("The output contains the reference “%s” whole, in a sentence without a negation.", shortened(alt.text)),
			}, ""
		}
	}
	return report, "comparing texts cannot tell whether the output says what the reference says; a person decides"
}

// otherAnswer is an alternative that shows that alternative i may not be the
// whole answer: another number where i is a number, or any other where none
// shares a word with i. Empty: there is none.
func otherAnswer(alternatives []form, i int) string {
	own := alternatives[i]
	if len(alternatives) < 2 {
		return ""
	}
	amount := len(own.numbers) > 0 && len(own.bare()) == 0
	lone, other := true, ""
	for k, alt := range alternatives {
		if k == i {
			continue
		}
		for _, n := range alt.numbers {
			if amount && !slices.ContainsFunc(own.numbers, func(o evidence.Number) bool { return o.Value == n.Value }) {
				return alt.text
			}
		}
		if slices.ContainsFunc(alt.words, func(w string) bool { return slices.Contains(own.words, w) }) {
			lone = false
		} else if other == "" {
			other = alt.text
		}
	}
	if lone {
		return other
	}
	return ""
}

// has tells whether a text has all of some words.
func (f form) has(words []string) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !slices.Contains(f.words, w) })
}
