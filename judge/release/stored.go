package release

import (
	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
)

// Stored counts evaluations of a stored run that are alike. What is sealed for the
// reader has no verdict here.
type Stored struct {
	Rater
	Engine  string
	Verdict judge.Verdict // the judge's; empty: it gave none, or it is not told
	Standing
	// Result that settled them, where Standing is Settled; empty: none of the verdicts.
	Result judge.Verdict
	// ByPeople settled them.
	ByPeople bool
	N        int
}

// Standing is how stored evaluations stand.
type Standing int

// Standings.
const (
	Settled      Standing = iota // accepted, or final by people
	ForPeople                    // waits for a person
	JudgeFailing                 // waits for a person, because there is no valid report
	Refusing                     // the trace lacks what the judge needs
)

// AddStored counts evaluations of a run from the kept counts of a project, which
// has their labels too: none of them comes with the run.
func (y *Tally) AddStored(s Stored) {
	y.mu.Lock()
	defer y.mu.Unlock()
	key := groupKey{s.Judge, s.PromptVersion, s.Model, s.Engine}
	g := y.groups[key]
	if g == nil {
		g = &group{cells: map[calibration.Cell]int{}, strata: map[calibration.StratumCount]int{}}
		y.groups[key] = g
	}
	g.counts.Evaluations += s.N
	if s.Verdict != "" && s.Standing != Refusing {
		g.judged += s.N
		if s.Verdict == judge.Pass {
			g.judgedPassed += s.N
		}
	}
	switch {
	case s.Standing == Refusing:
		g.counts.Refused += s.N
	case s.Standing != Settled:
		g.counts.Waiting += s.N
		if s.Standing == JudgeFailing {
			g.counts.JudgeFailed += s.N
		}
	case s.Result == "":
		g.counts.Abstained += s.N
	default:
		g.counts.Decided += s.N
		if s.ByPeople {
			g.counts.ByPeople += s.N
		}
		if s.Result == judge.Pass {
			g.counts.Passed += s.N
		} else {
			y.failed += s.N
		}
	}
}
