package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func (s *Server) listEvaluations(c echo.Context) error {
	f, err := s.frame(c, "Evaluations", views.TabEvaluations)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), user(c).Actor()
	filter, err := evaluationFilter(c, f.Project)
	if err != nil {
		return err
	}
	rows, next, err := s.cfg.Store.ListEvaluations(ctx, actor, filter)
	if err != nil {
		return err
	}
	page := views.EvaluationsPage{
		Frame: f, Rows: evaluationRows(rows),
		Filter: views.EvaluationsFilter{
			Reasons: reasonChoices(actor), Run: filter.Run, Judge: filter.Judge, Status: string(filter.Status),
			Verdict: string(filter.Verdict), Reason: filter.Reason, Query: filter.TraceID,
			Overridden: c.QueryParam("overridden"), Version: filter.PromptVersion, Engine: filter.Engine, Model: filter.Model, Endpoint: filter.Endpoint,
		},
		Filtered: filter.Run+filter.Judge+string(filter.Status)+string(filter.Verdict)+filter.Reason+filter.TraceID+filter.PromptVersion+filter.Engine+filter.Model+filter.Endpoint != "" || filter.Overridden,
	}
	page.NextHref, page.FirstHref = paging(c.Request().URL, next)
	if page.Filter.Judges, err = s.judgeChoices(c, f.Project); err != nil {
		return err
	}
	if page.Filter.Runs, err = s.runChoices(c, f.Project); err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Evaluations(page))
}

var statuses = map[judge.Status]bool{
	judge.Queued: true, judge.Judging: true, judge.Refused: true, judge.Accepted: true, judge.InReview: true, judge.Final: true,
}

// evaluationFilter reads the filters of the list's page and API; a value that
// is none of its field's is refused, not ignored.
func evaluationFilter(c echo.Context, project string) (store.EvaluationFilter, error) {
	f := store.EvaluationFilter{
		Project: project, Run: c.QueryParam("run"), Judge: c.QueryParam("judge"), TraceID: formOrQuery(c, "trace"),
		Status: judge.Status(c.QueryParam("status")), Reason: c.QueryParam("reason"),
		PromptVersion: c.QueryParam("version"), Engine: c.QueryParam("engine"), Model: c.QueryParam("model"), Endpoint: c.QueryParam("endpoint"),
		Overridden: isOn(c.QueryParam("overridden")), After: c.QueryParam("after"), Limit: pageRows,
	}
	if f.TraceID == "" {
		f.TraceID = c.QueryParam("q")
	}
	if f.Status != "" && !statuses[f.Status] {
		return f, &store.FieldError{Field: "status", Message: "is none of queued, judging, refused, accepted, in_review, final"}
	}
	if v := c.QueryParam("verdict"); v != "" {
		verdict, err := judge.ParseVerdict(v)
		if err != nil {
			return f, &store.FieldError{Field: "verdict", Message: "is none of pass, borderline, fail"}
		}
		f.Verdict = verdict
	}
	since, err := timeParam(c, "since")
	f.Since = since
	return f, err
}

func evaluationRows(rows []store.EvaluationRow) []views.EvaluationRow {
	list := make([]views.EvaluationRow, len(rows))
	for i, r := range rows {
		v := views.EvaluationRow{
			Href: evaluationPath(r.ID), Title: r.Title, TraceID: r.TraceID, Judge: r.Judge, Version: r.PromptVersion, Model: r.Model,
			AnsweredBy: r.AnsweredBy, Endpoint: r.Endpoint, Samples: r.Samples, Shadow: r.Shadow, RefusedField: r.RefusedField, Refusal: r.Message,
			Status: r.Status, Sealed: r.Sealed, Proposed: views.Mark{Verdict: r.Verdict, Label: r.Label, Score: r.Score}, At: r.CreatedAt,
		}
		if r.Result != nil {
			v.Result, v.ResultSource = views.Mark{Verdict: r.Result.Verdict, Label: r.Result.Label}, r.Result.Source
		}
		if r.LeadReason != "" {
			v.Reasons = []judge.Reason{{Code: r.LeadReason}}
		}
		list[i] = v
	}
	return list
}
