package builtin

import (
	"fmt"
	"slices"
)

// Flag types of misattribution.
const (
	citationNotFound = "citation_not_found"
	quoteMismatch    = "quote_mismatch"
	contextMismatch  = "context_mismatch"
	unsupported      = "unsupported" // a strength of support too
)

// faults of a citation, by the flags that say them. A report says each of them
// twice, in the evaluation and as a flag.
func (e citationEvaluation) wrong() (types []string) {
	if !e.Exists {
		types = append(types, citationNotFound)
	}
	if !e.Quote {
		types = append(types, quoteMismatch)
	}
	if e.Fidelity == "mismatch" {
		types = append(types, contextMismatch)
	}
	if e.Support == unsupported {
		types = append(types, unsupported)
	}
	return types
}

// says is how the evaluation says what a flag type says, with its place.
var says = map[string]string{
	citationNotFound: "citation_exists: it is false",
	quoteMismatch:    "quote_accurate: it is false",
	contextMismatch:  "context_fidelity: it is mismatch",
	unsupported:      "claim_support_strength: it is unsupported",
}

// flagMatches: each flag fits a flagged occurrence of its citation, of its step
// where the flag names one; each flagged occurrence has a flag of its citation;
// and each fault that an evaluation names has a flag of its type for the citation.
func flagMatches(r *citationsReport) (faults []string, _ bool) {
	flagged, flaggedIn := map[citationID]bool{}, map[inStep]bool{}
	for _, e := range r.Evaluations {
		if e.Flagged {
			flagged[e.ID], flaggedIn[inStep{e.ID, e.Step}] = true, true
		}
	}
	types := map[citationID][]string{} // at most the four there are
	for i, f := range r.Flags {
		if f.Step == 0 && !flagged[f.ID] || f.Step != 0 && !flaggedIn[inStep{f.ID, f.Step}] {
			faults = append(faults, fmt.Sprintf("/misattribution_flags/%d: it fits no flagged evaluation of %s", i, f.ID))
		}
		if !slices.Contains(types[f.ID], f.Type) {
			types[f.ID] = append(types[f.ID], f.Type)
		}
	}
	for i, e := range r.Evaluations {
		if e.Flagged && len(types[e.ID]) == 0 {
			faults = append(faults, fmt.Sprintf("/citation_evaluations/%d/flagged: it is true, but misattribution_flags has no flag of %s", i, e.ID))
		}
		for _, flag := range e.wrong() {
			if !slices.Contains(types[e.ID], flag) {
				faults = append(faults, fmt.Sprintf("/citation_evaluations/%d/%s, but misattribution_flags has no flag %s of %s", i, says[flag], flag, e.ID))
			}
		}
	}
	return faults, false
}

// flagsByEvaluation deals the flags out to the flagged evaluations that they fit:
// of each type the first flag to the first evaluation and so on, the last flag
// again where there are fewer, and what is left to the last. A flag that names no
// step fits every one of its citation.
func (r *citationsReport) flagsByEvaluation() [][]misattribution {
	dealt := make([][]misattribution, len(r.Evaluations))
	deal := func(key func(citationEvaluation) inStep, flagsWithStep bool) {
		places := map[inStep][]int{}
		for i, e := range r.Evaluations {
			if e.Flagged {
				places[key(e)] = append(places[key(e)], i)
			}
		}
		type kind struct {
			at   inStep
			flag string
		}
		lists := map[kind][]misattribution{}
		var order []kind
		for _, f := range r.Flags {
			if k := (kind{inStep{f.ID, f.Step}, f.Type}); (f.Step != 0) == flagsWithStep {
				if lists[k] == nil {
					order = append(order, k)
				}
				lists[k] = append(lists[k], f)
			}
		}
		for _, k := range order {
			flags, at := lists[k], places[k.at]
			for n, e := range at {
				has := slices.ContainsFunc(dealt[e][:min(4, len(dealt[e]))], func(f misattribution) bool { return f.Type == k.flag })
				if !has || n < len(flags) {
					dealt[e] = append(dealt[e], flags[min(n, len(flags)-1)])
				}
				if n == len(at)-1 && len(flags) > len(at) {
					dealt[e] = append(dealt[e], flags[len(at):]...)
				}
			}
		}
	}
	deal(func(e citationEvaluation) inStep { return inStep{e.ID, e.Step} }, true)
	deal(func(e citationEvaluation) inStep { return inStep{e.ID, 0} }, false)
	return dealt
}
