package release

import (
	"cmp"
	"slices"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
)

// humanSide is what the labels that came with a trace come to for one judge.
type humanSide struct {
	answer      calibration.Answer
	adjudicated bool
	visible     bool
	stratum     string
	// probability with which the trace was drawn for labelling; 0: not known.
	probability float64
}

// passes reports whether people passed the trace; ok is false when they gave no
// verdict.
func (h humanSide) passes() (passes, ok bool) {
	return h.answer.Verdict == judge.Pass, h.answer.Verdict != "" && !h.answer.Abstained
}

// people applies the rule that a project applies to imported labels: the newest
// adjudicated label, else the majority of the newest label of each reviewer, without
// abstentions where anybody has an opinion; a tie is an abstention. there is false
// without labels for this judge.
func people(t *judge.Trace, j *judge.Judge) (h humanSide, there bool) {
	all := labelsFor(t, j)
	if len(all) == 0 {
		return h, false
	}
	voters := voting(all)
	h.adjudicated = voters[0].Adjudicated
	for _, v := range voters {
		h.visible = h.visible || v.Blind != nil && !*v.Blind
		h.stratum = max(h.stratum, v.Stratum)
		if v.InclusionProbability != nil {
			h.probability = max(h.probability, *v.InclusionProbability)
		}
	}
	byLabel := !slices.ContainsFunc(voters, func(v voter) bool { return v.Label == "" })
	ballots := map[string]int{}
	most, tied := "", false
	for _, v := range voters {
		ballots[v.said(byLabel)]++
	}
	for answer, n := range ballots {
		switch {
		case n > ballots[most]:
			most, tied = answer, false
		case n == ballots[most] && answer != most:
			tied = true
		}
	}
	if tied {
		h.answer.Abstained = true
		return h, true
	}
	for _, v := range voters {
		if v.said(byLabel) == most {
			h.answer = calibration.Answer{Verdict: v.meant, Abstained: v.abstained}
			if byLabel {
				h.answer.Label = v.Label
			}
			break
		}
	}
	return h, true
}

// voter is a label and what it means on the judge's scale.
type voter struct {
	judge.HumanLabel
	meant     judge.Verdict
	abstained bool
}

func (v voter) said(byLabel bool) string {
	if byLabel {
		return v.Label
	}
	return string(v.meant)
}

// labelsFor are the labels for a judge, the newest first; of one time the later in
// the file is newer.
func labelsFor(t *judge.Trace, j *judge.Judge) (all []voter) {
	for _, l := range slices.Backward(t.Labels) {
		if l.Judge != j.Name {
			continue
		}
		scale, _ := j.LabelNamed(l.Label)
		all = append(all, voter{l, cmp.Or(l.Verdict, scale.Verdict), scale.Abstain})
	}
	at := func(v voter) time.Time {
		if v.At == nil {
			return time.Time{}
		}
		return *v.At
	}
	slices.SortStableFunc(all, func(a, b voter) int { return at(b).Compare(at(a)) })
	return all
}

func voting(all []voter) (counted []voter) {
	if i := slices.IndexFunc(all, func(v voter) bool { return v.Adjudicated }); i >= 0 {
		return all[i : i+1]
	}
	heard := map[string]bool{}
	for _, v := range all {
		if v.Reviewer != "" && heard[v.Reviewer] {
			continue
		}
		heard[v.Reviewer] = true
		counted = append(counted, v)
	}
	if slices.ContainsFunc(counted, func(v voter) bool { return !v.abstained }) {
		counted = slices.DeleteFunc(counted, func(v voter) bool { return v.abstained })
	}
	return counted
}
