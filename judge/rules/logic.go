package rules

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// openScore stands for a dimension in which nothing was found: the lowest that
// claims no violation. It is not a finding that the dimension is sound.
const openScore = 4

// rubricReport is the report of the judge logic (judges.md, section 3, contract
// rubric).
type rubricReport struct {
	Overall    float64                    `json:"overall_validity_score"`
	Dimensions map[string]rubricDimension `json:"dimension_scores"`
	Assessment string                     `json:"overall_assessment"`
}

type rubricDimension struct {
	Score      int               `json:"score"`
	Violations []rubricViolation `json:"violations"`
}

type rubricViolation struct {
	Citation    string  `json:"step_citation"`
	Explanation string  `json:"explanation"`
	Fallacy     *string `json:"fallacy_type"` // null where the fault is no fallacy
	Severity    string  `json:"severity"`
}

// logicStepsReport is the report of the judge logic-steps (contract steps).
type logicStepsReport struct {
	Violations []stepViolation  `json:"violations"`
	Dimensions []dimensionScore `json:"dimension_scores"`
	Score      float64          `json:"validity_score"`
}

type stepViolation struct {
	Step        int    `json:"step_index"`
	Citation    string `json:"step_citation"`
	Dimension   string `json:"dimension"`
	Rule        string `json:"rule_violated"`
	Description string `json:"description"`
	Severity    string `json:"severity"`
}

type dimensionScore struct {
	Dimension string `json:"dimension"`
	Score     int    `json:"score"`
	Rationale string `json:"rationale"`
}

// examined is what both contracts say.
type examined struct {
	dimensions []string // of the judge's rubric
	faults     []fault
	scores     map[string]int
	mean       float64 // to a hundredth
	summary    string
	open       string // why a person decides; never empty
}

// examineLogic looks for faults in the reasoning that text shows. That a trace
// is sound is no question of text, so something is always left to a person;
// with a critical fault the verdict is fail all the same. ok is false when
// nothing was found, and there is nothing to report.
func examineLogic(j *judge.Judge, t *judge.Trace) (x examined, ok bool) {
	x.dimensions = rubricOf(j)
	list, sums := faultsOf(t, evidence.Steps(t.Output))
	for _, f := range list {
		if slices.Contains(x.dimensions, f.dimension) && len(x.faults) < maxFaults {
			x.faults = append(x.faults, f)
		}
	}
	if len(x.faults) == 0 {
		x.open = fmt.Sprintf("comparing texts cannot tell whether the reasoning is valid (calculations read: %d, none of them wrong; no statement is taken back); a person decides", sums)
		return x, false
	}
	x.scores = map[string]int{}
	total := 0
	for _, d := range x.dimensions {
		x.scores[d] = openScore
		for _, f := range x.faults {
			switch {
			case f.dimension != d:
			case f.severity == critical:
				x.scores[d] = min(x.scores[d], 2)
			default:
				x.scores[d] = min(x.scores[d], 3)
			}
		}
		total += x.scores[d]
	}
	n := len(x.dimensions)
	x.mean = float64((200*total+n)/(2*n)) / 100
	x.summary = fmt.Sprintf("By text comparison only. Calculations read: %d. Faults found: %d. Dimensions without a violation are not decided.", sums, len(x.faults))
	x.open = fmt.Sprintf("comparing texts found faults in the reasoning (%d) and decides nothing else about it; a person decides", len(x.faults))
	return x, true
}

func (x examined) rubric() rubricReport {
	report := rubricReport{Overall: x.mean, Dimensions: map[string]rubricDimension{}, Assessment: x.summary}
	for _, d := range x.dimensions {
		dim := rubricDimension{Score: x.scores[d], Violations: []rubricViolation{}}
		for _, f := range x.faults {
			if f.dimension != d {
				continue
			}
			v := rubricViolation{Citation: f.quote, Explanation: f.explanation, Severity: f.severity}
			if f.fallacy {
				v.Fallacy = &f.rule
			}
			dim.Violations = append(dim.Violations, v)
		}
		report.Dimensions[d] = dim
	}
	return report
}

func (x examined) steps() logicStepsReport {
	report := logicStepsReport{Score: x.mean, Violations: []stepViolation{}, Dimensions: []dimensionScore{}}
	for _, f := range x.faults {
		report.Violations = append(report.Violations, stepViolation{
			Step: f.step, Citation: f.quote, Dimension: f.dimension, Rule: f.rule, Description: f.explanation, Severity: f.severity,
		})
	}
	for _, d := range x.dimensions {
		rationale := "Not decided by comparing texts."
		if x.scores[d] < openScore {
			rationale = "Comparing texts found a violation."
		}
		report.Dimensions = append(report.Dimensions, dimensionScore{d, x.scores[d], rationale})
	}
	return report
}
