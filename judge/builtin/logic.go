package builtin

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// logicReport is what the reports of logic and logic-steps have in common.
type logicReport struct {
	overall    float64
	overallAt  string // JSON pointer of overall
	scores     []dimensionScore
	violations []violation

	rubric judge.Rubric
	steps  *stepFinder
	count  map[string]int // violations of each dimension
	loose  int            // violations that name no dimension of the rubric
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

// LogicWith are the judges logic and logic-steps with a project's own rubric (see
// judge.ParseRubric). They keep their names; rubric and schema make another prompt
// version. An empty rubric is a fault of the program.
func LogicWith(rubric judge.Rubric) (logic, logicSteps judge.Judge) {
	if len(rubric) == 0 {
		panic("builtin: a rubric without dimensions")
	}
	return equipLogic(Logic, rubric, openRubric), equipLogic(LogicSteps, rubric, openLogicSteps)
}

func equipLogic(name string, rubric judge.Rubric, read func(json.RawMessage, *logicReport) error) judge.Judge {
	blocks := map[string]string{"RUBRIC_DIMENSIONS": rubricText(rubric), "EXAMPLES": examplesFor(rubric, string(content(name+"/examples.md")))}
	j := loadWith(name, func(beside string) ([]byte, error) {
		if name == Logic && beside == "schema.json" {
			return logicSchema(rubric), nil
		}
		return files.ReadFile(path.Join(name, beside))
	}, blocks, "STEP_LIST")
	j.Rubric = rubric
	j.Below = &judge.Line{At: 3.0 / judge.MaxScore, Inclusive: true}
	open := func(report json.RawMessage, t *judge.Trace) (*logicReport, error) {
		r := &logicReport{rubric: rubric, steps: newStepFinder(t.Output, evidence.Steps(t.Output)), count: map[string]int{}}
		if err := read(report, r); err != nil {
			return nil, err
		}
		for _, v := range r.violations {
			if _, ok := rubric.Named(v.dimension); ok {
				r.count[v.dimension]++
			} else {
				r.loose++
			}
		}
		return r, nil
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

// pointerEscaper writes a name as a part of a JSON pointer (RFC 6901).
var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

// openRubric reads the contract rubric.
func openRubric(report json.RawMessage, r *logicReport) error {
	doc, err := decode[struct {
		Overall    float64 `json:"overall_validity_score"`
		Dimensions map[string]*struct {
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
		if d == nil {
			continue // null: as if it were not there
		}
		at := "/dimension_scores/" + pointerEscaper.Replace(name)
		r.scores = append(r.scores, dimensionScore{name, d.Score, at + "/score"})
		for i, v := range d.Violations {
			r.violations = append(r.violations, violation{
				at: fmt.Sprintf("%s/violations/%d", at, i), dimension: name, step: r.steps.step(v.Citation),
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

func dimensionsComplete(r *logicReport) (faults []string, _ bool) {
	seen := map[string]int{}
	for _, s := range r.scores {
		if seen[s.name]++; seen[s.name] == 2 {
			faults = append(faults, fmt.Sprintf("%s: dimension %s is scored twice", s.at, s.name))
		}
		if _, ok := r.rubric.Named(s.name); !ok {
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
