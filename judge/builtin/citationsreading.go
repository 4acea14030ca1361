package builtin

import (
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge"
)

func readCitations(r *citationsReport) judge.Reading {
	reading := judge.Reading{Score: r.overall()}
	for _, f := range r.Flags {
		reading.Critical = reading.Critical || f.Severity == "critical"
		if high(r.trace) || f.Severity == "critical" || f.Severity == "major" {
			if reading.Reasons == nil {
				reading.Reasons = []judge.Reason{{Code: judge.ReasonMisattribution,
					Detail: fmt.Sprintf("%s %s: %s", f.ID, f.Type, f.Detail)}}
			}
		}
	}
	switch {
	case reading.Critical || reading.Score < 0.6-epsilon:
		reading.Label = "inaccurate"
	case len(r.Flags) == 0 && reading.Score >= 0.8-epsilon:
		reading.Label = "accurate"
	default:
		reading.Label = "partial"
	}
	reading.Findings = r.findings()
	reading.BelowThreshold = r.belowThreshold(reading.Score)
	reading.Uncited = r.uncited()
	return reading
}

func (r *citationsReport) findings() []judge.Finding {
	var list []judge.Finding
	flags := r.flagsByEvaluation()
	for i, e := range r.Evaluations {
		f := judge.Finding{Step: e.Step, CitationID: string(e.ID), Quote: e.StepText}
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

func (r *citationsReport) belowThreshold(score float64) string {
	var parts []string
	if score < 0.8-epsilon {
		parts = append(parts, fmt.Sprintf("overall %.2f", score))
	}
	for i, e := range r.Evaluations {
		if e.value() < 0.8-epsilon {
			parts = append(parts, fmt.Sprintf("citation %d, %s, counts %v", r.number(i), e.ID, e.value()))
		}
	}
	if parts == nil {
		return ""
	}
	return joined(parts) + " (below 0.80)"
}

// number of the occurrence that an evaluation is about, from 1.
func (r *citationsReport) number(evaluation int) int {
	if o := r.occurrence[evaluation]; o >= 0 {
		return r.markers[o].Number
	}
	return evaluation + 1
}

// uncited names the steps that say something and cite nothing.
func (r *citationsReport) uncited() string {
	const claimWords = 5 // fewer words are a heading or a transition
	cites := map[int]bool{}
	for _, m := range r.markers {
		cites[m.Step] = true
	}
	var list []string
	for _, s := range r.steps {
		if !cites[s.Number] && len(strings.Fields(s.Text)) >= claimWords && !strings.HasSuffix(strings.TrimSpace(s.Text), ":") {
			list = append(list, fmt.Sprint(s.Number))
		}
	}
	if list == nil {
		return ""
	}
	return "without any citation: steps " + strings.Join(list, ", ")
}
