package builtin

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// fallacyDimension is the one whose violations name a fallacy.
const fallacyDimension = "formal_fallacy_detection"

// logicReport is what the reports of logic and logic-steps have in common.
type logicReport struct {
	overall    float64
	overallAt  string // JSON pointer of overall
	scores     []dimensionScore
	violations []violation

	rubric rubric
	trace  *judge.Trace
	steps  []evidence.Step
}

type dimensionScore struct {
	name  string
	score float64
	at    string // JSON pointer
}

type violation struct {
	at          string
	dimension   string // empty when the report does not say
	step        int    // from 1; 0 when the report does not say
	hasStep     bool
	citation    string
	explanation string
	class       string // fallacy type or rule violated
	severity    string
}

// logicJudge is the judge with the contract rubric.
func logicJudge() judge.Judge {
	return equipLogic(Logic, openRubric)
}

// logicStepsJudge is the judge with the contract steps.
func logicStepsJudge() judge.Judge {
	return equipLogic(LogicSteps, openLogicSteps)
}

func equipLogic(name string, read func(json.RawMessage, *logicReport) error) judge.Judge {
	rules := defaultRubric()
	j := load(name, map[string]string{"RUBRIC_DIMENSIONS": rules.text()}, "STEP_LIST")
	open := func(report json.RawMessage, t *judge.Trace) (*logicReport, error) {
		r := &logicReport{rubric: rules, trace: t, steps: evidence.Steps(t.Output)}
		return r, read(report, r)
	}
	checks := []check[*logicReport]{
		{name: "dimensions.complete", kind: judge.Hard, coverage: true, run: dimensionsComplete},
		{name: "score.range", kind: judge.Hard, run: scoreRange},
		{name: "overall.mean", kind: judge.Hard, run: overallMean},
		{name: "violations.required", kind: judge.Hard, run: violationsRequired},
		{name: "violations.absent", kind: judge.Hard, run: violationsAbsent},
	}
	if name == LogicSteps {
		checks = append(checks, check[*logicReport]{name: "step_index.exists", kind: judge.Hard, run: stepIndexExists})
	}
	checks = append(checks,
		check[*logicReport]{name: "citation.verbatim", kind: judge.Soft, run: citationVerbatim},
		check[*logicReport]{name: "fallacy.named", kind: judge.Soft, run: fallacyNamed},
		check[*logicReport]{name: "score.severity", kind: judge.Soft, run: scoreSeverity},
	)
	equip(&j, open, checks, (*logicReport).reading)
	j.Refuse = func(t *judge.Trace) (field, message string) {
		if len(evidence.Steps(t.Output)) < 2 {
			return "output", fmt.Sprintf("output shows a single step: judge %s needs a reasoning trace with its steps shown, one a line or numbered", name)
		}
		return "", ""
	}
	j.Derive = func(t *judge.Trace) map[string]string {
		return map[string]string{"STEP_LIST": stepList(evidence.Steps(t.Output))}
	}
	j.NearBoundary = func(r judge.Reading) bool {
		mean := r.Score * 5
		return mean >= 2-epsilon && mean <= 3+epsilon
	}
	return j
}

// openRubric reads the contract rubric.
func openRubric(report json.RawMessage, r *logicReport) error {
	doc, err := decode[struct {
		Overall    float64 `json:"overall_validity_score"`
		Dimensions map[string]struct {
			Score      float64 `json:"score"`
			Violations []struct {
				Citation    string `json:"step_citation"`
				Explanation string `json:"explanation"`
				Fallacy     string `json:"fallacy_type"`
				Severity    string `json:"severity"`
			} `json:"violations"`
		} `json:"dimension_scores"`
	}](report)
	if err != nil {
		return err
	}
	r.overall, r.overallAt = doc.Overall, "/overall_validity_score"
	for _, name := range slices.Sorted(maps.Keys(doc.Dimensions)) {
		d := doc.Dimensions[name]
		at := "/dimension_scores/" + name
		r.scores = append(r.scores, dimensionScore{name, d.Score, at + "/score"})
		for i, v := range d.Violations {
			r.violations = append(r.violations, violation{
				at: fmt.Sprintf("%s/violations/%d", at, i), dimension: name, step: r.stepOf(v.Citation),
				citation: v.Citation, explanation: v.Explanation, class: v.Fallacy, severity: v.Severity,
			})
		}
	}
	return nil
}

