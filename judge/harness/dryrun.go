package harness

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/countersign/countersign/judge"
)

// Sample is an evaluation that was made, for a dry run of another policy.
type Sample struct {
	// Judge is the version that made it; nil: the harness's own of that version.
	Judge   *judge.Judge
	Trace   judge.Trace
	Planned judge.Planned
	// Evaluation as it is stored: report, reasons, status.
	Evaluation judge.Evaluation
}

// DryRun finds out what a policy would have sent to people of evaluations that
// were made under others. It reads their reports again, with the same checks,
// routing and draws as a real evaluation; nothing is asked of a model and nothing
// is stored. What only a model could tell (another model, more samples) it does
// not guess.
//
// Reasons that do not come from one report are kept as they were, unless the
// policy switches them off: a person's request, and models that disagree. Of
// several answers of one model, the one is read again whose report stands for all.
//
// A DryRun is not safe for concurrent use.
type DryRun struct {
	harness *Harness
	policy  judge.Policy
	pace    func(judgeName string, stakes judge.Stakes) time.Duration
	result  DryRunResult

	reasons, judges, stakes tallies
	oldest, newest          time.Time
}

// DryRun begins a dry run of a policy. pace is how long a person takes for one
// review.
func (h *Harness) DryRun(policy judge.Policy, pace func(judgeName string, stakes judge.Stakes) time.Duration) *DryRun {
	return &DryRun{harness: h, policy: policy, pace: pace, reasons: tallies{}, judges: tallies{}, stakes: tallies{}}
}

// Add takes one evaluation in. The only error is that of ctx.
func (d *DryRun) Add(ctx context.Context, s Sample) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	e := &s.Evaluation
	if e.Status == judge.Queued || e.Status == judge.Judging || e.Status == judge.Refused {
		d.result.NotJudged++
		return nil
	}
	if d.judgeOf(&s) == nil {
		d.result.Unreadable++
		return nil
	}
	after, refused, err := d.again(ctx, &s)
	if err != nil {
		d.result.Unreadable++
		return nil
	}
	d.result.Evaluations++
	stakes := d.policy.StakesOfTrace(&s.Trace)
	d.time(e.StartedAt)
	wasSent, isSent := len(e.Reasons) > 0, len(after.Reasons) > 0
	if refused {
		d.result.Refused++
		isSent, after.Reasons = false, nil
	} else if after.Verdict != e.Verdict {
		d.result.OtherVerdict++
	}
	hours := 0.0
	if d.pace != nil {
		hours = d.pace(e.Judge, stakes).Hours()
	}
	d.result.Before.add(wasSent, hours)
	d.result.After.add(isSent, hours)
	d.judges.add(e.Judge, wasSent, isSent)
	d.stakes.add(string(stakes), wasSent, isSent)
	for _, code := range judge.ReasonCodes() {
		if was, is := has(e.Reasons, code), has(after.Reasons, code); was || is {
			d.reasons.add(code, was, is)
		}
	}
	switch {
	case isSent && !wasSent:
		d.result.NewlySent.add(e, s.Trace.ID, after.Reasons)
	case wasSent && !isSent:
		d.result.NoLongerSent.add(e, s.Trace.ID, e.Reasons)
	}
	return nil
}

// judgeOf is the definition that can read the sample's report again.
func (d *DryRun) judgeOf(s *Sample) *judge.Judge {
	if s.Judge == nil {
		j, ok := d.harness.Judge(s.Evaluation.Judge)
		if ok && (j.PromptVersion == s.Evaluation.PromptVersion || s.Planned.Engine == judge.EngineRecorded) {
			s.Judge = j
		}
	}
	return s.Judge
}

// again routes a sample under the policy. refused: the policy would not have let
// the trace be sent to the endpoint that judged it.
func (d *DryRun) again(ctx context.Context, s *Sample) (after judge.Evaluation, refused bool, err error) {
	h, j, before := d.harness, s.Judge, &s.Evaluation
	under := d.policy.For(before.Judge, s.Trace.Domain, d.policy.StakesOfTrace(&s.Trace))
	engine := h.config.Engines[s.Planned.EngineKey()]
	if _, calls := engine.(judge.Chat); calls && before.Engine == judge.EngineOpenAI && !under.MayGoTo(judge.EndpointOf(engine)) {
		return *before, true, nil
	}
	after = h.begin(&s.Trace, s.Planned)
	after.Engine, after.Model, after.PromptVersion = before.Engine, before.Model, before.PromptVersion
	var reading *judge.Reading
	got := outcome{undecided: undecided(j, before), explanation: before.Explanation}
	switch {
	case before.Report != nil:
		v := h.verify(j, &s.Trace, before.Report)
		if v.faults != nil {
			return after, false, fmt.Errorf("the report that was accepted is at fault now: %s", v.faults[0])
		}
		reading = &v.reading
		got.report, got.checks, got.reading = before.Report, v.checks, reading
	case before.Verdict == judge.Borderline:
		got.noReport, got.undecided = true, true
	default: // it failed, which no policy changes
		after.Reasons = kept(before.Reasons, judge.ReasonInvalidOutput, judge.ReasonIncompleteReport, judge.ReasonJudgeFailed)
		after.Verdict = before.Verdict
	}
	if got.report != nil || got.noReport {
		h.conclude(&after, j, got, under)
	}
	after.Reasons = append(after.Reasons, kept(before.Reasons, judge.ReasonRequested)...)
	if under.On(j, judge.ReasonJudgeDisagreement) {
		after.Reasons = append(after.Reasons, kept(before.Reasons, judge.ReasonJudgeDisagreement)...)
	}
	h.route(ctx, j, &after, reading, under)
	return after, false, nil
}

// undecided says whether an evaluation was not decided. Those from before that was
// kept are told by their verdict: borderline although their score is not.
func undecided(j *judge.Judge, e *judge.Evaluation) bool {
	if e.Undecided || e.PolicyVersion > 0 {
		return e.Undecided
	}
	if e.Verdict != judge.Borderline || e.Score == nil {
		return e.Verdict == judge.Borderline
	}
	if l, ok := j.LabelNamed(e.Label); ok && l.Verdict == judge.Borderline {
		return false
	}
	return j.Band.Verdict(*e.Score, e.Critical, false) != judge.Borderline
}

func kept(reasons []judge.Reason, codes ...string) (list []judge.Reason) {
	for _, r := range reasons {
		if slices.Contains(codes, r.Code) {
			list = append(list, r)
		}
	}
	return list
}

func has(reasons []judge.Reason, code string) bool {
	return slices.ContainsFunc(reasons, func(r judge.Reason) bool { return r.Code == code })
}

func (d *DryRun) time(started *time.Time) {
	if started == nil {
		return
	}
	if d.oldest.IsZero() || started.Before(d.oldest) {
		d.oldest = *started
	}
	if started.After(d.newest) {
		d.newest = *started
	}
}
