package rules

import "fmt"

// stepsReport is the report of the judge steps (judges.md, section 1, contract
// alignment).
type stepsReport struct {
	ReferenceSteps int             `json:"reference_step_count"`
	CandidateSteps int             `json:"candidate_step_count"`
	Alignments     []stepAlignment `json:"step_alignments"`
	Unaligned      []unalignedStep `json:"unaligned_candidate_steps"`
	AnswerMatches  bool            `json:"final_answer_match"`
	Overall        stepsAssessment `json:"overall_assessment"`
}

// stepAlignment says which steps of the output stand for one of the reference.
type stepAlignment struct {
	Reference   int    `json:"reference_step_index"`
	Summary     string `json:"reference_step_summary"`
	Candidate   []int  `json:"candidate_step_indices"`
	Judgment    string `json:"alignment_judgment"`
	Explanation string `json:"explanation"`
}

// unalignedStep is a step of the output that stands for none of the reference.
type unalignedStep struct {
	Candidate   int    `json:"candidate_step_index"`
	Summary     string `json:"candidate_step_summary"`
	Class       string `json:"classification"`
	Explanation string `json:"explanation"`
}

// stepsAssessment is the whole in short.
type stepsAssessment struct {
	Score    float64  `json:"reasoning_score"`
	Critical []string `json:"critical_errors"`
	Summary  string   `json:"summary"`
}

// comparisonReport is the report of the judge steps-comparison (contract
// comparison).
type comparisonReport struct {
	Comparisons []stepComparison `json:"step_comparisons"`
	Score       float64          `json:"overall_alignment_score"`
	Critical    []int            `json:"critical_errors"`
}

// stepComparison is one line of it. A side without a step is null.
type stepComparison struct {
	Number      int     `json:"step_number"`
	Reference   *string `json:"reference_step"`
	Model       *string `json:"model_step"`
	Match       string  `json:"match_type"`
	Explanation string  `json:"explanation"`
}

// report is the alignment in the contract alignment. undecided is empty when the
// verdict is decided. A wrong final answer scores 0.5 at most; whatever is left
// open scores 0.75 at most.
func (a *alignment) report() (report stepsReport, undecided string) {
	extras := a.extras()
	report = stepsReport{
		ReferenceSteps: len(a.pairs), CandidateSteps: len(a.used), AnswerMatches: a.match,
		Alignments: make([]stepAlignment, 0, len(a.pairs)), Unaligned: make([]unalignedStep, 0, len(extras)),
		Overall: stepsAssessment{Critical: []string{}},
	}
	for i, p := range a.pairs {
		s := stepAlignment{
			Reference: i + 1, Summary: a.reference.short(i),
			Candidate: make([]int, 0, len(p.candidate)), Judgment: p.judgment, Explanation: p.explanation,
		}
		for _, c := range p.candidate {
			s.Candidate = append(s.Candidate, c+1)
		}
		report.Alignments = append(report.Alignments, s)
	}
	for _, x := range extras {
		report.Unaligned = append(report.Unaligned, unalignedStep{
			Candidate: x.candidate + 1, Summary: a.candidate.short(x.candidate), Class: x.class, Explanation: x.explanation,
		})
	}
	report.Overall.Score, report.Overall.Summary, undecided = a.conclude(extras)
	return report, undecided
}

// comparison is the alignment in the contract comparison, which has no place
// for a final answer: where the answers differ and no step shows it, a line
// says so.
func (a *alignment) comparison() (report comparisonReport, undecided string) {
	report = comparisonReport{Comparisons: []stepComparison{}, Critical: []int{}}
	add := func(ref, model *string, match, explanation string) {
		report.Comparisons = append(report.Comparisons, stepComparison{len(report.Comparisons) + 1, ref, model, match, explanation})
	}
	told := false
	for i, p := range a.pairs {
		ref, model := pointer(a.reference.short(i)), (*string)(nil)
		if len(p.candidate) > 0 {
			model = pointer(a.candidate.short(p.candidate[0]))
		}
		switch p.judgment {
		case correct:
			add(ref, model, "exact_match", p.explanation)
		case equal:
			add(ref, model, "logical_equivalent", p.explanation)
		case incorrect:
			told = true
			add(ref, model, "contradiction", p.explanation)
		case missing:
			add(ref, nil, "missing_step", p.explanation)
		default: // shared words: this contract has no word for a guess
			add(ref, nil, "missing_step", p.explanation)
			add(nil, model, "extra_step", fmt.Sprintf("The nearest step to reference step %d. %s", i+1, p.explanation))
		}
	}
	extras := a.extras()
	for _, x := range extras {
		match := "extra_step"
		if x.class == extraWrong {
			match = "contradiction"
		}
		add(nil, pointer(a.candidate.short(x.candidate)), match, x.explanation)
	}
	if a.answers == answersDiffer && !told {
		add(pointer(shortened(a.reference.answer.Text)), pointer(shortened(a.candidate.answer.Text)), "contradiction", "The final answers are different numbers.")
	}
	report.Score, _, undecided = a.conclude(extras)
	if undecided == "" && len(extras) > 0 && a.answers == answersSame {
		// An extra step makes the label of this contract flawed, whatever it says.
		undecided = fmt.Sprintf("comparing texts found every reference step, and %d steps besides; a person decides whether they hold", len(extras))
	}
	return report, undecided
}

// short is a step as a report shows it.
func (s solution) short(i int) string { return shortened(body(s.steps[i])) }

func pointer(s string) *string { return &s }
