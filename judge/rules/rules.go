// Package rules is the embedded engine: what comparing texts can decide of the
// built-in judges' questions, without a model and without a network.
//
// It says that a cited source is not there, that a quotation is altered or
// absent, that a claim stands in its source word for word, that two answers
// are the same but for form or differ in a number or a negation, that a step
// of a reference is there in its words or its calculations, that final answers
// are different numbers, that a calculation is wrong. It must never say more:
// whether a source supports a claim in other words, or whether a reasoning is
// valid, is no question of text, so it is left to a person, and the evaluation
// is borderline unless the undecided parts cannot change the verdict.
// docs/judges.md says how often it was right on labelled data.
package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/countersign/countersign/judge"
)

// Engine is the rules engine. The zero value is ready for use; it is safe for
// use by several goroutines.
type Engine struct {
	// Markers is the project's pattern for citation markers, with the id in
	// its first group; nil means the default form (see evidence.Markers).
	Markers *regexp.Regexp
}

var _ judge.Reporter = Engine{}

// Names of the judges that text comparison can say something about.
const (
	citationsJudge  = "citations"
	referenceJudge  = "reference"
	stepsJudge      = "steps"
	comparisonJudge = "steps-comparison"
	logicJudge      = "logic"
	logicStepsJudge = "logic-steps"
)

// Name is judge.EngineRules.
func (Engine) Name() string { return judge.EngineRules }

// Report gives the report of a built-in judge, and of an own judge that settles
// identical texts itself the one on those. NoReport is true where texts show
// nothing that a report could say; a person decides then.
func (e Engine) Report(ctx context.Context, j *judge.Judge, t *judge.Trace, _ judge.Planned) (judge.Given, error) {
	if err := ctx.Err(); err != nil {
		return judge.Given{}, err
	}
	switch j.Name {
	case citationsJudge:
		report, undecided := e.Citations(t, j.Band)
		return given(report, undecided)
	case referenceJudge:
		report, undecided := Reference(t)
		if undecided != "" {
			return none(undecided), nil
		}
		return given(report, "")
	case stepsJudge, comparisonJudge:
		a, why := align(t)
		if a == nil {
			return none(why), nil
		}
		if j.Name == stepsJudge {
			return given(a.report())
		}
		return given(a.comparison())
	case logicJudge, logicStepsJudge:
		x, found := examineLogic(j, t)
		switch {
		case !found:
			return none(x.open), nil
		case j.Name == logicJudge:
			return given(x.rubric(), x.open)
		}
		return given(x.steps(), x.open)
	}
	// An own judge may say itself what identical texts are.
	if j.Settle != nil {
		if report := j.Settle(t); report != nil {
			return judge.Given{Report: report}, nil
		}
	}
	return none(fmt.Sprintf("comparing texts cannot decide the question of judge %s; a person decides", j.Name)), nil
}

func none(why string) judge.Given { return judge.Given{NoReport: true, Explanation: why} }

func given(report any, undecided string) (judge.Given, error) {
	body, err := json.Marshal(report)
	if err != nil {
		return judge.Given{}, fmt.Errorf("rules engine: write its report: %w", err)
	}
	return judge.Given{Report: body, Undecided: undecided != "", Explanation: undecided}, nil
}