// openLogicSteps reads the contract steps.
func openLogicSteps(report json.RawMessage, r *logicReport) error {
	doc, err := decode[struct {
		Overall    float64 `json:"validity_score"`
		Dimensions []struct {
			Name  string  `json:"dimension"`
			Score float64 `json:"score"`
		} `json:"dimension_scores"`
		Violations []struct {
			Step        int    `json:"step_index"`
			Rule        string `json:"rule_violated"`
			Description string `json:"description"`
			Severity    string `json:"severity"`
			Dimension   string `json:"dimension"`
			Citation    string `json:"step_citation"`
		} `json:"violations"`
	}](report)
	if err != nil {
		return err
	}
	r.overall, r.overallAt = doc.Overall, "/validity_score"
	for i, d := range doc.Dimensions {
		r.scores = append(r.scores, dimensionScore{d.Name, d.Score, fmt.Sprintf("/dimension_scores/%d/score", i)})
	}
	for i, v := range doc.Violations {
		r.violations = append(r.violations, violation{
			at: fmt.Sprintf("/violations/%d", i), dimension: v.Dimension, step: v.Step, hasStep: true,
			citation: v.Citation, explanation: v.Description, class: v.Rule, severity: v.Severity,
		})
	}
	return nil
}

// stepOf is the step that a citation was copied from, 0 when none is.
func (r *logicReport) stepOf(citation string) int {
	want := evidence.Fold(strings.TrimSpace(citation)).Text
	if want == "" {
		return 0
	}
	for _, s := range r.steps {
		if strings.Contains(evidence.Fold(s.Text).Text, want) {
			return s.Number
		}
	}
	return 0
}

func dimensionsComplete(r *logicReport) (faults []string, _ bool) {
	seen := map[string]int{}
	for _, s := range r.scores {
		if seen[s.name]++; seen[s.name] == 2 {
			faults = append(faults, fmt.Sprintf("%s: dimension %s is scored twice", s.at, s.name))
		}
		if !r.rubric.has(s.name) {
			faults = append(faults, fmt.Sprintf("%s: %q is no dimension of the rubric", s.at, s.name))
		}
	}
	for _, d := range r.rubric {
		if seen[d.Name] == 0 {
			faults = append(faults, fmt.Sprintf("/dimension_scores: dimension %s is not scored", d.Name))
		}
	}
	return faults, false
}

func scoreRange(r *logicReport) (faults []string, _ bool) {
	outside := func(x float64) bool { return x < 1-epsilon || x > 5+epsilon }
	for _, s := range r.scores {
		if outside(s.score) {
			faults = append(faults, fmt.Sprintf("%s: %v is not from 1 to 5", s.at, s.score))
		}
	}
	if outside(r.overall) {
		faults = append(faults, fmt.Sprintf("%s: %v is not from 1 to 5", r.overallAt, r.overall))
	}
	return faults, false
}

func (r *logicReport) mean() float64 {
	if len(r.scores) == 0 {
		return 0
	}
	total := 0.0
	for _, s := range r.scores {
		total += s.score
	}
	return total / float64(len(r.scores))
}

func overallMean(r *logicReport) (faults []string, skipped bool) {
	if len(r.scores) == 0 {
		return nil, true
	}
	if mean := r.mean(); math.Abs(r.overall-mean) > 0.05+epsilon {
		return []string{fmt.Sprintf("%s: it is %v, but the mean of the dimension scores is %.4g", r.overallAt, r.overall, mean)}, false
	}
	return nil, false
}

// violationsOf counts those of a dimension, and those that name none.
func (r *logicReport) violationsOf(name string) (own, unnamed int) {
	for _, v := range r.violations {
		switch v.dimension {
		case name:
			own++
		case "":
			unnamed++
		}
	}
	return own, unnamed
}

