package builtin

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// Opinions are what a report says of each part of a trace, as a person who rules
// on the parts must see it. Reports come here after their schema and hard checks;
// one that cannot be decoded all the same is an error.

// CitationOpinion is what a report says of one citation.
type CitationOpinion struct {
	// Occurrence in the trace, from 1; 0: the trace has no marker for it.
	Occurrence        int
	Exists, Quote     bool
	Fidelity, Support string
	Explanation       string
	Flagged           bool
	Flags             []Flag // of this citation; may be empty where it is flagged
	Label             string // "[7]"
}

// Flag of misattribution.
type Flag struct{ Type, Severity, Detail string }

// CitationOpinions reads a report of the judge citations. j gives the form of
// the markers.
func CitationOpinions(j *judge.Judge, report json.RawMessage, t *judge.Trace) ([]CitationOpinion, error) {
	r, err := openCitations(report, t, j.Markers)
	if err != nil {
		return nil, err
	}
	flags := r.flagsByEvaluation()
	list := make([]CitationOpinion, len(r.Evaluations))
	for i, e := range r.Evaluations {
		o := CitationOpinion{
			Exists: e.Exists, Quote: e.Quote, Fidelity: e.Fidelity, Support: e.Support, Explanation: e.Explanation,
			Flagged: e.Flagged, Label: e.ID.String(),
		}
		if at := r.occurrence[i]; at >= 0 {
			o.Occurrence = r.markers[at].Number
		}
		for _, f := range flags[i] {
			o.Flags = append(o.Flags, Flag{f.Type, f.Severity, f.Detail})
		}
		list[i] = o
	}
	return list, nil
}

// StepOpinions is what a report says of the steps of a trace, in either contract.
type StepOpinions struct {
	// ReferenceSteps and CandidateSteps are how many the report counts; both 0 in
	// the contract comparison, which counts none.
	ReferenceSteps, CandidateSteps int
	Pairs                          []PairOpinion
	Extras                         []ExtraOpinion
	// AnswerMatches is nil in the contract comparison, which does not say.
	AnswerMatches *bool
	// Critical errors that are told apart from the steps.
	Critical []string
}

// PairOpinion is what a report says of one step of the reference.
type PairOpinion struct {
	// Reference is the step's number, from 1, as the report counts.
	Reference int
	// ReferenceText is the report's summary or copy of it.
	ReferenceText string
	// Candidate steps as the report counts them; in the contract comparison, which
	// gives texts, as the trace has them: empty where the text is none of its steps.
	Candidate     []int
	CandidateText string // of the contract comparison
	Judgment      string // alignment_judgment or match_type
	Explanation   string
	Critical      bool
}

// ExtraOpinion is what a report says of a step that stands for none of the
// reference. Step is as PairOpinion.Candidate, 0: none.
type ExtraOpinion struct {
	Step        int
	Text        string
	Judgment    string // classification or match_type
	Explanation string
	Critical    bool
}

// ReadSteps reads a report of the judge steps or steps-comparison.
func ReadSteps(j *judge.Judge, report json.RawMessage, t *judge.Trace) (StepOpinions, error) {
	if j.Name == StepsComparison {
		r, err := openComparison(report, t)
		if err != nil {
			return StepOpinions{}, err
		}
		return r.opinions(), nil
	}
	r, err := openAlignment(report, t)
	if err != nil {
		return StepOpinions{}, err
	}
	return r.opinions(), nil
}

func (r *alignmentReport) opinions() StepOpinions {
	o := StepOpinions{ReferenceSteps: r.ReferenceSteps, CandidateSteps: r.CandidateSteps, AnswerMatches: &r.AnswerMatches, Critical: r.Overall.Critical}
	for _, a := range r.Alignments {
		o.Pairs = append(o.Pairs, PairOpinion{
			Reference: a.Reference, ReferenceText: a.Summary, Candidate: a.Candidate, Judgment: a.Judgment, Explanation: a.Explanation,
		})
	}
	for _, u := range r.Unaligned {
		o.Extras = append(o.Extras, ExtraOpinion{Step: u.Candidate, Text: u.Summary, Judgment: u.Class, Explanation: u.Explanation})
	}
	return o
}

