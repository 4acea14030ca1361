package web

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func (s *Server) showEvaluation(c echo.Context) error {
	actor := user(c).Actor()
	v, err := s.cfg.Store.GetEvaluation(c.Request().Context(), actor, param(c, "id"))
	if err != nil {
		return err
	}
	f, err := s.frame(c, "Evaluation of "+v.Trace.Title(), views.TabEvaluations)
	if err != nil {
		return err
	}
	definition, err := s.definition(c.Request().Context(), f.Project, v.Evaluation.Judge, v.Evaluation.PromptVersion)
	if err != nil {
		return err
	}
	s.cfg.Store.Look(actor, v.Evaluation.ID, store.SawEvaluation, v.Sealed)
	p := s.evaluationPage(f, actor, v, definition)
	if p.Item, err = s.atWork(c.Request().Context(), actor, v); err != nil {
		return err
	}
	if p.Seen, err = s.seen(c.Request().Context(), actor, v.Evaluation.ID, c.QueryParam("seen")); err != nil {
		return err
	}
	p.OtherContent = otherContent(c.QueryParam("trace"), v.Evaluation.Hashes.Trace)
	if len(v.Decisions) > 0 {
		sheet, err := s.sheets.of(definition, &v.Trace, v.Evaluation.Hashes.Trace, &v.Evaluation)
		if err != nil {
			return err
		}
		p.Decisions = signedDecisions(v.Decisions, sheet)
	}
	return s.render(c, http.StatusOK, views.Evaluation(p))
}

func (s *Server) evaluationPage(f views.Frame, a store.Actor, v store.EvaluationView, definition *judge.Judge) views.EvaluationPage {
	e := v.Evaluation
	var all []ruling.Citation
	if e.Judge == citationsJudge {
		all = s.citationsOf(&v.Trace)
	}
	p := views.EvaluationPage{
		Frame: f, ID: e.ID, ItemTitle: v.Trace.Title(), TraceID: e.TraceID, TraceHref: revisionPath(e.TraceID, v.Revision),
		Run: e.Run, Domain: v.Trace.Domain, Stakes: v.Trace.Stakes, Judge: e.Judge, PromptVersion: e.PromptVersion,
		Engine: e.Engine, Model: e.Model, Status: e.Status, Sealed: v.Sealed, Shadow: e.Shadow,
		Trace: traceText(&v.Trace, all), Inputs: inputsOf(&v.Trace, definition),
		Proposed: views.Mark{Verdict: e.Verdict, Label: e.Label, Score: e.Score}, Critical: e.Critical,
		Undecided: e.Undecided, Explanation: e.Explanation, Samples: e.Samples, Spread: spreadView(e.Spread), Uncited: e.Uncited, Parts: e.PartLabels,
		Endpoint: e.Endpoint, PolicyVersion: e.PolicyVersion, UnpricedCalls: e.UnpricedCalls,
		Reasons: e.Reasons, Checks: e.Checks, Findings: e.Findings, Report: indented(e.Report),
		RefusedField: e.RefusedField, Fault: e.Error, Labels: labelRows(v.Labels), Chain: chain(v.Events), Permalink: s.permalink(e.ID, e.Hashes.Trace), Hashes: e.Hashes,
		Repairs: e.Repairs, TransportRetries: e.TransportRetries, PromptTokens: e.Tokens.Prompt,
		CompletionTokens: e.Tokens.Completion, CostUSD: e.CostUSD, LatencyMS: e.LatencyMS,
		MayRetry: mayRetry(a, e), MayRequest: mayRequest(a, v), MayExpose: v.Sealed && isLead(a) && !e.Shadow,
	}
	textFor(f, &p.Trace, &v.Trace, all, v.Revision, e.Hashes.Trace)
	if e.PolicyVersion > 0 && a.Role != store.Reviewer {
		p.PolicyHref = "/policy?version=" + strconv.Itoa(e.PolicyVersion)
	}
	if v.ReviewID != "" {
		p.ReviewHref = reviewPath(v.ReviewID)
	}
	if e.StartedAt != nil {
		p.StartedAt = *e.StartedAt
	}
	if e.Result != nil {
		p.Result, p.ResultSource = views.Mark{Verdict: e.Result.Verdict, Label: e.Result.Label}, e.Result.Source
	}
	// Of several that did not settle it none stands for the others.
	if i := standingDecision(v.Decisions); i >= 0 && (e.Result != nil || len(v.Decisions) == 1) {
		signed := signatureOf(v.Decisions[i], e.Result != nil)
		p.Signed = &signed
	}
	for _, call := range e.Calls {
		p.Attempts = append(p.Attempts, attemptView(call))
	}
	views.FoldAttempts(p.Attempts, func(n int) string { return attemptPath(e.ID, n) })
	return p
}

