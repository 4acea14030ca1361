package web

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func (s *Server) showOverview(c echo.Context) error {
	f, err := s.frame(c, "Overview", views.TabOverview)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), user(c).Actor()
	o, err := s.cfg.Store.Overview(ctx, actor, f.Project)
	if err != nil {
		return err
	}
	page := views.OverviewPage{
		Frame: f, Greeting: f.Now.Format("Monday 2 January"), Lead: overviewLead(o.Queue),
		Open: o.Queue.Total, Runs: runRows(o.Runs),
	}
	for _, r := range o.Queue.ByReason {
		if r.Code == "" {
			page.SealedCount += r.N
			page.SealedHref = "/queue?" + url.Values{"lead": {store.LeadSealed}}.Encode()
			continue
		}
		page.Reasons = append(page.Reasons, views.ReasonCount{
			Code: r.Code, Open: r.N, Href: "/queue?" + url.Values{"lead": {r.Code}}.Encode(),
		})
	}
	if page.Runs, err = s.withReleases(c, f.Project, page.Runs); err != nil {
		return err
	}
	if page.Elsewhere, err = s.elsewhere(c, f.Project, ""); err != nil {
		return err
	}
	if page.Overdue, err = s.cfg.Store.Overdue(ctx, f.Project); err != nil {
		return err
	}
	for _, st := range o.StatusCounts {
		page.Evaluations += st.N
		page.Statuses = append(page.Statuses, views.StatusCount{
			Status: st.Status, Count: st.N, Href: "/evaluations?" + url.Values{"status": {string(st.Status)}}.Encode(),
		})
	}
	switch {
	case !f.MayReview:
	case o.Queue.Mine > 0: // what is begun comes first
		held, _, err := s.cfg.Store.ListQueue(ctx, actor, store.QueueFilter{Project: f.Project, State: store.QueueMine, Limit: 1})
		if err != nil {
			return err
		}
		if len(held) > 0 {
			page.Next = nextItem(held[0], actor)
		}
	case o.Next != nil:
		page.Next = nextItem(*o.Next, actor)
	}
	if f.MayReview {
		week := weekOf(o.Mine)
		page.Week = &week
	}
	if actor.Role == store.Admin {
		if page.Undelivered, err = s.undelivered(c); err != nil {
			return err
		}
	}
	if actor.Role != store.Reviewer {
		page.ShowHealth = true
		if page.Health, err = s.calibrationRows(c, f.Project, ""); err != nil {
			return err
		}
		if page.Drift, err = s.driftOpen(c, f.Project); err != nil {
			return err
		}
	}
	return s.render(c, http.StatusOK, views.Overview(page))
}

func overviewLead(q store.QueueCounts) string {
	switch {
	case q.Total == 0:
		return "Nothing waits for a person."
	case q.Mine > 0:
		return fmt.Sprintf("%s in review; you hold %d of them.", counted(q.Total, "item"), q.Mine)
	}
	return fmt.Sprintf("%s for a person.", counted(q.Total, "item waits", "items wait"))
}

func nextItem(q store.QueueItem, a store.Actor) *views.NextItem {
	return &views.NextItem{
		Title: q.Title, TraceID: q.TraceID, Judge: q.Judge, Stakes: judge.Stakes(q.Stakes), Due: q.DueAt,
		Reasons: q.Reasons, Sealed: q.Sealed, Mine: q.HolderID == a.UserID, ReviewHref: reviewPath(q.ReviewID),
	}
}

// counted is a number with its noun: "1 item", "2 items", or with the plural
// given in full.
func counted(n int, singular string, plural ...string) string {
	word := singular
	if n != 1 {
		word = singular + "s"
		if len(plural) > 0 {
			word = plural[0]
		}
	}
	return thousands(n) + " " + word
}

// thousands writes 12345 as 12,345. It takes any number, the lowest too.
func thousands(n int) string {
	digits := strconv.Itoa(n)
	from := 0
	if n < 0 {
		from = 1
	}
	for at := len(digits) - 3; at > from; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}
