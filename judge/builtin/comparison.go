package builtin

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/countersign/countersign/judge"
)

// comparisonReport is the report of the judge steps-comparison.
type comparisonReport struct {
	Comparisons []stepComparison `json:"step_comparisons"`
	Score       float64          `json:"overall_alignment_score"`
	Critical    []int            `json:"critical_errors"`
}

type stepComparison struct {
	Number      int    `json:"step_number"`
	Reference   string `json:"reference_step"`
	Model       string `json:"model_step"`
	Match       string `json:"match_type"`
	Explanation string `json:"explanation"`
}

func stepsComparisonJudge() judge.Judge {
	j := load(StepsComparison, nil)
	j.ReferenceSteps = true
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

func openComparison(report json.RawMessage, _ *judge.Trace) (*comparisonReport, error) {
	r, err := decode[comparisonReport](report)
	return &r, err
}

func criticalRefs(r *comparisonReport) (faults []string, _ bool) {
	for i, n := range r.Critical {
		if !slices.ContainsFunc(r.Comparisons, func(c stepComparison) bool { return c.Number == n }) {
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
	reading := judge.Reading{Score: r.Score, Critical: len(r.Critical) > 0}
	reading.Label = stepsLabel(r.Score, reading.Critical, r.anyBelow())
	for _, c := range r.Comparisons {
		critical := slices.Contains(r.Critical, c.Number)
		if !critical && !below(c.Match) {
			continue
		}
		f := judge.Finding{Step: c.Number, Class: c.Match, Quote: c.Model, Explanation: c.Explanation}
		if critical {
			f.Severity = "critical"
		}
		reading.Findings = append(reading.Findings, f)
	}
	reading.BelowThreshold = stepsBelow(r.Score)
	return reading
}
