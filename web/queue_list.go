package web

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// pageRows is how many rows a list shows at once.
const pageRows = 50

func (s *Server) listQueue(c echo.Context) error {
	if c.QueryParam("view") == "mine" && user(c).Actor().MayDecide() {
		return s.showMyWork(c)
	}
	return s.renderQueue(c, http.StatusOK, views.QueueFault{}, nil)
}

// renderQueue shows the list that the address asks for. fault is why a change of
// the selected items was refused.
func (s *Server) renderQueue(c echo.Context, status int, fault views.QueueFault, selected []string) error {
	f, err := s.frame(c, "Queue", views.TabQueue)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), user(c).Actor()
	filter, err := queueFilter(c, f.Project)
	if err != nil {
		return err
	}
	items, next, err := s.cfg.Store.ListQueue(ctx, actor, filter)
	if err != nil {
		return err
	}
	page := views.QueuePage{
		Frame: f, Rows: queueRows(items, actor), Open: f.QueueCount, Fault: fault, Filters: queueAddress(c, ""),
		MayChange: isLead(actor), Shown: shownOf(filter), Filtered: queueAddress(c, "") != "",
	}
	for i := range page.Rows {
		page.Rows[i].Selected = slices.Contains(selected, page.Rows[i].ID)
	}
	if page.Overdue, err = s.cfg.Store.Overdue(ctx, f.Project); err != nil {
		return err
	}
	page.NextHref, page.FirstHref = paging(c.Request().URL, next)
	if page.NextHref != "" {
		page.NextHref = "/queue?" + queueAddress(c, next)
	}
	if page.FirstHref != "" {
		page.FirstHref = "/queue?" + queueAddress(c, "")
	}
	if page.Tabs, err = s.queueTabs(c, f); err != nil {
		return err
	}
	if page.Views, err = s.queueViews(c, f.Project); err != nil {
		return err
	}
	if page.Filter, err = s.queueFilterForm(c, f.Project, filter); err != nil {
		return err
	}
	return s.render(c, status, views.Queue(page))
}

// waitingChoices are how long items can be asked to have waited.
var waitingChoices = []waitingChoice{
	{"1h", "Over 1 hour", time.Hour}, {"4h", "Over 4 hours", 4 * time.Hour}, {"1d", "Over 1 day", 24 * time.Hour},
	{"3d", "Over 3 days", 3 * 24 * time.Hour}, {"7d", "Over 7 days", 7 * 24 * time.Hour},
}

type waitingChoice struct {
	value, text string
	least       time.Duration
}

// queueParams are the parameters by which the queue is narrowed.
var queueParams = []string{"judge", "reason", "lead", "domain", "stakes", "state", "run", "held", "assigned", "waiting", "overdue", "blind", "priority", "mine"}

// queueFilter reads the filters of the queue's page and API.
func queueFilter(c echo.Context, project string) (store.QueueFilter, error) {
	f := store.QueueFilter{
		Project: project, Judge: c.QueryParam("judge"), Domain: c.QueryParam("domain"), Stakes: c.QueryParam("stakes"),
		Reason: c.QueryParam("reason"), Lead: c.QueryParam("lead"), State: c.QueryParam("state"), Run: c.QueryParam("run"),
		Held: c.QueryParam("held"), Assigned: c.QueryParam("assigned"), Blind: c.QueryParam("blind"),
		Overdue: isOn(c.QueryParam("overdue")), After: c.QueryParam("after"), Limit: pageRows,
	}
	if isOn(c.QueryParam("mine")) {
		f.State = store.QueueMine
	}
	if waiting := c.QueryParam("waiting"); waiting != "" {
		i := slices.IndexFunc(waitingChoices, func(w waitingChoice) bool { return w.value == waiting })
		if i < 0 {
			return f, &store.FieldError{Field: "waiting", Message: "is one of 1h, 4h, 1d, 3d, 7d"}
		}
		f.Waiting = waitingChoices[i].least
	}
	var err error
	f.Priority, err = intParam(c, "priority", 0, 1, 3)
	return f, err
}

