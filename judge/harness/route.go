package harness

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign/countersign/judge"
)

// begin makes the evaluation that everything after fills in.
func (h *Harness) begin(t *judge.Trace, p judge.Planned) judge.Evaluation {
	started := h.config.Now().UTC().Truncate(time.Microsecond)
	hashes := judge.TraceHashes(*t)
	return judge.Evaluation{
		ID:      judge.EvaluationID(t, hashes, p),
		TraceID: t.ID, Run: t.Run, Judge: p.Judge, PromptVersion: p.PromptVersion,
		Engine: p.Engine, Model: p.Model, Endpoint: p.Endpoint, Samples: p.Samples, Status: judge.Judging,
		Reasons: []judge.Reason{}, Checks: []judge.CheckResult{}, Findings: []judge.Finding{},
		Hashes: hashes, StartedAt: &started,
	}
}

// fail adds the reason for which there is no valid report.
func (h *Harness) fail(e *judge.Evaluation, code, detail string) {
	e.Error = detail
	e.Reasons = append(e.Reasons, judge.Reason{Code: code, Detail: detail})
}

// conclude turns an outcome into score, verdict, label and findings.
func (h *Harness) conclude(e *judge.Evaluation, j *judge.Judge, got outcome, under judge.Effective) {
	if got.checks != nil {
		e.Checks = got.checks
	}
	e.Undecided, e.Explanation = got.undecided, got.explanation
	switch {
	case got.failure != "":
		h.fail(e, got.failure, got.detail)
		if got.incomplete {
			e.Reasons = append(e.Reasons, judge.Reason{Code: judge.ReasonIncompleteReport,
				Detail: "a part of the trace was not evaluated"})
		}
		return
	case got.noReport:
		e.Verdict = judge.Borderline
		return
	}
	r := got.reading
	e.Report = got.report
	score := min(1, max(0, r.Score))
	e.Score = &score
	e.Label, e.Critical, e.PartLabels = r.Label, r.Critical, r.PartLabels
	if r.Findings != nil {
		e.Findings = r.Findings
	}
	if r.UncitedSteps != nil {
		n := len(r.UncitedSteps)
		e.Uncited = &n
	}
	e.Verdict = verdict(j, r, got.undecided, under)
	if l, ok := j.LabelNamed(e.Label); got.undecided && (!ok || l.Verdict != e.Verdict) {
		e.Label = "" // the class of a score that was not decided says what nobody found
	}
}

// verdict of a reading: from the label where the judge's labels fix it, else from
// the score by the band. Critical fails, and what was not decided is borderline.
func verdict(j *judge.Judge, r *judge.Reading, undecided bool, under judge.Effective) judge.Verdict {
	if r.Verdict != "" && !r.Critical && !undecided {
		return r.Verdict
	}
	return under.BandOf(j).Verdict(min(1, max(0, r.Score)), r.Critical, undecided)
}

// route gives the evaluation its reasons (judges.md, Routing), its status and,
// when a person will look, the draw that says how it came to that. j and r are
// nil when there is no judge or no valid report.
func (h *Harness) route(ctx context.Context, j *judge.Judge, e *judge.Evaluation, r *judge.Reading, under judge.Effective) *judge.Draw {
	e.Reasons = append(e.Reasons, reasons(j, e, r, under)...)
	if r != nil {
		e.Reasons = append(e.Reasons, h.untrusted(ctx, e, under.On(j, judge.ReasonUntrustedJudge))...)
	}
	slices.SortStableFunc(e.Reasons, func(a, b judge.Reason) int {
		return cmp.Compare(judge.ReasonRank(a.Code), judge.ReasonRank(b.Code))
	})
	if len(e.Reasons) > 0 {
		e.Status = judge.InReview
		return &judge.Draw{Stratum: judge.StratumFlagged, InclusionProbability: 1, PolicyVersion: under.Version}
	}
	e.Status = judge.Accepted
	e.Result = &judge.Result{Verdict: e.Verdict, Label: e.Label, Source: judge.ByJudge}
	if !h.config.Audit || r == nil {
		return nil
	}
	draw, drawn := audit(under, h.config.Key, e.ID, nearBoundary(j, *r, under))
	if len(drawn) == 0 {
		return nil
	}
	e.Reasons, e.Status, e.Result = drawn, judge.InReview, nil
	return draw
}

