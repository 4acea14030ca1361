package builtin

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// Equivalence classes, best first.
const (
	exactMatch            = "exact_match"
	semanticEquivalent    = "semantic_equivalent"
	acceptableVariation   = "acceptable_variation"
	substantiveDifference = "substantive_difference"
)

// referenceReport is the report of the judge reference.
type referenceReport struct {
	Similarity  float64  `json:"similarity_score"`
	Class       string   `json:"equivalence_class"`
	Credit      float64  `json:"partial_credit"`
	Rationale   string   `json:"rationale"`
	Differences []string `json:"key_differences"`
	// Errors is absent in reports that were written before it was asked for.
	Errors *int `json:"critical_error_count"`

	trace *judge.Trace
}

func referenceJudge() judge.Judge {
	j := load(Reference, map[string]string{"EXAMPLES": string(content("reference/examples.md"))})
	equip(&j, openReference, []check[*referenceReport]{
		{name: "class.exact", kind: judge.Hard, run: classExact},
		{name: "errors.counted", kind: judge.Hard, run: errorsCounted},
		{name: "credit.formula", kind: judge.Hard, run: creditFormula},
		{name: "differences.listed", kind: judge.Hard, run: differencesListed},
		{name: "score.class", kind: judge.Soft, run: scoreClass},
		{name: "numbers.changed", kind: judge.Soft, run: numbersChanged},
		{name: "rationale.cites", kind: judge.Soft, run: rationaleCites},
		{name: "negation.flipped", kind: judge.Soft, run: negationFlipped},
	}, readReference)
	j.Settle = settleReference
	j.ExamplesIn, j.Example = "EXAMPLES", referenceExample
	return j
}

func openReference(report json.RawMessage, t *judge.Trace) (*referenceReport, error) {
	r, err := decode[referenceReport](report)
	r.trace = t
	return &r, err
}

func identical(t *judge.Trace) bool {
	return strings.TrimSpace(t.Output) == strings.TrimSpace(t.Reference)
}

// settleReference: identical texts need no model.
func settleReference(t *judge.Trace) json.RawMessage {
	if !identical(t) {
		return nil
	}
	return json.RawMessage(`{"similarity_score":1,"equivalence_class":"exact_match","partial_credit":1,` +
		`"rationale":"The texts are identical but for white space before and after.","key_differences":[],"critical_error_count":0}`)
}

func classExact(r *referenceReport) (faults []string, _ bool) {
	switch same := identical(r.trace); {
	case same && r.Class != exactMatch:
		return []string{fmt.Sprintf("/equivalence_class: %s, but the texts are identical after trimming", r.Class)}, false
	case !same && r.Class == exactMatch:
		return []string{"/equivalence_class: exact_match, but the texts are not identical after trimming"}, false
	}
	return nil, false
}

func errorsCounted(r *referenceReport) (faults []string, skipped bool) {
	if r.Errors == nil {
		return nil, true
	}
	switch difference := r.Class == substantiveDifference; {
	case difference && *r.Errors < 1:
		return []string{"/critical_error_count: a substantive_difference has at least 1"}, false
	case !difference && *r.Errors != 0:
		return []string{fmt.Sprintf("/critical_error_count: it is %d, but %s has 0", *r.Errors, r.Class)}, false
	}
	return nil, false
}

// credit is the partial credit that the class gives. The schema lets no other
// class through.
func (r *referenceReport) credit() float64 {
	count := len(r.Differences)
	if r.Errors != nil {
		count = *r.Errors
	}
	credit, err := Credit(r.Class, count)
	if err != nil {
		return 0
	}
	return credit
}

func creditFormula(r *referenceReport) (faults []string, _ bool) {
	if want := r.credit(); math.Abs(r.Credit-want) > 0.01+epsilon {
		return []string{fmt.Sprintf("/partial_credit: it is %v, but the formula gives %.2f", r.Credit, want)}, false
	}
	return nil, false
}

func differencesListed(r *referenceReport) (faults []string, _ bool) {
	if r.Class == substantiveDifference && len(r.Differences) == 0 {
		return []string{"/key_differences: a substantive_difference lists at least one"}, false
	}
	return nil, false
}

