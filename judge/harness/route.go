package harness

import (
	"cmp"
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
		Engine: p.Engine, Model: p.Model, Status: judge.Judging,
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
func (h *Harness) conclude(e *judge.Evaluation, j *judge.Judge, t *judge.Trace, got outcome) {
	if got.checks != nil {
		e.Checks = got.checks
	}
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
	e.Label, e.Critical = r.Label, r.Critical
	if r.Findings != nil {
		e.Findings = r.Findings
	}
	e.Verdict = j.Band.Verdict(score, r.Critical, got.undecided)
	if r.Verdict != "" && !r.Critical && !got.undecided {
		e.Verdict = r.Verdict
	}
	if l, ok := j.LabelNamed(e.Label); got.undecided && (!ok || l.Verdict != e.Verdict) {
		e.Label = "" // the class of a score that was not decided says what nobody found
	}
}

// route gives the evaluation its reasons (judges.md, Routing), its status and,
// when a person will look, the draw that says how it came to that. j and r are
// nil when there is no judge or no valid report.
func (h *Harness) route(j *judge.Judge, e *judge.Evaluation, t *judge.Trace, r *judge.Reading, explanation string) *judge.Draw {
	e.Reasons = append(e.Reasons, h.reasons(j, e, t, r, explanation)...)
	slices.SortStableFunc(e.Reasons, func(a, b judge.Reason) int {
		return cmp.Compare(judge.ReasonRank(a.Code), judge.ReasonRank(b.Code))
	})
	if len(e.Reasons) > 0 {
		e.Status = judge.InReview
		return &judge.Draw{Stratum: judge.StratumFlagged, InclusionProbability: 1}
	}
	e.Status = judge.Accepted
	e.Result = &judge.Result{Verdict: e.Verdict, Label: e.Label, Source: judge.ByJudge}
	if !h.config.Audit || r == nil {
		return nil
	}
	draw, reasons := audit(h.config.Policy, h.config.Key, e.ID, nearBoundary(j, *r))
	if len(reasons) == 0 {
		return nil
	}
	e.Reasons, e.Status, e.Result = reasons, judge.InReview, nil
	return draw
}

// reasons are those that one evaluation by itself gives.
func (h *Harness) reasons(j *judge.Judge, e *judge.Evaluation, t *judge.Trace, r *judge.Reading, explanation string) []judge.Reason {
	var list []judge.Reason
	add := func(code, detail string) { list = append(list, judge.Reason{Code: code, Detail: detail}) }
	if e.Verdict == judge.Borderline {
		add(judge.ReasonAmbiguousScore, ambiguous(j, e, r, explanation))
	}
	if r == nil {
		return list
	}
	stakes := stakesOf(t)
	if r.Critical {
		add(judge.ReasonCriticalError, criticalDetail(r))
	}
	list = append(list, r.Reasons...)
	var soft []string
	for _, c := range e.Checks {
		if c.Kind == judge.Soft && !c.OK {
			soft = append(soft, c.Name+": "+c.Detail)
		}
	}
	if soft != nil {
		add(judge.ReasonInconsistentOutput, strings.Join(soft, "; "))
	}
	if r.BelowThreshold != "" && j.Routing.On(stakes, judge.ReasonBelowThreshold) {
		add(judge.ReasonBelowThreshold, r.BelowThreshold)
	}
	if r.Uncited != "" && stakes == judge.HighStakes && h.config.Policy.UncitedClaims {
		add(judge.ReasonUncitedClaims, r.Uncited)
	}
	return list
}

func ambiguous(j *judge.Judge, e *judge.Evaluation, r *judge.Reading, explanation string) string {
	switch {
	case explanation != "":
		return explanation
	case r != nil && r.Verdict == judge.Borderline:
		return fmt.Sprintf("the label %s is neither pass nor fail", e.Label)
	case e.Score != nil:
		return fmt.Sprintf("score %.2f lies in the band from %.2f to %.2f", *e.Score, j.Band.Low, j.Band.Pass)
	}
	return ""
}

func criticalDetail(r *judge.Reading) string {
	for _, f := range r.Findings {
		if f.Severity == "critical" {
			if f.Explanation != "" {
				return f.Class + ": " + f.Explanation
			}
			return f.Class
		}
	}
	return "the report marks a critical error"
}

// stakesOf a trace; the domain decides when reading has not set them.
func stakesOf(t *judge.Trace) judge.Stakes {
	if t.Stakes != "" {
		return t.Stakes
	}
	return judge.DefaultStakes(t.Domain)
}