// untrusted asks whether the judge's version may be accepted without a person. A
// suspended one may not, whether the policy asks for trust or not.
func (h *Harness) untrusted(ctx context.Context, e *judge.Evaluation, asked bool) []judge.Reason {
	state, why := judge.Advisory, ""
	if h.config.Trust != nil {
		state, why = h.config.Trust(ctx, e)
	}
	if state == judge.Trusted || state != judge.Suspended && !asked {
		return nil
	}
	if why == "" {
		why = "no calibration of this judge is known here, and the policy accepts only judges that passed theirs"
	}
	return []judge.Reason{{Code: judge.ReasonUntrustedJudge, Detail: why}}
}

// reasons are those that one evaluation by itself gives, from what its report
// says and what the policy makes of it.
func reasons(j *judge.Judge, e *judge.Evaluation, r *judge.Reading, under judge.Effective) []judge.Reason {
	var list []judge.Reason
	add := func(code, detail string) { list = append(list, judge.Reason{Code: code, Detail: detail}) }
	// What nobody decided cannot be accepted, whatever the policy says of scores.
	if e.Verdict == judge.Borderline && (e.Undecided || under.On(j, judge.ReasonAmbiguousScore)) {
		add(judge.ReasonAmbiguousScore, ambiguous(j, e, r, under))
	}
	if r == nil {
		return list
	}
	if r.Critical && under.On(j, judge.ReasonCriticalError) {
		add(judge.ReasonCriticalError, criticalDetail(r))
	}
	if m := r.Misattribution; m != nil && grave(m.Severity, under.LeastSeverity()) {
		add(judge.ReasonMisattribution, m.Detail)
	}
	if r.SubstantiveDifference != "" && under.On(j, judge.ReasonSubstantiveDifference) {
		add(judge.ReasonSubstantiveDifference, r.SubstantiveDifference)
	}
	if soft := failedSoft(e.Checks); soft != "" && under.On(j, judge.ReasonInconsistentOutput) {
		add(judge.ReasonInconsistentOutput, soft)
	}
	if under.On(j, judge.ReasonBelowThreshold) {
		if low := lowParts(r, under.LineOf(j)); low != "" {
			add(judge.ReasonBelowThreshold, low)
		}
	}
	if len(r.UncitedSteps) > 0 && under.On(j, judge.ReasonUncitedClaims) {
		add(judge.ReasonUncitedClaims, "without any citation: "+stepNumbers(r.UncitedSteps))
	}
	return list
}

func ambiguous(j *judge.Judge, e *judge.Evaluation, r *judge.Reading, under judge.Effective) string {
	switch {
	case e.Explanation != "":
		return e.Explanation
	case r != nil && r.Verdict == judge.Borderline:
		return fmt.Sprintf("the label %s is neither pass nor fail", e.Label)
	case e.Score != nil:
		band := under.BandOf(j)
		return fmt.Sprintf("score %.2f lies in the band from %.2f to %.2f", *e.Score, band.Low, band.Pass)
	}
	return ""
}

func criticalDetail(r *judge.Reading) string {
	for _, f := range r.Findings {
		if f.Severity == judge.SeverityCritical {
			if f.Explanation != "" {
				return f.Class + ": " + f.Explanation
			}
			return f.Class
		}
	}
	return "the report marks a critical error"
}

// grave reports whether a severity is at least as grave as asked for; nothing is
// when least is empty. A severity that a report words in its own way counts as
// the gravest: it is not known to be less.
func grave(severity, least string) bool {
	rank := judge.SeverityRank(severity)
	return least != "" && (rank == 0 || rank >= judge.SeverityRank(least))
}

func failedSoft(checks []judge.CheckResult) string {
	var soft []string
	for _, c := range checks {
		if c.Kind == judge.Soft && !c.OK {
			soft = append(soft, c.Name+": "+c.Detail)
		}
	}
	return strings.Join(soft, "; ")
}