func scoreClass(r *referenceReport) (faults []string, _ bool) {
	var rule string
	switch {
	case r.Class == exactMatch && math.Abs(r.Similarity-1) > epsilon:
		rule = "is 1"
	case r.Class == semanticEquivalent && r.Similarity < 0.8-epsilon:
		rule = "is at least 0.8"
	case r.Class == substantiveDifference && r.Similarity >= 0.8-epsilon:
		rule = "is below 0.8"
	default:
		return nil, false
	}
	return []string{fmt.Sprintf("the similarity of %s %s, not %v", r.Class, rule, r.Similarity)}, false
}

// alternatives of a reference: " | " parts answers each of which is right.
func alternatives(reference string) []string { return strings.Split(reference, " | ") }

func numbersChanged(r *referenceReport) (faults []string, _ bool) {
	if r.Class != semanticEquivalent && r.Class != acceptableVariation {
		return nil, false
	}
	have := evidence.IndexNumbers(evidence.Numbers(r.trace.Output))
	var fewest []evidence.Number
	for i, reference := range alternatives(r.trace.Reference) {
		missing := have.Missing(evidence.Numbers(reference))
		if len(missing) == 0 {
			return nil, false
		}
		if i == 0 || len(missing) < len(fewest) {
			fewest = missing
		}
	}
	for _, n := range fewest {
		faults = append(faults, fmt.Sprintf("%q of the reference is not in the candidate", n.Text))
	}
	return faults, false
}

func rationaleCites(r *referenceReport) (faults []string, skipped bool) {
	if !high(r.trace) || r.Class == exactMatch {
		return nil, true
	}
	// A rationale has two or three sentences; what stands behind its first 200
	// quotations, or a reference's first 200 alternatives, decides nothing.
	const most = 200
	rationale, reference := evidence.NewSource(r.Rationale), evidence.NewSource(r.trace.Reference)
	short := map[string]bool{} // alternatives that are shorter than a quotation must be
	for i, a := range alternatives(r.trace.Reference) {
		if i == most {
			break
		}
		m := rationale.LocateNear(a)
		if m.Words < quotedWords {
			short[folded(a)] = true
		}
		if m.Kind == evidence.Exact && m.Words >= quotedWords {
			return nil, false
		}
	}
	// Folding makes every double quotation mark a plain one.
	parts := strings.Split(evidence.Fold(r.Rationale).Text, `"`)
	for i := 1; i < len(parts)-1 && i < 2*most; i += 2 {
		part := strings.Trim(parts[i], " .,;:…")
		if m := reference.LocateNear(part); m.Kind == evidence.Exact && (m.Words >= quotedWords || short[part] || amount(part)) {
			return nil, false
		}
	}
	return []string{"/rationale: it quotes nothing of the reference word for word, at least three words or an amount with its unit"}, false
}

// quotedWords is how many words a quotation has at least, unless it is an amount
// or the whole of a short reference: fewer are in most texts by chance.
const quotedWords = 3

// amount tells a number with its unit or with a word beside it.
func amount(text string) bool {
	return len(evidence.Numbers(text)) > 0 && len(strings.Fields(text)) > 1
}

func negationFlipped(r *referenceReport) (faults []string, _ bool) {
	if r.Class != semanticEquivalent {
		return nil, false
	}
	first, candidate := "", denialOf(r.trace.Output)
	for i, a := range alternatives(r.trace.Reference) {
		how := flipped(candidate, denialOf(a))
		if how == "" {
			return nil, false
		}
		if i == 0 {
			first = how
		}
	}
	return []string{first}, false
}

func readReference(r *referenceReport) judge.Reading {
	reading := judge.Reading{Score: r.Similarity, Label: r.Class, Parts: overall(r.Similarity)}
	for _, d := range r.Differences {
		reading.Findings = append(reading.Findings, judge.Finding{Class: "difference", Explanation: d})
	}
	if r.Class == substantiveDifference {
		reading.SubstantiveDifference = "the report says " + substantiveDifference
		for _, said := range append(r.Differences[:len(r.Differences):len(r.Differences)], r.Rationale) {
			if strings.TrimSpace(said) != "" {
				reading.SubstantiveDifference = said
				break
			}
		}
	}
	return reading
}
