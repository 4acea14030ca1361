package web

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func (s *Server) listAudit(c echo.Context) error {
	actor := user(c).Actor()
	filter, err := auditFilter(c)
	if err != nil {
		return err
	}
	events, next, err := s.cfg.Store.ListAudit(c.Request().Context(), actor, filter)
	if err != nil {
		return err
	}
	f, err := s.frame(c, "Audit log", views.TabAudit)
	if err != nil {
		return err
	}
	p := views.AuditPage{
		Frame: f,
		Filter: views.AuditFilter{
			Actor: filter.Actor, Action: filter.Action, Subject: filter.Subject, From: c.QueryParam("from"), To: c.QueryParam("to"),
		},
	}
	// Walking the chain reads every event: only when asked for.
	if c.QueryParam("verify") != "" {
		v, err := s.cfg.Store.VerifyAudit(c.Request().Context(), actor)
		if err != nil {
			return err
		}
		p.Check = views.AuditCheck{Done: true, Whole: v.Problem == "", Events: int(v.Events), Fault: v.Problem, Head: v.Head, At: f.Now}
		if v.Problem != "" {
			p.Check.BrokenAt = v.Events + 1
		}
	}
	for _, code := range auditActions {
		p.Filter.Actions = append(p.Filter.Actions, views.Choice{Value: code, Text: actionText(code)})
	}
	for _, e := range events {
		p.Rows = append(p.Rows, views.AuditRow{
			Seq: e.Seq, At: e.At, Actor: e.Actor, ByPerson: e.ActorID != "", Action: actionText(e.Action), Denied: !e.Allowed,
			Subject: e.Subject, Detail: eventNote(e.Data), Previous: e.PrevHash, Hash: e.Hash,
		})
	}
	cursor := ""
	if next > 0 {
		cursor = strconv.FormatInt(next, 10)
	}
	p.NextHref, p.FirstHref = paging(c.Request().URL, cursor)
	return s.render(c, http.StatusOK, views.Audit(p))
}

// auditActions are the ones a person filters by, most asked for first.
var auditActions = []string{
	"decision.made", "review.claimed", "review.first_answer", "review.escalated", "review.abstained", "review.reopened",
	"decision.undone", "opinion.given", "opinion.added", "review.opinions_raised", "review.reassigned", "review.skipped",
	"review.released", "comment.added", "correction.proposed", "correction.accepted", "correction.declined", "trace.corrected", "evaluation.judged", "evaluation.exposed", "evaluation.retried", "trace.imported",
	"labels.imported", "judge.saved", "policy.changed", "examples.drawn", "run.budget_set", "run.stopped", "run.retried", "rerun.started", "rerun.stopped", "user.created", "user.signed_in", "user.sign_in_failed", "user.disabled",
	"token.created", "token.revoked", "project.created",
}

func auditFilter(c echo.Context) (store.AuditFilter, error) {
	f := store.AuditFilter{
		Actor: c.QueryParam("actor"), Action: c.QueryParam("action"), Subject: c.QueryParam("subject"), Limit: pageRows,
	}
	var err error
	if f.From, err = timeParam(c, "from"); err != nil {
		return f, err
	}
	if f.Until, err = timeParam(c, "to"); err != nil {
		return f, err
	}
	if !f.Until.IsZero() {
		f.Until = f.Until.AddDate(0, 0, 1) // the day itself belongs to it
	}
	if after := c.QueryParam("after"); after != "" {
		before, err := strconv.ParseInt(after, 10, 64)
		if err != nil || before < 1 {
			return f, &store.FieldError{Field: "after", Message: "is not the number of an audit event"}
		}
		f.Before = before
	}
	return f, nil
}
