package ruling

import (
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/evidence"
)

// New makes the sheet of one item. e is the evaluation under review; nil when it
// is sealed for the person: the sheet is then made of the trace alone. An
// evaluation without a report (the judge failed) gives the same sheet. The error
// is a report that cannot be read.
//
// Keys of a sealed sheet are those of the open one, so that rulings made blind
// stay valid after the judge's are shown.
func New(j *judge.Judge, t *judge.Trace, e *judge.Evaluation) (Sheet, error) {
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
	evaluation *judge.Evaluation // nil: none
}

func (s *Sheet) fill() error {
	switch s.Kind {
	default:
		return s.fillOwn()
	}
}

// Findings are what the person found, as decisions and labels keep it.
func (s Sheet) Findings(rulings []judge.Ruling) []judge.Finding {
	switch s.Kind {
	default:
		return s.ownFindings(s.answers(rulings))
	}
}

// Outcome is what the rulings come to by the judge's own formula; where the
// person gave none the judge's counts. False: they do not determine a verdict,
// because some are open or because the judge has no formula for it. Score, label
// and parts then hold what is determined all the same.
func (s Sheet) Outcome(rulings []judge.Ruling, band judge.Band) (Outcome, bool) {
	switch s.Kind {
	default:
		return s.ownOutcome(s.answers(rulings))
	}
}
