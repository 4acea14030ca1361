package web

import (
	"context"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// queueTabs are the lists that everybody has, each with the number of its rows.
// The link of a tab is the filter that its number is counted by.
func (s *Server) queueTabs(c echo.Context, f views.Frame) ([]views.QueueTab, error) {
	ctx, actor, shown := c.Request().Context(), user(c).Actor(), queueAddress(c, "")
	mine := c.QueryParam("view") == "mine"
	tabs := []views.QueueTab{{Text: "All open", Href: "/queue", Count: f.QueueCount, Current: shown == "" && !mine}}
	if actor.MayDecide() {
		n, err := s.ownCount(ctx, actor, f.Project)
		if err != nil {
			return nil, err
		}
		tabs = append(tabs, views.QueueTab{Text: "My work", Href: "/queue?view=mine", Count: n, Current: mine})
	}
	counts, err := s.cfg.Store.QueueCounts(ctx, actor, f.Project)
	if err != nil {
		return nil, err
	}
	for _, t := range []struct {
		text, query string
		filter      store.QueueFilter
		rare        bool // shown only when there are any
	}{
		{"Unclaimed", "state=free", store.QueueFilter{State: store.QueueFree}, false},
		{"Overdue", "overdue=1", store.QueueFilter{Overdue: true}, false},
		{"Blind", "blind=yes", store.QueueFilter{}, false},
		{"For a lead", "state=adjudication", store.QueueFilter{State: store.QueueAdjudication}, false},
		{"Sent to you", "state=for_me", store.QueueFilter{State: store.QueueForMe}, true},
		{"Drafts", "state=drafts", store.QueueFilter{State: store.QueueDrafts}, true},
		{"Skipped today", "state=skipped", store.QueueFilter{State: store.QueueSkipped}, true},
	} {
		t.filter.Project = f.Project
		var n int
		switch { // what is kept, or has an index of its own, is not counted in the list's order
		case t.filter.Overdue:
			n, err = s.cfg.Store.Overdue(ctx, f.Project)
		case t.query == "blind=yes":
			n = counts.Blind
		default:
			n, err = s.cfg.Store.CountQueue(ctx, actor, t.filter)
		}
		if err != nil {
			return nil, err
		}
		if current := shown == t.query && !mine; n > 0 || current || !t.rare {
			tabs = append(tabs, views.QueueTab{Text: t.text, Href: "/queue?" + t.query, Count: n, More: n == store.CountAtMost && t.query != "blind=yes", Current: current})
		}
	}
	corrections, err := s.cfg.Store.OpenCorrections(ctx, actor, f.Project)
	if err != nil {
		return nil, err
	}
	if corrections > 0 || isLead(actor) {
		tabs = append(tabs, views.QueueTab{Text: "Corrections", Href: "/corrections?state=open", Count: corrections})
	}
	return tabs, nil
}

// ownCount is how many items a person holds or has assigned to them.
func (s *Server) ownCount(ctx context.Context, actor store.Actor, project string) (n int, err error) {
	for _, part := range []struct {
		sign   int
		filter store.QueueFilter
	}{
		{1, store.QueueFilter{State: store.QueueMine}}, {1, store.QueueFilter{State: store.QueueAssigned}},
		{-1, store.QueueFilter{State: store.QueueMine, Assigned: store.HeldByMe}},
	} {
		part.filter.Project = project
		counted, err := s.cfg.Store.CountQueue(ctx, actor, part.filter)
		if err != nil {
			return 0, err
		}
		n += part.sign * counted
	}
	return n, nil
}

// queueViews are the saved views, the shown one marked.
func (s *Server) queueViews(c echo.Context, project string) ([]views.SavedView, error) {
	actor := user(c).Actor()
	saved, err := s.cfg.Store.QueueViews(c.Request().Context(), actor, project)
	if err != nil {
		return nil, err
	}
	shown := queueAddress(c, "")
	list := make([]views.SavedView, len(saved))
	for i, v := range saved {
		list[i] = views.SavedView{
			ID: v.ID, Name: v.Name, Href: "/queue?" + v.Filters, Shared: v.Shared, Owner: v.Owner, Mine: v.Mine,
			MayDelete: v.Mine || v.Shared && isLead(actor), Current: v.Filters == shown && shown != "",
		}
	}
	return list, nil
}

// queueFilterForm is what can be chosen and what is.
func (s *Server) queueFilterForm(c echo.Context, project string, f store.QueueFilter) (v views.QueueFilter, err error) {
	ctx, actor := c.Request().Context(), user(c).Actor()
	v = views.QueueFilter{
		Reasons: reasonChoices(actor), Domains: domainChoices(f.Domain), Judge: f.Judge, Domain: f.Domain, Stakes: f.Stakes,
		Reason: f.Reason, Lead: f.Lead, State: f.State, Run: f.Run, Held: f.Held, Assigned: f.Assigned, Waiting: c.QueryParam("waiting"),
		Overdue: f.Overdue, Blind: f.Blind, Priority: c.QueryParam("priority"),
		States: []views.Choice{{Value: store.QueueFree, Text: "Unclaimed"}, {Value: store.QueueAdjudication, Text: "For a lead to settle"}},
	}
	v.More = f.State != "" || f.Run != "" || f.Assigned != "" || f.Overdue || f.Blind != "" || f.Priority != 0 || f.Lead != ""
	for _, w := range waitingChoices {
		v.Waitings = append(v.Waitings, views.Choice{Value: w.value, Text: w.text})
	}
	people, err := s.cfg.Store.Deciders(ctx, actor)
	if err != nil {
		return v, err
	}
	if actor.MayDecide() {
		v.States = append(v.States, views.Choice{Value: store.QueueMine, Text: "Held by me"}, views.Choice{Value: store.QueueAssigned, Text: "Assigned to me"},
			views.Choice{Value: store.QueueForMe, Text: "Sent to me"}, views.Choice{Value: store.QueueDrafts, Text: "With a draft of mine"},
			views.Choice{Value: store.QueueSkipped, Text: "Skipped by me today"})
		v.People = append(v.People, views.Choice{Value: store.HeldByMe, Text: "Me"})
	}
	v.People = append(v.People, views.Choice{Value: store.HeldByNobody, Text: "Nobody"})
	for _, p := range people {
		if p.ID != actor.UserID {
			v.People = append(v.People, views.Choice{Value: p.ID, Text: p.Name})
			v.Assignees = append(v.Assignees, views.Choice{Value: p.ID, Text: p.Name})
		} else {
			v.Assignees = slices.Insert(v.Assignees, 0, views.Choice{Value: p.ID, Text: p.Name + " (you)"})
		}
	}
	if v.Judges, err = s.judgeChoices(c, project); err != nil {
		return v, err
	}
	v.Runs, err = s.runChoices(c, project)
	return v, err
}
