package fakeendpoint

import (
	"strings"

	"github.com/countersign/countersign/judge/evidence"
)

// equivalence is the report of the judge reference.
func equivalence(m *material, o opinion, wrong bool) any {
	output, reference := m.output(), m.reference()
	if len(evidence.MissingNumbers(evidence.Numbers(reference), evidence.Numbers(output))) > 0 {
		o = bad
	}
	quote, _, _ := strings.Cut(reference, `"`)
	report := map[string]any{
		"rationale":       `What decides is "` + short(quote) + `".`,
		"key_differences": []string{}, "critical_error_count": 0,
	}
	class, similarity, credit := "semantic_equivalent", 0.9, 0.95
	switch {
	case strings.TrimSpace(output) == strings.TrimSpace(reference):
		class, similarity, credit = "exact_match", 1, 1
	case o == bad:
		class, similarity, credit = "substantive_difference", 0.3, 0.7
		report["key_differences"], report["critical_error_count"] = []string{"the decision is another"}, 1
	case o == fair:
		class, similarity, credit = "acceptable_variation", 0.75, 0.7
		report["key_differences"] = []string{"a detail is added"}
	case len(evidence.Negations(output)) != len(evidence.Negations(reference)):
		class, similarity, credit = "acceptable_variation", 0.85, 0.7
		report["key_differences"] = []string{"it is said the other way round"}
	}
	if wrong {
		credit -= 0.2
	}
	report["equivalence_class"], report["similarity_score"], report["partial_credit"] = class, similarity, credit
	return report
}
