package builtin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// alignmentReport is the report of the judge steps (contract alignment).
type alignmentReport struct {
	ReferenceSteps int                 `json:"reference_step_count"`
	CandidateSteps int                 `json:"candidate_step_count"`
	Alignments     []stepAlignment     `json:"step_alignments"`
	Unaligned      []unalignedStep     `json:"unaligned_candidate_steps"`
	AnswerMatches  bool                `json:"final_answer_match"`
	Overall        reasoningAssessment `json:"overall_assessment"`

	trace *judge.Trace
	// counted: the report's candidate steps are as many as the trace's, so that
	// their numbers mean the same.
	counted bool
}

type stepAlignment struct {
	Reference   int    `json:"reference_step_index"`
	Summary     string `json:"reference_step_summary"`
	Candidate   []int  `json:"candidate_step_indices"`
	Judgment    string `json:"alignment_judgment"`
	Explanation string `json:"explanation"`
}

type unalignedStep struct {
	Candidate   int    `json:"candidate_step_index"`
	Summary     string `json:"candidate_step_summary"`
	Class       string `json:"classification"`
	Explanation string `json:"explanation"`
}

type reasoningAssessment struct {
	Score    float64  `json:"reasoning_score"`
	Critical []string `json:"critical_errors"`
	Summary  string   `json:"summary"`
}

func stepsJudge() judge.Judge {
	j := load(Steps, map[string]string{"EXAMPLES": string(content("steps/examples.md"))}, "STEP_LIST")
	j.ReferenceSteps = true
	j.Derive = candidateSteps
	equip(&j, openAlignment, []check[*alignmentReport]{
		{name: "alignment.reference_covered", kind: judge.Hard, coverage: true, run: referenceCovered},
		{name: "alignment.candidate_in_range", kind: judge.Hard, run: candidateInRange},
		{name: "alignment.candidate_covered", kind: judge.Hard, coverage: true, run: candidateCovered},
		{name: "alignment.missing_is_empty", kind: judge.Hard, run: missingIsEmpty},
		{name: "score.too_high", kind: judge.Soft, run: func(r *alignmentReport) ([]string, bool) {
			return scoreTooHigh(r.Overall.Score, r.gravest(), len(r.Overall.Critical)), false
		}},
		{name: "score.too_low", kind: judge.Soft, run: func(r *alignmentReport) ([]string, bool) {
			return scoreTooLow(r.Overall.Score, r.AnswerMatches && len(r.Overall.Critical) == 0 && !r.anyBelow()), false
		}},
		{name: "answer.lucky", kind: judge.Soft, run: answerLucky},
		{name: "answer.numeric", kind: judge.Soft, run: answerNumeric},
	}, readAlignment)
	return j
}

func openAlignment(report json.RawMessage, t *judge.Trace) (*alignmentReport, error) {
	r, err := decode[alignmentReport](report)
	if err != nil {
		return nil, err
	}
	r.trace, r.counted = t, r.CandidateSteps == len(evidence.Steps(t.Output))
	return &r, nil
}

// candidateSteps offers the steps of an output that shows more than one, so that
// a report counts them as the pages do.
func candidateSteps(t *judge.Trace) map[string]string {
	steps := evidence.Steps(t.Output)
	if len(steps) < 2 {
		return map[string]string{"STEP_LIST": ""}
	}
	return map[string]string{"STEP_LIST": stepList(steps)}
}

func referenceCovered(r *alignmentReport) (faults []string, _ bool) {
	seen := map[int]int{}
	for i, a := range r.Alignments {
		if a.Reference < 1 || a.Reference > r.ReferenceSteps {
			faults = append(faults, fmt.Sprintf("/step_alignments/%d/reference_step_index: %d is not from 1 to %d", i, a.Reference, r.ReferenceSteps))
		}
		if seen[a.Reference]++; seen[a.Reference] == 2 {
			faults = append(faults, fmt.Sprintf("/step_alignments/%d/reference_step_index: reference step %d is aligned twice", i, a.Reference))
		}
	}
	for n := 1; n <= r.ReferenceSteps; n++ {
		if seen[n] == 0 {
			faults = append(faults, fmt.Sprintf("/step_alignments: reference step %d of %d is not aligned", n, r.ReferenceSteps))
		}
	}
	return faults, false
}

func candidateInRange(r *alignmentReport) (faults []string, _ bool) {
	outside := func(n int) bool { return n < 1 || n > r.CandidateSteps }
	for i, a := range r.Alignments {
		for k, n := range a.Candidate {
			if outside(n) {
				faults = append(faults, fmt.Sprintf("/step_alignments/%d/candidate_step_indices/%d: %d is not from 1 to %d", i, k, n, r.CandidateSteps))
			}
		}
	}
	for i, u := range r.Unaligned {
		if outside(u.Candidate) {
			faults = append(faults, fmt.Sprintf("/unaligned_candidate_steps/%d/candidate_step_index: %d is not from 1 to %d", i, u.Candidate, r.CandidateSteps))
		}
	}
	return faults, false
}

func candidateCovered(r *alignmentReport) (faults []string, _ bool) {
	aligned, unaligned := map[int]bool{}, map[int]int{} // the latter: place in the list, from 1
	for _, a := range r.Alignments {
		for _, n := range a.Candidate {
			aligned[n] = true
		}
	}
	for i, u := range r.Unaligned {
		unaligned[u.Candidate] = i + 1
	}
	for n := 1; n <= r.CandidateSteps; n++ {
		switch at := unaligned[n]; {
		case aligned[n] && at > 0:
			faults = append(faults, fmt.Sprintf("/unaligned_candidate_steps/%d/candidate_step_index: candidate step %d is both aligned and listed as unaligned", at-1, n))
		case !aligned[n] && at == 0:
			faults = append(faults, fmt.Sprintf("/step_alignments: candidate step %d of %d is neither aligned nor listed as unaligned", n, r.CandidateSteps))
		}
	}
	return faults, false
}