func spreadView(s *judge.Spread) *views.Spread {
	if s == nil {
		return nil
	}
	return &views.Spread{
		Pass: s.Verdicts[judge.Pass], Borderline: s.Verdicts[judge.Borderline], Fail: s.Verdicts[judge.Fail],
		Unusable: s.Unusable, Min: s.Min, Max: s.Max, SD: s.SD,
	}
}

func isLead(a store.Actor) bool { return a.Role == store.Lead || a.Role == store.Admin }

// mayRetry: only what the judge failed at can be judged again.
func mayRetry(a store.Actor, e judge.Evaluation) bool {
	return isLead(a) && e.Status == judge.InReview && slices.ContainsFunc(e.Reasons, func(r judge.Reason) bool {
		return r.Code == judge.ReasonJudgeFailed || r.Code == judge.ReasonInvalidOutput
	})
}

// mayRequest: only what no person looks at yet can be sent to one.
func mayRequest(a store.Actor, v store.EvaluationView) bool {
	return isLead(a) && v.ReviewID == "" && !v.Evaluation.Shadow && (v.Evaluation.Status == judge.Accepted || v.Evaluation.Status == judge.Final)
}

func reviewerName(l store.LabelRow) string {
	if l.ReviewerName != "" {
		return l.ReviewerName
	}
	return l.Reviewer
}

func attemptView(a judge.Attempt) views.Attempt {
	return views.Attempt{
		Number: a.Number, Purpose: a.Purpose, Sample: a.Sample, Unpriced: a.Unpriced, Endpoint: a.Endpoint, ModelAsked: a.ModelAsked, ModelAnswered: a.ModelAnswered,
		Parameters: indented(a.Parameters), Prompt: a.Prompt, Reply: a.Reply, FinishReason: a.FinishReason,
		PromptRemoved: a.PromptRemovedAt, ReplyRemoved: a.ReplyRemovedAt,
		Errors: a.Errors, Retries: a.TransportRetries, TransportError: a.TransportError, PromptTokens: a.Tokens.Prompt, CompletionTokens: a.Tokens.Completion,
		CostUSD: a.CostUSD, LatencyMS: a.LatencyMS, At: a.StartedAt,
	}
}

func labelRows(labels []store.LabelRow) []views.LabelRow {
	rows := make([]views.LabelRow, len(labels))
	for i, l := range labels {
		rows[i] = views.LabelRow{
			Judge: l.Judge, Reviewer: reviewerName(l), Mark: views.Mark{Verdict: l.Verdict, Label: l.Label},
			Blind: !l.VerdictVisible, Imported: l.Source == "imported", Adjudicated: l.Adjudicated, Comment: l.Comment, At: l.At,
		}
	}
	return rows
}

// retryEvaluation gives a failed evaluation back to the judge.
func (s *Server) retryEvaluation(c echo.Context) error {
	if err := s.cfg.Store.RetryEvaluation(c.Request().Context(), user(c).Actor(), param(c, "id")); err != nil {
		return err
	}
	s.cfg.Wake()
	s.flash(c, views.NoticeInfo, "The judge will look at it again. Earlier attempts stay on record.")
	return c.Redirect(http.StatusSeeOther, evaluationPath(param(c, "id")))
}

// requestReview sends an evaluation to a person.
func (s *Server) requestReview(c echo.Context) error {
	err := s.cfg.Store.RequestReview(c.Request().Context(), user(c).Actor(), param(c, "id"), c.FormValue("comment"))
	if err != nil {
		return err
	}
	s.flash(c, views.NoticeInfo, "It waits in the queue now.")
	return c.Redirect(http.StatusSeeOther, evaluationPath(param(c, "id")))
}

// exposeEvaluation shows a sealed verdict to somebody who could have answered
// blind. It is recorded: their later label counts as given with the verdict
// in sight.
func (s *Server) exposeEvaluation(c echo.Context) error {
	if err := s.cfg.Store.ExposeEvaluation(c.Request().Context(), user(c).Actor(), param(c, "id")); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, evaluationPath(param(c, "id")))
}
