package builtin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// comparisonReport is the report of the judge steps-comparison.
type comparisonReport struct {
	Comparisons []stepComparison `json:"step_comparisons"`
	Score       float64          `json:"overall_alignment_score"`
	Critical    []int            `json:"critical_errors"`

	trace *judge.Trace
}

type stepComparison struct {
	Number      int    `json:"step_number"`
	Reference   string `json:"reference_step"`
	Model       string `json:"model_step"`
	Match       string `json:"match_type"`
	Explanation string `json:"explanation"`
}

func stepsComparisonJudge() judge.Judge {
	j := load(StepsComparison, map[string]string{"EXAMPLES": string(content("steps-comparison/examples.md"))}, "STEP_LIST")
	j.ReferenceSteps = true
	j.Derive = candidateSteps
	equip(&j, openComparison, []check[*comparisonReport]{
		{name: "comparison.critical_refs", kind: judge.Hard, run: criticalRefs},
		{name: "score.too_high", kind: judge.Soft, run: func(r *comparisonReport) ([]string, bool) {
			return scoreTooHigh(r.Score, r.gravest(), len(r.Critical)), false
		}},
		{name: "score.too_low", kind: judge.Soft, run: func(r *comparisonReport) ([]string, bool) {
			return scoreTooLow(r.Score, len(r.Critical) == 0 && !r.anyBelow()), false
		}},
	}, readComparison)
	return j
}

func openComparison(report json.RawMessage, t *judge.Trace) (*comparisonReport, error) {
	r, err := decode[comparisonReport](report)
	r.trace = t
	return &r, err
}

func criticalRefs(r *comparisonReport) (faults []string, _ bool) {
	there := map[int]bool{}
	for _, c := range r.Comparisons {
		there[c.Number] = true
	}
	for i, n := range r.Critical {
		if !there[n] {
			faults = append(faults, fmt.Sprintf("/critical_errors/%d: there is no comparison with step_number %d", i, n))
		}
	}
	return faults, false
}

func (r *comparisonReport) gravest() string {
	for _, c := range r.Comparisons {
		if c.Match == "contradiction" || c.Match == "missing_step" {
			return fmt.Sprintf("step %d %s", c.Number, c.Match)
		}
	}
	return ""
}

func below(match string) bool { return match != "exact_match" && match != "logical_equivalent" }

func (r *comparisonReport) anyBelow() bool {
	return slices.ContainsFunc(r.Comparisons, func(c stepComparison) bool { return below(c.Match) })
}

func readComparison(r *comparisonReport) judge.Reading {
	reading := judge.Reading{Score: r.Score, Critical: len(r.Critical) > 0, Parts: overall(r.Score)}
	reading.Label = stepsLabel(r.Score, reading.Critical, r.anyBelow())
	critical := map[int]bool{}
	for _, n := range r.Critical {
		critical[n] = true
	}
	// The report numbers its comparisons; the trace's step is found by its text.
	steps := newStepFinder(r.trace.Output, evidence.Steps(r.trace.Output))
	reference := 0
	for _, c := range r.Comparisons {
		if c.Match != "extra_step" {
			reference++
			reading.PartLabels = append(reading.PartLabels, judge.PartLabel{Kind: judge.PartStep, Key: strconv.Itoa(reference), Label: c.Match})
		}
		step := steps.step(c.Model)
		if !critical[c.Number] && !below(c.Match) {
			continue
		}
		f := judge.Finding{Step: step, Class: c.Match, Quote: c.Model, Explanation: c.Explanation}
		if critical[c.Number] {
			f.Severity = judge.SeverityCritical
		}
		reading.Findings = append(reading.Findings, f)
	}
	return reading
}
