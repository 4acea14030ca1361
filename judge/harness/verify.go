package harness

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/countersign/countersign/judge"
)

// outcome is how the making of a report ended, before it becomes a result.
type outcome struct {
	report      json.RawMessage
	checks      []judge.CheckResult
	reading     *judge.Reading
	undecided   bool
	noReport    bool
	explanation string

	// failure is the reason code when there is no valid report; detail says
	// why, incomplete that a part of the trace was not evaluated.
	failure    string
	detail     string
	incomplete bool
	err        error // what failed, where that is an error

	vote *vote // where the model was asked several times
}

// verified is what schema, checks and reading say of one report.
type verified struct {
	faults     []string // what must be repaired
	checks     []judge.CheckResult
	reading    judge.Reading
	incomplete bool
}

// verify holds a report against its schema and its checks, and reads it when
// nothing is at fault.
func (h *Harness) verify(j *judge.Judge, t *judge.Trace, report json.RawMessage) verified {
	s, err := h.schemas.of(j)
	if err != nil {
		return verified{faults: []string{fmt.Sprintf("judge %s: %v", j.Name, err)}}
	}
	if faults := s.faults(report); faults != nil {
		return verified{faults: bounded(faults)}
	}
	var v verified
	var read func() (judge.Reading, error)
	if j.Examine != nil {
		v.checks, read = j.Examine(report, t)
	} else {
		v.checks = RunChecks(j.Checks, report, t)
		read = func() (judge.Reading, error) { return j.Read(report, t) }
	}
	for _, c := range v.checks {
		if c.OK || c.Kind != judge.Hard {
			continue
		}
		v.faults = append(v.faults, fmt.Sprintf("check %s: %s", c.Name, c.Detail))
		v.incomplete = v.incomplete || coverage(j, c.Name)
	}
	if v.faults != nil {
		v.faults = bounded(v.faults)
		return v
	}
	if v.reading, err = read(); err != nil {
		v.faults = bounded([]string{err.Error()})
	}
	return v
}

func coverage(j *judge.Judge, name string) bool {
	for _, c := range j.Checks {
		if c.Name == name {
			return c.Coverage
		}
	}
	return false
}

// RunChecks runs checks one by one. Those that need an absent field are left
// out of the result.
func RunChecks(checks []judge.Check, report json.RawMessage, t *judge.Trace) []judge.CheckResult {
	results := make([]judge.CheckResult, 0, len(checks))
	for _, c := range checks {
		faults, skipped := c.Run(report, t)
		if skipped {
			continue
		}
		results = append(results, judge.CheckResult{
			Name: c.Name, Kind: c.Kind, OK: len(faults) == 0, Detail: strings.Join(faults, "; "),
		})
	}
	return results
}
