package builtin

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge"
)

func readCitations(r *citationsReport) judge.Reading {
	reading := judge.Reading{Score: r.overall(), Misattribution: r.gravest(), Findings: r.findings(), UncitedSteps: r.uncited()}
	reading.Critical = reading.Misattribution != nil && reading.Misattribution.Severity == judge.SeverityCritical
	reading.Label = CitationLabel(reading.Score, len(r.Flags) > 0, reading.Critical)
	reading.Parts = overall(reading.Score)
	for i, e := range r.Evaluations {
		reading.Parts = append(reading.Parts, judge.Part{Name: fmt.Sprintf("citation %d, %s", r.number(i), e.ID), Value: e.value()})
		reading.PartLabels = append(reading.PartLabels, judge.PartLabel{Kind: judge.PartCitation, Key: strconv.Itoa(r.number(i)), Label: e.Support})
	}
	return reading
}

// gravest is the first of the gravest flags; nil when there is no flag.
func (r *citationsReport) gravest() *judge.Misattribution {
	var worst *misattribution
	for i, f := range r.Flags {
		if worst == nil || judge.SeverityRank(f.Severity) > judge.SeverityRank(worst.Severity) {
			worst = &r.Flags[i]
		}
	}
	if worst == nil {
		return nil
	}
	return &judge.Misattribution{Severity: worst.Severity, Detail: fmt.Sprintf("%s %s: %s", worst.ID, worst.Type, worst.Detail)}
}

func (r *citationsReport) findings() []judge.Finding {
	var list []judge.Finding
	flags := r.flagsByEvaluation()
	for i, e := range r.Evaluations {
		f := judge.Finding{Step: max(0, e.Step), CitationID: string(e.ID), Quote: e.StepText}
		if o := r.occurrence[i]; o >= 0 {
			f.Step, f.Citation = r.markers[o].Step, r.markers[o].Number
		}
		switch {
		case e.Flagged && len(flags[i]) == 0: // the flags of its citation name other steps
			f.Class, f.Explanation = "flagged", e.Explanation
			if types := e.wrong(); len(types) > 0 {
				f.Class = types[0]
			}
			list = append(list, f)
		case e.Flagged:
			for _, flag := range flags[i] {
				if flag.Type == unsupported && flags[i][0].Type == citationNotFound {
					continue // a source that is not there supports nothing: one finding says both
				}
				f.Class, f.Severity, f.Explanation = flag.Type, flag.Severity, flag.Detail
				list = append(list, f)
			}
		case e.Support != "fully_supported":
			f.Class, f.Explanation = e.Support, e.Explanation
			list = append(list, f)
		}
	}
	return list
}

// number of the occurrence that an evaluation is about, from 1.
func (r *citationsReport) number(evaluation int) int {
	if o := r.occurrence[evaluation]; o >= 0 {
		return r.markers[o].Number
	}
	return evaluation + 1
}

// uncited are the steps that say something and cite nothing; never nil.
func (r *citationsReport) uncited() []int {
	const claimWords = 5 // fewer words are a heading or a transition
	cites := map[int]bool{}
	for _, m := range r.markers {
		cites[m.Step] = true
	}
	list := []int{}
	for _, s := range r.steps {
		if !cites[s.Number] && len(strings.Fields(s.Text)) >= claimWords && !strings.HasSuffix(strings.TrimSpace(s.Text), ":") {
			list = append(list, s.Number)
		}
	}
	return list
}
