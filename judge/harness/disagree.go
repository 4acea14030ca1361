package harness

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
)

// Compared reports whether the verdicts of two evaluations of one judge on one
// trace are held against each other.
//
// An evaluation without a verdict says nothing, and one that was not decided says
// only that: neither takes part. Two by the same model and version are one rater
// heard twice; how its answers scatter is its Spread. A recorded report that does
// not say its model or version may be another's, so it counts as another model's.
func Compared(a, b *judge.Evaluation, d judge.Disagreement) bool {
	if !heard(a, d) || !heard(b, d) {
		return false
	}
	unknown := a.Model == judge.Unknown || b.Model == judge.Unknown
	oneModel := !unknown && a.Engine == b.Engine && a.Model == b.Model && a.Endpoint == b.Endpoint && max(1, a.Samples) == max(1, b.Samples)
	oneVersion := a.PromptVersion == b.PromptVersion || a.PromptVersion == judge.Unknown || b.PromptVersion == judge.Unknown
	switch d.Between {
	case judge.BetweenModels:
		return !oneModel && oneVersion
	case judge.BetweenVersions:
		return oneModel && !oneVersion
	}
	return !oneModel || !oneVersion
}

func heard(e *judge.Evaluation, d judge.Disagreement) bool {
	if e.Verdict == "" || e.Undecided {
		return false
	}
	if e.Engine == judge.EngineRecorded {
		return d.Recorded
	}
	return slices.Contains(d.Engines, e.Engine)
}

// Differing gives the places in others of every evaluation of the same judge and
// trace whose verdict contradicts that of e, in order: all of them, not the first.
// None where the policy does not send disagreement to people.
func Differing(e *judge.Evaluation, others []*judge.Evaluation, under judge.Effective) []int {
	if !under.On(nil, judge.ReasonJudgeDisagreement) {
		return nil
	}
	var list []int
	for i, o := range others {
		if o.Verdict != e.Verdict && Compared(e, o, under.Disagreement) {
			list = append(list, i)
		}
	}
	return list
}

// Disagreement is the reason for review of an evaluation from which these others
// differ. It names no verdict: the others may still wait for the blind answer of
// whoever reads it.
func Disagreement(others ...*judge.Evaluation) judge.Reason {
	const most = 5
	var names []string
	for _, o := range others {
		name := fmt.Sprintf("model %s with prompt version %.12s", o.Model, o.PromptVersion)
		if o.Endpoint != "" {
			name = fmt.Sprintf("model %s at %s with prompt version %.12s", o.Model, o.Endpoint, o.PromptVersion)
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	says := "says"
	text := names[len(names)-1]
	if len(names) > 1 {
		says, text = "say", strings.Join(names[:len(names)-1], ", ")+" and "+text
	}
	return judge.Reason{Code: judge.ReasonJudgeDisagreement, Detail: text + " " + says + " otherwise"}
}

// Compare holds all evaluations of one judge on one trace against each other, and
// sends each that another contradicts to a person. It gives the places of those
// that changed. What a person or an adjudicated label settled stays as it is, and
// so does one that has the reason already.
func Compare(all []*judge.Evaluation, under judge.Effective) (changed []int) {
	for i, e := range all {
		if e.Status != judge.Accepted && e.Status != judge.InReview || disagrees(e) {
			continue
		}
		var others []*judge.Evaluation
		for _, k := range Differing(e, all, under) {
			others = append(others, all[k])
		}
		if others == nil {
			continue
		}
		// It is reviewed whatever it was drawn for.
		e.Reasons = slices.DeleteFunc(e.Reasons, func(r judge.Reason) bool {
			return r.Code == judge.ReasonRandomAudit || r.Code == judge.ReasonBoundaryAudit
		})
		e.Reasons = append(e.Reasons, Disagreement(others...))
		slices.SortStableFunc(e.Reasons, func(a, b judge.Reason) int {
			return cmp.Compare(judge.ReasonRank(a.Code), judge.ReasonRank(b.Code))
		})
		e.Status, e.Result = judge.InReview, nil
		changed = append(changed, i)
	}
	return changed
}

func disagrees(e *judge.Evaluation) bool {
	return slices.ContainsFunc(e.Reasons, func(r judge.Reason) bool { return r.Code == judge.ReasonJudgeDisagreement })
}
