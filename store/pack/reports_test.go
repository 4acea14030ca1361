package pack_test

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/evidence"
)

type object = map[string]any

// report makes a report that the judge's schema and hard checks accept. Its
// quotations come from the trace, its prose from real critiques, its numbers
// from the trace's number.
func (w *reportWriter) report() any {
	switch w.judge {
	case builtin.Steps:
		return w.steps()
	case builtin.StepsComparison:
		return w.comparison()
	case builtin.Reference:
		return w.reference()
	case builtin.Logic:
		return w.logic()
	case builtin.LogicSteps:
		return w.logicSteps()
	}
	return w.citations()
}

func (w *reportWriter) pick(of ...string) string { return of[(w.number+w.used)%len(of)] }

func (w *reportWriter) score(below int) float64 {
	return float64((w.number*37+w.used*11)%below) / 100
}

func (w *reportWriter) steps() any {
	n := 3 + w.number%2
	reference, candidate := w.cuts(w.trace.Reference, n), w.cuts(w.trace.Output, n+1)
	var aligned []object
	for i, summary := range reference {
		aligned = append(aligned, object{
			"reference_step_index": i + 1, "reference_step_summary": summary, "candidate_step_indices": []int{i + 1},
			"alignment_judgment": w.pick("CORRECT", "EQUIVALENT", "PARTIALLY_CORRECT", "INCORRECT"), "explanation": w.say(),
		})
	}
	return object{
		"reference_step_count": n, "candidate_step_count": n + 1, "step_alignments": aligned,
		"unaligned_candidate_steps": []object{{"candidate_step_index": n + 1, "candidate_step_summary": candidate[n],
			"classification": w.pick("EXTRA_VALID", "EXTRA_IRRELEVANT", "EXTRA_ERRONEOUS"), "explanation": w.say()}},
		"final_answer_match": w.number%3 != 0,
		"overall_assessment": object{"reasoning_score": w.score(90), "critical_errors": []string{w.say()}, "summary": w.say() + " " + w.say()},
	}
}

func (w *reportWriter) comparison() any {
	n := 3 + w.number%2
	reference, candidate := w.cuts(w.trace.Reference, n), w.cuts(w.trace.Output, n)
	var compared []object
	for i := range n {
		compared = append(compared, object{"step_number": i + 1, "reference_step": reference[i], "model_step": candidate[i],
			"match_type": w.pick("exact_match", "logical_equivalent", "contradiction", "order_mismatch"), "explanation": w.say()})
	}
	return object{"step_comparisons": compared, "overall_alignment_score": w.score(90), "critical_errors": []int{1 + w.number%n}}
}

func (w *reportWriter) reference() any {
	critical := 1 + w.number%3
	return object{
		"similarity_score": w.score(79), "equivalence_class": "substantive_difference",
		"partial_credit": math.Max(0, 1-0.3*float64(critical)), "critical_error_count": critical,
		"rationale":       w.say() + " \"" + w.cuts(w.trace.Output, 2)[1] + "\" " + w.say() + " " + w.say(),
		"key_differences": []string{w.say(), w.say(), w.say()},
	}
}

var dimensions = []string{"premise_support", "inference_rule_adherence", "formal_fallacy_detection", "conclusion_alignment"}

func (w *reportWriter) logic() any {
	scores, sum := object{}, 0
	for i, name := range dimensions {
		score := 2 + (w.number+i)%4
		sum += score
		violations := []object{}
		if score < 4 {
			violations = append(violations, object{"step_citation": w.cuts(w.trace.Output, 4)[i], "explanation": w.say() + " " + w.say(),
				"fallacy_type": w.pick("non sequitur", "hasty generalisation", "equivocation"), "severity": w.pick("major", "minor")})
		}
		scores[name] = object{"score": score, "violations": violations}
	}
	return object{"dimension_scores": scores, "overall_validity_score": float64(sum) / 4, "overall_assessment": w.say() + " " + w.say() + " " + w.say()}
}

func (w *reportWriter) logicSteps() any {
	scores, violations, sum := []object{}, []object{}, 0
	for i, name := range dimensions {
		score := 2 + (w.number+i)%4
		sum += score
		scores = append(scores, object{"dimension": name, "score": score, "rationale": w.say()})
		if score < 4 {
			violations = append(violations, object{"step_index": 1 + i%2, "step_citation": w.cuts(w.trace.Output, 4)[i], "dimension": name,
				"rule_violated": w.pick("non sequitur", "hasty generalisation", "equivocation"), "description": w.say(), "severity": w.pick("major", "minor")})
		}
	}
	return object{"violations": violations, "dimension_scores": scores, "validity_score": float64(sum) / 4}
}

func (w *reportWriter) citations() any {
	var list []object
	flags, total := []object{}, 0.0
	markers := evidence.Markers(w.trace.Output, w.trace.Sources, nil)
	words := w.cuts(w.trace.Output, len(markers))
	for i, m := range markers {
		known := false
		for _, s := range w.trace.Sources {
			known = known || s.ID == m.CitationID
		}
		e := object{"citation_id": m.CitationID, "reasoning_step_index": m.Step, "reasoning_step_text": words[i], "explanation": w.say(),
			"citation_exists": known, "quote_accurate": true, "context_fidelity": "accurate",
			"claim_support_strength": w.pick("fully_supported", "partially_supported"), "flagged": !known}
		switch {
		case !known:
			flags = append(flags, object{"citation_id": m.CitationID, "reasoning_step_index": m.Step, "flag_type": "citation_not_found",
				"severity": w.pick("critical", "major"), "detail": w.say()})
		case e["claim_support_strength"] == "fully_supported":
			total++
		default:
			total += 0.5
		}
		list = append(list, e)
	}
	score, _ := strconv.ParseFloat(strconv.FormatFloat(total/float64(max(len(markers), 1)), 'f', 4, 64), 64)
	return object{"citation_evaluations": list, "misattribution_flags": flags, "total_citations_evaluated": len(list),
		"overall_citation_accuracy_score": json.Number(strconv.FormatFloat(score, 'f', -1, 64)), "summary": w.say() + " " + w.say()}
}
