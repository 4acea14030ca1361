package rules

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge/evidence"
)

// minClaim is the fewest words of a claim that can stand in a source by more
// than accident.
const minClaim = 5

type verbatimResult struct {
	holds       bool
	explanation string
}

// verbatim tells whether a source says a claim word for word: the claim's
// words stand together in one sentence of the source, nothing but articles and
// connectives differs, its numbers are the source's, and the sentence around
// them holds no negation, condition or hedge that the claim has not.
func verbatim(s *evidence.Source, claim string) verbatimResult {
	m := s.LocateNear(claim)
	if !m.Found() || m.Words < minClaim {
		return verbatimResult{explanation: open(s, claim)}
	}
	for _, w := range m.Missing {
		if !harmless[w] {
			return verbatimResult{explanation: fmt.Sprintf("The source says nearly this, without “%s”. Not decided.", w)}
		}
	}
	for _, sp := range m.Omitted {
		for w := range strings.FieldsSeq(evidence.Fold(s.Text()[sp.Start:sp.End]).Text) {
			if w = strings.Trim(w, ".,;:()'\""); w != "" && !harmless[w] {
				return verbatimResult{explanation: fmt.Sprintf("The source says nearly this, with “%s”. Not decided.", w)}
			}
		}
	}
	around := s.Sentences(m.Start, m.End)
	outside := s.Text()[around.Start:m.Start] + " " + s.Text()[m.End:around.End]
	if w := turning(outside); w != "" {
		return verbatimResult{explanation: fmt.Sprintf("The source has these words in a sentence with “%s”. Not decided.", w)}
	}
	passage := s.Text()[m.Start:m.End]
	if changed := evidence.FirstChanged(evidence.Numbers(claim), evidence.Numbers(passage)); changed != "" {
		return verbatimResult{explanation: "The source says nearly this, but not the number " + changed + ". Not decided."}
	}
	if !evidence.SameNegations(claim, passage) {
		return verbatimResult{explanation: "The source says nearly this, with another negation. Not decided."}
	}
	if m.Kind == evidence.Exact {
		return verbatimResult{true, "The claim stands in the source word for word."}
	}
	return verbatimResult{true, "The claim stands in the source but for articles, connectives or punctuation."}
}

// open says what can be seen of a claim that text comparison cannot decide.
func open(s *evidence.Source, claim string) string {
	const said = "Comparing texts cannot tell whether the source supports this. Not decided."
	wanted := evidence.Numbers(claim)
	if len(wanted) == 0 {
		return said
	}
	missing := evidence.MissingNumbers(wanted, evidence.Numbers(s.Text()))
	if len(missing) == 0 {
		return said
	}
	var names []string
	for i, n := range missing {
		if i == 4 {
			names = append(names, "…")
			break
		}
		names = append(names, n.Text)
	}
	return fmt.Sprintf("Not in the source: %s. %s", strings.Join(names, ", "), said)
}

// harmless words may differ between a claim and its source.
var harmless = words(`a an the that this these those it its their also however therefore thus furthermore moreover
additionally so then indeed in addition finally overall`)

// turners are words that, standing in a sentence beside the words of a claim,
// can turn what is said, besides negations.
var turners = words(`if whether although though may might could would should alleged allegedly claim claims claimed
believe believed believes suppose supposed myth hypothesis hypothetical only sometimes unlikely doubt doubts dispute
disputed deny denied denies reject rejected rejects wrong wrongly mistaken until provided subject notwithstanding
but`)

// turning gives the first negation, condition or hedge of a text.
func turning(text string) string {
	if ns := evidence.Negations(text); len(ns) > 0 {
		return text[ns[0].Start:ns[0].End]
	}
	for w := range strings.FieldsSeq(evidence.Fold(text).Text) {
		if w = strings.Trim(w, ".,;:()'\""); turners[w] {
			return w
		}
	}
	return ""
}

func words(list string) map[string]bool {
	set := make(map[string]bool)
	for w := range strings.FieldsSeq(list) {
		set[w] = true
	}
	return set
}