func missingIsEmpty(r *alignmentReport) (faults []string, _ bool) {
	for i, a := range r.Alignments {
		switch missing, empty := a.Judgment == "MISSING", len(a.Candidate) == 0; {
		case missing && !empty:
			faults = append(faults, fmt.Sprintf("/step_alignments/%d/candidate_step_indices: MISSING, but it is not empty", i))
		case !missing && empty:
			faults = append(faults, fmt.Sprintf("/step_alignments/%d/candidate_step_indices: %s, but it is empty", i, a.Judgment))
		}
	}
	return faults, false
}

// scoreTooHigh: gravest names a fault that a score of 0.95 or more leaves no
// room for; empty when there is none.
func scoreTooHigh(score float64, gravest string, critical int) []string {
	if score < 0.95-epsilon {
		return nil
	}
	if critical > 0 {
		gravest = fmt.Sprintf("%d critical errors", critical)
	}
	if gravest == "" {
		return nil
	}
	return []string{fmt.Sprintf("score %.2f with %s", score, gravest)}
}

func scoreTooLow(score float64, sound bool) []string {
	if score < 0.6-epsilon && sound {
		return []string{fmt.Sprintf("score %.2f although nothing is found at fault", score)}
	}
	return nil
}

// gravest names the first step that a nearly full score contradicts.
func (r *alignmentReport) gravest() string {
	for _, a := range r.Alignments {
		if a.Judgment == "INCORRECT" || a.Judgment == "MISSING" {
			return fmt.Sprintf("reference step %d %s", a.Reference, a.Judgment)
		}
	}
	for _, u := range r.Unaligned {
		if u.Class == "EXTRA_ERRONEOUS" {
			return fmt.Sprintf("candidate step %d EXTRA_ERRONEOUS", u.Candidate)
		}
	}
	return ""
}

// anyBelow: some step is judged below EQUIVALENT.
func (r *alignmentReport) anyBelow() bool {
	return slices.ContainsFunc(r.Alignments, func(a stepAlignment) bool {
		return a.Judgment != "CORRECT" && a.Judgment != "EQUIVALENT"
	})
}

func answerLucky(r *alignmentReport) (faults []string, _ bool) {
	incorrect := slices.IndexFunc(r.Alignments, func(a stepAlignment) bool { return a.Judgment == "INCORRECT" })
	if r.AnswerMatches && incorrect >= 0 && r.Overall.Score >= 0.8-epsilon {
		return []string{fmt.Sprintf("right answer, wrong way: reference step %d is INCORRECT and the score is %.2f", r.Alignments[incorrect].Reference, r.Overall.Score)}, false
	}
	return nil, false
}

func answerNumeric(r *alignmentReport) (faults []string, skipped bool) {
	candidate, reference := evidence.FinalAnswer(r.trace.Output), evidence.FinalAnswer(r.trace.Reference)
	if !candidate.Numeric || !reference.Numeric {
		return nil, true
	}
	if same := sameNumber(candidate.Number, reference.Number); same != r.AnswerMatches {
		return []string{fmt.Sprintf("final_answer_match is %v, but the final answers are %v and %v", r.AnswerMatches, candidate.Number, reference.Number)}, false
	}
	return nil, false
}

func readAlignment(r *alignmentReport) judge.Reading {
	reading := judge.Reading{Score: r.Overall.Score, Critical: len(r.Overall.Critical) > 0, Parts: overall(r.Overall.Score)}
	reading.Label = stepsLabel(reading.Score, reading.Critical, r.anyBelow())
	for _, a := range r.Alignments {
		reading.PartLabels = append(reading.PartLabels, judge.PartLabel{Kind: judge.PartStep, Key: strconv.Itoa(a.Reference), Label: a.Judgment})
		if a.Judgment == "CORRECT" || a.Judgment == "EQUIVALENT" {
			continue
		}
		steps := a.Candidate
		if len(steps) == 0 {
			steps = []int{0} // missing: about no step of the trace
		}
		for _, step := range steps {
			reading.Findings = append(reading.Findings, r.finding(step, a.Judgment,
				strings.TrimSpace(fmt.Sprintf("reference step %d (%s): %s", a.Reference, a.Summary, a.Explanation))))
		}
	}
	for _, u := range r.Unaligned {
		if u.Class != "EXTRA_VALID" {
			reading.Findings = append(reading.Findings, r.finding(u.Candidate, u.Class, u.Explanation))
		}
	}
	for _, c := range r.Overall.Critical {
		reading.Findings = append(reading.Findings, judge.Finding{Class: "critical_error", Severity: judge.SeverityCritical, Explanation: c})
	}
	return reading
}

// overall is the one part of a judge that gives one score.
func overall(score float64) []judge.Part { return []judge.Part{{Name: "overall", Value: score}} }

// finding about a candidate step. Where the report cut the candidate in its own
// way, its number is told in words: it would point at another step of the trace.
func (r *alignmentReport) finding(step int, class, explanation string) judge.Finding {
	if step > 0 && !r.counted {
		explanation = strings.TrimSpace(fmt.Sprintf("candidate step %d of %d as the judge counts: %s", step, r.CandidateSteps, explanation))
		step = 0
	}
	return judge.Finding{Step: max(0, step), Class: class, Explanation: explanation}
}

// stepsLabel is the class of both step judges.
func stepsLabel(score float64, critical, anyBelow bool) string {
	switch {
	case critical || score < 0.6-epsilon:
		return "invalid"
	case anyBelow || score < 0.8-epsilon:
		return "flawed"
	}
	return "valid"
}