// opinions numbers the lines with a side of the reference, as readComparison does
// but for contradictions without one: they are about a step of the output alone.
func (r *comparisonReport) opinions() StepOpinions {
	var o StepOpinions
	critical := map[int]bool{}
	for _, n := range r.Critical {
		critical[n] = true
	}
	steps := newStepFinder(r.trace.Output, evidence.Steps(r.trace.Output))
	for _, c := range r.Comparisons {
		step := steps.step(c.Model)
		if strings.TrimSpace(c.Reference) == "" || c.Match == "extra_step" {
			o.Extras = append(o.Extras, ExtraOpinion{Step: step, Text: c.Model, Judgment: c.Match, Explanation: c.Explanation, Critical: critical[c.Number]})
			continue
		}
		p := PairOpinion{
			Reference: len(o.Pairs) + 1, ReferenceText: c.Reference, CandidateText: c.Model, Judgment: c.Match,
			Explanation: c.Explanation, Critical: critical[c.Number],
		}
		if step > 0 {
			p.Candidate = []int{step}
		}
		o.Pairs = append(o.Pairs, p)
	}
	return o
}

// LogicOpinions is what a report says of a trace's logic, in either contract.
type LogicOpinions struct {
	Scores     []DimensionOpinion
	Violations []judge.Finding // in the order of the evaluation's findings
	// Places of their quotations in the output, exactly or nearly; Kind None where a
	// violation quotes nothing, or nothing of the output.
	Places []evidence.Match
}

// DimensionOpinion is a dimension's score, from 1 to 5.
type DimensionOpinion struct {
	Name  string
	Score float64
}

// ReadLogic reads a report of the judge logic or logic-steps.
func ReadLogic(j *judge.Judge, report json.RawMessage, t *judge.Trace) (LogicOpinions, error) {
	r := &logicReport{rubric: j.Rubric, steps: newStepFinder(t.Output, evidence.Steps(t.Output))}
	open := openRubric
	if j.Name == LogicSteps {
		open = openLogicSteps
	}
	if err := open(report, r); err != nil {
		return LogicOpinions{}, err
	}
	o := LogicOpinions{Violations: r.reading().Findings}
	for _, s := range r.scores {
		o.Scores = append(o.Scores, DimensionOpinion{s.name, s.score})
	}
	for _, v := range r.violations {
		place := evidence.Match{Kind: evidence.None}
		if strings.TrimSpace(v.citation) != "" {
			place = r.steps.match(v.citation)
		}
		o.Places = append(o.Places, place)
	}
	return o, nil
}

// ReferenceOpinion is what a report says of an output and its reference.
type ReferenceOpinion struct {
	Class       string
	Differences []string
	// Errors is how many of the differences count, Differences' length where the
	// report does not say.
	Errors    int
	Rationale string
}

// ReadReference reads a report of the judge reference.
func ReadReference(report json.RawMessage, t *judge.Trace) (ReferenceOpinion, error) {
	r, err := openReference(report, t)
	if err != nil {
		return ReferenceOpinion{}, err
	}
	o := ReferenceOpinion{Class: r.Class, Differences: r.Differences, Errors: len(r.Differences), Rationale: r.Rationale}
	if r.Errors != nil {
		o.Errors = *r.Errors
	}
	return o, nil
}

// Credit is the partial credit of a class of the judge reference, in [0,1]:
// exact 1.0, equivalent 0.95, variation 0.7, difference max(0, 1 - 0.3 * errors).
func Credit(class string, errors int) (float64, error) {
	switch class {
	case exactMatch:
		return 1, nil
	case semanticEquivalent:
		return 0.95, nil
	case acceptableVariation:
		return 0.7, nil
	case substantiveDifference:
		return max(0, 1-0.3*float64(errors)), nil
	}
	return 0, fmt.Errorf("%q is no class of the judge reference", class)
}

// CitationLabel is the label of the judge citations: inaccurate when critical or
// under 0.6, accurate when nothing is flagged and at least 0.8, else partial.
func CitationLabel(score float64, flagged, critical bool) string {
	switch {
	case critical || score < 0.6-epsilon:
		return "inaccurate"
	case !flagged && score >= 0.8-epsilon:
		return "accurate"
	}
	return "partial"
}

// CitationValue is what one citation counts: 0 when it is flagged or unsupported,
// else 1 when fully and 0.5 when partially supported.
func CitationValue(flagged bool, support string) float64 {
	return citationEvaluation{Flagged: flagged, Support: support}.value()
}

// LogicLabel is a score from 1 to 5 as a label: rounded half up.
func LogicLabel(score float64) string { return rounded(score) }