func violationsRequired(r *logicReport) (faults []string, _ bool) {
	for _, s := range r.scores {
		if own, unnamed := r.violationsOf(s.name); s.score < 4-epsilon && own+unnamed == 0 {
			faults = append(faults, fmt.Sprintf("%s: %s has %v, under 4, and no violation", s.at, s.name, s.score))
		}
	}
	return faults, false
}

func violationsAbsent(r *logicReport) (faults []string, _ bool) {
	low := false
	for _, s := range r.scores {
		low = low || s.score < 4-epsilon
		if own, _ := r.violationsOf(s.name); s.score >= 4-epsilon && own > 0 {
			faults = append(faults, fmt.Sprintf("%s: %s has %v, 4 or more, and %d violations", s.at, s.name, s.score, own))
		}
	}
	if _, unnamed := r.violationsOf(""); !low && unnamed > 0 {
		faults = append(faults, fmt.Sprintf("/violations: every dimension has 4 or more, and there are %d violations", unnamed))
	}
	return faults, false
}

func stepIndexExists(r *logicReport) (faults []string, _ bool) {
	for _, v := range r.violations {
		if v.hasStep && (v.step < 1 || v.step > len(r.steps)) {
			faults = append(faults, fmt.Sprintf("%s/step_index: there is no step %d; the trace has %d", v.at, v.step, len(r.steps)))
		}
	}
	return faults, false
}

func citationVerbatim(r *logicReport) (faults []string, skipped bool) {
	cited := false
	var source *evidence.Source
	for _, v := range r.violations {
		if strings.TrimSpace(v.citation) == "" {
			continue
		}
		cited = true
		if source == nil {
			source = evidence.NewSource(r.trace.Output)
		}
		switch m := source.Locate(v.citation); m.Kind {
		case evidence.Near:
			if m.Distance > 0 {
				faults = append(faults, fmt.Sprintf("%s/step_citation: the trace has it only nearly, %d of %d words differ", v.at, m.Distance, m.Words))
			}
		case evidence.None:
			faults = append(faults, fmt.Sprintf("%s/step_citation: %q does not occur in the trace", v.at, v.citation))
		}
	}
	return faults, !cited
}

func fallacyNamed(r *logicReport) (faults []string, _ bool) {
	for _, v := range r.violations {
		if v.dimension == fallacyDimension && strings.TrimSpace(v.class) == "" {
			faults = append(faults, fmt.Sprintf("%s: the violation names no fallacy", v.at))
		}
	}
	return faults, false
}

func scoreSeverity(r *logicReport) (faults []string, _ bool) {
	for _, v := range r.violations {
		if v.severity != "critical" {
			continue
		}
		for _, s := range r.scores {
			if s.name == v.dimension && s.score >= 3-epsilon {
				faults = append(faults, fmt.Sprintf("%s: the violation is critical, but %s has %v", v.at, s.name, s.score))
			}
		}
	}
	return faults, false
}

// reading: score = mean of the dimension scores / 5, unrounded; label = that
// mean rounded half up.
func (r *logicReport) reading() judge.Reading {
	mean := r.mean()
	reading := judge.Reading{Score: mean / 5, Label: strconv.Itoa(int(math.Floor(mean + 0.5 + epsilon)))}
	for _, v := range r.violations {
		reading.Critical = reading.Critical || v.severity == "critical"
		class := v.class
		if class == "" {
			class = "violation"
		}
		reading.Findings = append(reading.Findings, judge.Finding{
			Step: v.step, Dimension: v.dimension, Class: class, Severity: v.severity,
			Quote: v.citation, Explanation: v.explanation,
		})
	}
	var low []string
	for _, s := range r.scores {
		if s.score <= 3+epsilon {
			low = append(low, fmt.Sprintf("%s has %v", s.name, s.score))
		}
	}
	if low != nil {
		reading.BelowThreshold = strings.Join(low, ", ") + " (3 or less)"
	}
	return reading
}
