package main

import (
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/evidence"
)

type object = map[string]any

// writer writes one report. Its quotations come from the trace, its prose from
// what critics said about other work.
type writer struct {
	about
	r    *rand.Rand
	said *corpus
	bad  bool // the report finds what sends the trace to a person
}

func newWriter(m maker, on about) *writer {
	return &writer{about: on, r: m.random(kindReport, uint64(on.number)<<3|judgeNumber(on.judge)), said: m.said, bad: m.flagged(on.number, on.judge)}
}

// judgeNumber of the four judges, from 0.
func judgeNumber(name string) uint64 {
	for i, n := range builtin.Default() {
		if n == name {
			return uint64(i)
		}
	}
	return judgesOfTrace
}

// flaggedShare of the evaluations goes to a person for what the report finds.
// With what is drawn for audit it makes 15%: a third of them is then decided.
const flaggedShare = 0.145

// flagged says whether a judge finds fault with a trace.
func (m maker) flagged(n int, judgeName string) bool {
	return rand.New(rand.NewPCG(m.seed^0xf1a6, uint64(n)<<3|judgeNumber(judgeName))).Float64() < flaggedShare
}

func (w *writer) report() any {
	switch w.judge {
	case builtin.Steps:
		return w.steps()
	case builtin.Reference:
		return w.reference()
	case builtin.Logic:
		return w.logic()
	}
	return w.citations()
}

func (w *writer) say() string { return cut(w.said.critiques.sentence(w.r), 200) }

func (w *writer) pick(of ...string) string { return of[w.r.IntN(len(of))] }

// good and low are scores to two digits: above every band, and inside or below it.
func (w *writer) good() float64 { return float64(86+w.r.IntN(9)) / 100 }
func (w *writer) low() float64  { return float64(30+w.r.IntN(49)) / 100 }

// words gives some words of a step of a text, verbatim.
func words(text string, step int) string {
	steps := evidence.Steps(text)
	fields := strings.Fields(steps[step%len(steps)].Text)
	return strings.Join(fields[min(2, len(fields)-1):min(14, len(fields))], " ")
}

func (w *writer) steps() any {
	n := traceSteps - 1
	var aligned []object
	wrong := w.r.IntN(n)
	for i := range n {
		judgment := w.pick("CORRECT", "CORRECT", "EQUIVALENT")
		if w.bad && i == wrong {
			judgment = w.pick("INCORRECT", "PARTIALLY_CORRECT")
		}
		aligned = append(aligned, object{
			"reference_step_index": i + 1, "reference_step_summary": words(w.trace.Reference, i), "candidate_step_indices": []int{i + 1},
			"alignment_judgment": judgment, "explanation": w.say(),
		})
	}
	score, critical := w.good(), []string{}
	if w.bad {
		score = w.low()
		if score < 0.6 { // else it is borderline, which is reason enough
			critical = append(critical, w.say())
		}
	}
	return object{
		"reference_step_count": n, "candidate_step_count": n + 1, "step_alignments": aligned,
		"unaligned_candidate_steps": []object{{"candidate_step_index": n + 1, "candidate_step_summary": words(w.trace.Output, n),
			"classification": "EXTRA_VALID", "explanation": w.say()}},
		"final_answer_match": true,
		"overall_assessment": object{"reasoning_score": score, "critical_errors": critical, "summary": w.say() + " " + w.say()},
	}
}

func (w *writer) reference() any {
	rationale := func(quoted string) string {
		return w.say() + ` "` + quoted + `" ` + w.say() + " " + w.say()
	}
	if w.bad {
		if w.trace.Stakes == judge.HighStakes { // a difference is reason enough
			n := 1 + w.r.IntN(3)
			return object{"similarity_score": w.low(), "equivalence_class": "substantive_difference", "partial_credit": 1 - 0.3*float64(n),
				"critical_error_count": n, "rationale": rationale(words(w.trace.Reference, 1)), "key_differences": []string{w.say(), w.say(), w.say()}}
		}
		// A similarity inside the band is borderline.
		return object{"similarity_score": float64(60+w.r.IntN(19)) / 100, "equivalence_class": "substantive_difference", "partial_credit": 0.7,
			"critical_error_count": 1, "rationale": rationale(words(w.trace.Reference, 2)), "key_differences": []string{w.say(), w.say()}}
	}
	if w.trace.Stakes != judge.HighStakes && w.r.IntN(10) == 0 { // wrong, and plainly so
		return object{"similarity_score": float64(20+w.r.IntN(39)) / 100, "equivalence_class": "substantive_difference", "partial_credit": 0.4,
			"critical_error_count": 2, "rationale": rationale(words(w.trace.Output, 1)), "key_differences": []string{w.say(), w.say()}}
	}
	return object{"similarity_score": w.good(), "equivalence_class": "acceptable_variation", "partial_credit": 0.7,
		"critical_error_count": 0, "rationale": rationale(words(w.trace.Reference, 1)), "key_differences": []string{w.say(), w.say(), w.say()}}
}

var dimensions = []string{"premise_support", "inference_rule_adherence", "formal_fallacy_detection", "conclusion_alignment"}

func (w *writer) logic() any {
	scores, sum := object{}, 0
	for i, name := range dimensions {
		score := 4 + w.r.IntN(2)
		violations := []object{}
		if w.bad && (i < 2 || w.r.IntN(2) == 0) {
			score = 2 + w.r.IntN(2)
			violations = append(violations, object{"step_citation": words(w.trace.Output, i), "explanation": w.say() + " " + w.say(),
				"fallacy_type": w.pick("non sequitur", "hasty generalisation", "equivocation"), "severity": w.pick("major", "minor")})
		}
		sum += score
		scores[name] = object{"score": score, "violations": violations}
	}
	return object{"dimension_scores": scores, "overall_validity_score": float64(sum) / 4, "overall_assessment": w.say() + " " + w.say() + " " + w.say()}
}

func (w *writer) citations() any {
	var list []object
	flags, total := []object{}, 0.0
	markers := evidence.Markers(w.trace.Output, w.trace.Sources, nil)
	wrong := w.r.IntN(len(markers))
	for i, m := range markers {
		e := object{"citation_id": m.CitationID, "reasoning_step_index": m.Step, "reasoning_step_text": words(w.trace.Output, m.Step-1), "explanation": w.say(),
			"citation_exists": true, "quote_accurate": true, "context_fidelity": "accurate", "claim_support_strength": "fully_supported", "flagged": false}
		if w.bad && i == wrong {
			e["claim_support_strength"], e["flagged"] = "unsupported", true
			flags = append(flags, object{"citation_id": m.CitationID, "reasoning_step_index": m.Step, "flag_type": "unsupported",
				"severity": w.pick("critical", "major"), "detail": w.say()})
		} else {
			total++
		}
		list = append(list, e)
	}
	score := strconv.FormatFloat(total/float64(len(markers)), 'f', 4, 64)
	return object{"citation_evaluations": list, "misattribution_flags": flags, "total_citations_evaluated": len(list),
		"overall_citation_accuracy_score": json.Number(score), "summary": w.say() + " " + w.say()}
}
