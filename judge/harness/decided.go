package harness

import "github.com/countersign/countersign/judge"

// decided reports that a built-in reading says itself what lies below the line,
// in place of giving its parts.
func decided(j *judge.Judge, r *judge.Reading) bool { return j.Builtin && r.Parts == nil }

// oldReasons are those of readings that decide themselves.
func oldReasons(j *judge.Judge, r *judge.Reading, under judge.Effective) []judge.Reason {
	list := append([]judge.Reason(nil), r.Reasons...)
	if decided(j, r) && r.BelowThreshold != "" && under.On(j, judge.ReasonBelowThreshold) {
		list = append(list, judge.Reason{Code: judge.ReasonBelowThreshold, Detail: r.BelowThreshold})
	}
	if r.Uncited != "" && r.UncitedSteps == nil && under.On(j, judge.ReasonUncitedClaims) {
		list = append(list, judge.Reason{Code: judge.ReasonUncitedClaims, Detail: r.Uncited})
	}
	return list
}