func isOn(value string) bool { return value != "" && value != "0" }

// queueAddress is the query of this list's address, with the cursor of a page
// when there is one.
func queueAddress(c echo.Context, after string) string {
	q := c.QueryParams()
	kept := url.Values{}
	for _, name := range queueParams {
		if v := q.Get(name); v != "" {
			kept.Set(name, v)
		}
	}
	if after != "" {
		kept.Set("after", after)
	}
	return kept.Encode()
}

// shownOf are the filters that are set, in words.
func shownOf(f store.QueueFilter) (shown []string) {
	add := func(set bool, text string) {
		if set {
			shown = append(shown, text)
		}
	}
	add(f.Judge != "", "judge "+f.Judge)
	add(f.Reason != "", "reason "+words(f.Reason))
	add(f.Lead != "", "first reason "+words(f.Lead))
	add(f.Domain != "", "domain "+words(f.Domain))
	add(f.Stakes != "", words(f.Stakes)+" stakes")
	add(f.State != "" && f.State != store.QueueWaiting, stateWords[f.State])
	add(f.Run != "", "run "+f.Run)
	add(f.Held != "", "by who holds it")
	add(f.Assigned != "", "by whom it is assigned to")
	add(f.Waiting > 0, "waiting over "+views.Span(f.Waiting))
	add(f.Overdue, "overdue")
	add(f.Blind == "yes", "blind")
	add(f.Blind == "no", "not blind")
	add(f.Priority > 0, "priority P"+strconv.Itoa(f.Priority))
	return shown
}

var stateWords = map[string]string{
	store.QueueFree: "unclaimed", store.QueueMine: "held by you", store.QueueAdjudication: "for a lead to settle",
	store.QueueAssigned: "assigned to you", store.QueueSkipped: "skipped by you today",
	store.QueueForMe: "sent to you by name", store.QueueDrafts: "with a draft of yours",
}

func queueRows(items []store.QueueItem, a store.Actor) []views.QueueRow {
	rows := make([]views.QueueRow, len(items))
	for i, q := range items {
		rows[i] = views.QueueRow{
			ID: q.ReviewID, Href: reviewPath(q.ReviewID), Title: q.Title, TraceID: q.TraceID, Domain: words(q.Domain), Judge: q.Judge, Version: q.PromptVersion,
			Stakes: judge.Stakes(q.Stakes), Reasons: q.Reasons, Sealed: q.Sealed, State: q.State, Blind: q.Blind,
			Since: q.OpenedAt, Due: q.DueAt, Holder: q.HolderName, Mine: q.HolderID != "" && q.HolderID == a.UserID,
			Priority: q.Priority, SetPriority: q.Priority > 0, Assigned: q.AssignedName,
		}
		rows[i].Opinions, rows[i].OpinionsRequired = q.Opinions, q.OpinionsRequired
		if q.Adjudicating && q.AddresseeName != "" {
			rows[i].Assigned = q.AddresseeName
		}
		if q.AssignedID != "" && q.AssignedID == a.UserID || q.Adjudicating && q.Addressee != "" && q.Addressee == a.UserID {
			rows[i].Assigned = "you"
		}
		if q.Priority == 0 && !q.Sealed { // where it is sealed it would tell the reason
			rows[i].Priority = priorityOf(q.Reasons)
		}
		if q.LeaseExpiresAt != nil {
			rows[i].Until = *q.LeaseExpiresAt
		}
	}
	return rows
}

// priorityOf is the priority that reasons give an item; 0 without any.
func priorityOf(reasons []judge.Reason) (most int) {
	for _, r := range reasons {
		if p := store.PriorityOf(r.Code); most == 0 || p < most {
			most = p
		}
	}
	return most
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
