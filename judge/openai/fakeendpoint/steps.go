package fakeendpoint

import (
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge/evidence"
)

// maxSteps is the most that the schema of a report lets be counted.
const maxSteps = 10_000

// stepTexts are a text's steps, one at least.
func stepTexts(text string) []string {
	var list []string
	for _, s := range evidence.Steps(text) {
		list = append(list, s.Text)
	}
	if len(list) == 0 {
		return []string{text}
	}
	return list[:min(len(list), maxSteps)]
}

// short is the beginning of a text, on one line.
func short(text string) string {
	words := strings.Fields(text)
	return strings.Join(words[:min(len(words), 12)], " ")
}

// sameAnswer compares last lines that are numbers; true when they are none.
func sameAnswer(candidate, reference string) bool {
	number := func(text string) (float64, bool) {
		lines := strings.Split(strings.TrimSpace(text), "\n")
		n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(lines[len(lines)-1]), ",", ""), 64)
		return n, err == nil
	}
	a, ok1 := number(candidate)
	b, ok2 := number(reference)
	return !ok1 || !ok2 || math.Abs(a-b) <= 1e-9
}

// alignment is the report of the judge steps.
func alignment(m *material, o opinion, wrong bool) any {
	reference, candidate := stepTexts(m.reference()), stepTexts(m.output())
	answer := sameAnswer(m.output(), m.reference())
	if !answer {
		o = bad
	}
	var aligned, left []any
	for i, text := range reference {
		judgment := "CORRECT"
		if i == len(reference)-1 {
			judgment = []string{"CORRECT", "PARTIALLY_CORRECT", "INCORRECT"}[o]
		}
		aligned = append(aligned, map[string]any{
			"reference_step_index": i + 1, "reference_step_summary": short(text),
			"candidate_step_indices": []int{min(i, len(candidate)-1) + 1},
			"explanation":            "the place that decides is " + strconv.Quote(short(candidate[min(i, len(candidate)-1)])),
			"alignment_judgment":     judgment,
		})
	}
	for i := len(reference); i < len(candidate); i++ {
		left = append(left, map[string]any{
			"candidate_step_index": i + 1, "candidate_step_summary": short(candidate[i]),
			"explanation": "it is true and harmless", "classification": "EXTRA_VALID",
		})
	}
	if wrong {
		aligned = aligned[1:]
	}
	critical := []string{}
	if o == bad {
		critical = append(critical, "the last step does not hold")
	}
	return map[string]any{
		"reference_step_count": len(reference), "candidate_step_count": len(candidate),
		"step_alignments": list(aligned), "unaligned_candidate_steps": list(left),
		"final_answer_match": answer && o != bad,
		"overall_assessment": map[string]any{
			"summary": "as the steps say", "critical_errors": critical, "reasoning_score": []float64{0.95, 0.7, 0.3}[o],
		},
	}
}

// comparison is the report of the judge steps-comparison.
func comparison(m *material, o opinion, wrong bool) any {
	reference, candidate := stepTexts(m.reference()), stepTexts(m.output())
	if !sameAnswer(m.output(), m.reference()) {
		o = bad
	}
	var compared []any
	for i := range max(len(reference), len(candidate)) {
		match := "exact_match"
		var ours, theirs string
		switch {
		case i >= len(candidate):
			match, theirs = "missing_step", short(reference[i])
		case i >= len(reference):
			match, ours = "extra_step", short(candidate[i])
		default:
			ours, theirs = short(candidate[i]), short(reference[i])
			if o == bad && i == 0 {
				match = "contradiction"
			}
		}
		if match == "missing_step" {
			o = max(o, fair)
		}
		compared = append(compared, map[string]any{
			"step_number": i + 1, "reference_step": theirs, "model_step": ours,
			"explanation": "the two say so", "match_type": match,
		})
	}
	critical := []int{}
	switch {
	case wrong:
		critical = append(critical, len(compared)+1)
	case o == bad:
		critical = append(critical, 1)
	}
	return map[string]any{
		"step_comparisons": list(compared), "critical_errors": critical, "overall_alignment_score": []float64{0.9, 0.7, 0.3}[o],
	}
}

// sentenceEnd is where one step of a paragraph may end.
var sentenceEnd = regexp.MustCompile(`[.!?;。]["')\]]*\s+`)

// decomposition is the reference cut into its sentences.
func decomposition(m *material, wrong bool) any {
	text := m.reference()
	var steps []string
	begin := 0
	for _, at := range sentenceEnd.FindAllStringIndex(text, -1) {
		steps = append(steps, strings.TrimSpace(text[begin:at[1]]))
		begin = at[1]
	}
	if rest := strings.TrimSpace(text[begin:]); rest != "" {
		steps = append(steps, rest)
	}
	if wrong {
		steps = append(steps, "and that is all")
	}
	if steps == nil {
		steps = []string{}
	}
	return map[string]any{"steps": steps}
}

// list keeps a list without entries from being null.
func list(entries []any) []any {
	if entries == nil {
		return []any{}
	}
	return entries
}
