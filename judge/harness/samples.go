package harness

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign/countersign/judge"
)

// sampled asks a model several times and lets its answers vote (self-consistency:
// Wang et al. 2022). The first is asked at temperature 0, as for one answer, the
// others at the policy's, each with a seed and repairs of its own. The report is
// that of the answer whose score lies nearest to the median of those that carry
// the verdict.
//
// An answer without a valid report has no vote; when fewer than half have one,
// there is no result. A call that brings no reply for good ends it: the calls
// that were made are kept, and a retry makes all anew.
func (h *Harness) sampled(ctx context.Context, l *line, ask asking, e *judge.Evaluation) outcome {
	answers := make([]outcome, 0, l.planned.Samples)
	for i := range l.planned.Samples {
		one := ask
		one.sample = i + 1
		if i > 0 {
			one.params.Temperature = l.under.SampleTemperature
			seed := *ask.params.Seed + int64(i)
			one.params.Seed = &seed
		}
		got := h.answer(ctx, l, one, e)
		if got.failure == judge.ReasonJudgeFailed {
			return got
		}
		answers = append(answers, got)
	}
	return elect(ask.judge, answers, l.under)
}

// vote is what several answers say together.
type vote struct {
	spread  judge.Spread
	verdict judge.Verdict // of the most; borderline when no verdict has most
	detail  string        // who says what, where they do not all say the same
}

// elect makes one outcome of several.
func elect(j *judge.Judge, answers []outcome, under judge.Effective) outcome {
	var usable []outcome
	var unusable []string
	for i, a := range answers {
		if a.failure != "" {
			unusable = append(unusable, fmt.Sprintf("answer %d: %s", i+1, a.detail))
			continue
		}
		usable = append(usable, a)
	}
	v := &vote{spread: spreadOf(j, usable, len(unusable), under)}
	if 2*len(usable) < len(answers) {
		return outcome{
			failure: judge.ReasonInvalidOutput, vote: v, checks: answers[len(answers)-1].checks,
			incomplete: slices.ContainsFunc(answers, func(a outcome) bool { return a.incomplete }),
			detail:     fmt.Sprintf("%d of %d answers have no valid report: %s", len(unusable), len(answers), strings.Join(bounded(unusable), "; ")),
		}
	}
	v.verdict = majority(v.spread)
	carrying := usable
	if v.verdict != "" {
		carrying = nil
		for _, a := range usable {
			if verdict(j, a.reading, a.undecided, under) == v.verdict {
				carrying = append(carrying, a)
			}
		}
	}
	got := nearestMedian(carrying)
	if v.verdict == "" {
		v.verdict = judge.Borderline
		got.undecided = true
		got.explanation = "the model's answers are split: " + tellSpread(v.spread)
	}
	if len(v.spread.Verdicts) > 1 {
		v.detail = tellSpread(v.spread)
	}
	got.vote = v
	return got
}
