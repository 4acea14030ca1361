package ruling

import (
	"fmt"
	"slices"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/evidence"
)

// New makes the sheet of one item. e is the evaluation under review; nil when it
// is sealed for the person: the sheet is then made of the trace alone. An
// evaluation without a report (the judge failed) gives the same sheet. j is nil
// where the judge's definition is not known: its findings can be ruled on, its
// labels cannot. The error is a report that cannot be read.
//
// Keys of a sealed sheet are those of the open one, so that rulings made blind
// stay valid after the judge's are shown.
func New(j *judge.Judge, t *judge.Trace, e *judge.Evaluation) (Sheet, error) {
	if j == nil {
		j = &judge.Judge{}
	}
	s := Sheet{Kind: kindOf(j), Steps: evidence.Steps(t.Output), judge: j, trace: t, further: map[string]Part{}}
	if e != nil && len(e.Report) > 0 && string(e.Report) != "null" {
		s.Judged, s.report = true, reported{evaluation: e}
	}
	if err := s.fill(); err != nil {
		return Sheet{}, fmt.Errorf("rulings on judge %s: %w", j.Name, err)
	}
	s.at = make(map[string]place, 2*len(s.Units))
	for u := range s.Units {
		for p, part := range s.Units[u].Parts {
			s.at[part.Key] = place{u, p}
		}
	}
	return s, nil
}

func kindOf(j *judge.Judge) Kind {
	if j.Builtin {
		switch j.Name {
		case builtin.Citations:
			return Citations
		case builtin.Steps, builtin.StepsComparison:
			return Steps
		case builtin.Reference:
			return Reference
		case builtin.Logic, builtin.LogicSteps:
			return Logic
		}
	}
	return Own
}

// reported is the report of a sheet.
type reported struct {
	evaluation *judge.Evaluation               // nil: none
	citations  map[int]builtin.CitationOpinion // by occurrence
	violations []judge.Finding
	differs    builtin.ReferenceOpinion
}

func (s *Sheet) fill() error {
	switch s.Kind {
	case Citations:
		return s.fillCitations()
	case Steps:
		return s.fillSteps()
	case Reference:
		return s.fillReference()
	case Logic:
		return s.fillLogic()
	}
	return s.fillOwn()
}

// MostFindings that an answer may carry.
const MostFindings = 500

// Findings are what the person found, as decisions and labels keep it: the
// judge's where the person agrees or did not rule. At most MostFindings, the
// gravest first to stay.
func (s Sheet) Findings(rulings []judge.Ruling) []judge.Finding {
	a := s.answers(rulings)
	switch s.Kind {
	case Citations:
		return bounded(s.citationFindings(a))
	case Steps:
		return bounded(s.stepsFindings(a))
	case Reference:
		return bounded(s.referenceFindings(a))
	case Logic:
		return bounded(s.logicFindings(a))
	}
	return bounded(s.ownFindings(a))
}

// Outcome is what the rulings come to by the judge's own formula; where the
// person gave none the judge's counts. False: they do not determine a verdict,
// because some are open or because the judge has no formula for it. Score, label
// and parts then hold what is determined all the same.
func (s Sheet) Outcome(rulings []judge.Ruling, band judge.Band) (Outcome, bool) {
	a := s.answers(rulings)
	switch s.Kind {
	case Citations:
		return s.citationOutcome(a, band)
	case Steps:
		return s.stepsOutcome(a)
	case Reference:
		return s.referenceOutcome(a, band)
	case Logic:
		return s.logicOutcome(a, band)
	}
	return s.ownOutcome(a)
}

// bounded keeps the MostFindings gravest, in their order.
func bounded(list []judge.Finding) []judge.Finding {
	for rank := 0; len(list) > MostFindings && rank <= 3; rank++ {
		over := len(list) - MostFindings
		kept := make([]judge.Finding, 0, len(list))
		for i := len(list) - 1; i >= 0; i-- { // of equal ones the last go first
			if over > 0 && judge.SeverityRank(list[i].Severity) == rank {
				over--
				continue
			}
			kept = append(kept, list[i])
		}
		slices.Reverse(kept)
		list = kept
	}
	return list
}
