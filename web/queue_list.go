package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// pageRows is how many rows a list shows at once.
const pageRows = 50

func (s *Server) listQueue(c echo.Context) error {
	f, err := s.frame(c, "Queue", views.TabQueue)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), user(c).Actor()
	filter := queueFilter(c, f.Project)
	items, next, err := s.cfg.Store.ListQueue(ctx, actor, filter)
	if err != nil {
		return err
	}
	page := views.QueuePage{
		Frame: f, Rows: queueRows(items, actor), Open: f.QueueCount,
		Filter: views.QueueFilter{
			Reasons: reasonChoices(actor), Domains: domainChoices(filter.Domain),
			Judge: filter.Judge, Domain: filter.Domain, Stakes: filter.Stakes, Reason: filter.Reason,
			State: filter.State, Run: filter.Run, Mine: filter.State == store.QueueMine,
		},
		Filtered: filter.Judge+filter.Domain+filter.Stakes+filter.Reason+filter.State+filter.Run != "",
	}
	if page.Overdue, err = s.cfg.Store.Overdue(ctx, f.Project); err != nil {
		return err
	}
	page.NextHref, page.FirstHref = paging(c.Request().URL, next)
	if page.Filter.Judges, err = s.judgeChoices(c, f.Project); err != nil {
		return err
	}
	if page.Filter.Runs, err = s.runChoices(c, f.Project); err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Queue(page))
}

// queueFilter reads the filters of the queue's page and API.
func queueFilter(c echo.Context, project string) store.QueueFilter {
	f := store.QueueFilter{
		Project: project, Judge: c.QueryParam("judge"), Domain: c.QueryParam("domain"), Stakes: c.QueryParam("stakes"),
		Reason: c.QueryParam("reason"), State: c.QueryParam("state"), Run: c.QueryParam("run"),
		After: c.QueryParam("after"), Limit: pageRows,
	}
	if mine := c.QueryParam("mine"); mine != "" && mine != "0" {
		f.State = store.QueueMine
	}
	return f
}

func queueRows(items []store.QueueItem, a store.Actor) []views.QueueRow {
	rows := make([]views.QueueRow, len(items))
	for i, q := range items {
		rows[i] = views.QueueRow{
			Href: reviewPath(q.ReviewID), Title: q.Title, TraceID: q.TraceID, Domain: q.Domain, Judge: q.Judge, Version: q.PromptVersion,
			Stakes: judge.Stakes(q.Stakes), Reasons: q.Reasons, Sealed: q.Sealed, State: q.State,
			Since: q.OpenedAt, Due: q.DueAt, Holder: q.HolderName, Mine: q.HolderID != "" && q.HolderID == a.UserID,
		}
		if q.LeaseExpiresAt != nil {
			rows[i].Until = *q.LeaseExpiresAt
		}
	}
	return rows
}

// domainChoices offers the domains that have a meaning of their own, and the
// one that is set.
func domainChoices(set string) []views.Choice {
	var choices []views.Choice
	known := false
	for _, d := range []string{"legal", "medical", "finance", "safety", "math", "code", "general"} {
		choices = append(choices, views.Choice{Value: d, Text: words(d)})
		known = known || d == set
	}
	if set != "" && !known {
		choices = append(choices, views.Choice{Value: set, Text: set})
	}
	return choices
}
