package web_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// busyQueue puts items of every kind into the queue: held by several people, sent to
// a lead, assigned, skipped, of several domains, some of them not blind.
func busyQueue(t *testing.T, s *site) (reviewer, lead *visitor) {
	t.Helper()
	var traces []judge.Trace
	for i := range 23 {
		tr := citationTrace(fmt.Sprintf("t%02d", i))
		tr.Domain = []string{"medical", "legal", "general"}[i%3]
		tr.Run = []string{"nightly", "weekly"}[i%2]
		traces = append(traces, tr)
	}
	s.load(traces...)
	s.user("ada@example.org", store.Reviewer)
	s.user("ben@example.org", store.Reviewer)
	s.user("lea@example.org", store.Lead)
	reviewer, lead = s.signIn("ada@example.org"), s.signIn("lea@example.org")
	ben := s.signIn("ben@example.org")
	for range 2 {
		reviewer.post("/queue/next", url.Values{})
		ben.post("/queue/next", url.Values{})
	}
	desk := reviewer.post("/queue/next", url.Values{}).Request.URL.Path
	reviewer.post(desk+"/decision", url.Values{"verdict": {"pass"}})
	reviewer.post(desk+"/decision", url.Values{"action": {"escalate"}, "comment": {"c"}})
	desk = reviewer.post("/queue/next", url.Values{}).Request.URL.Path
	reviewer.post(desk+"/skip", url.Values{})
	return reviewer, lead
}

// rows counts the rows of a list, all its pages together.
func rowsOf(t *testing.T, v *visitor, href string) (n int) {
	t.Helper()
	for href != "" {
		r := v.get(href)
		if r.StatusCode != http.StatusOK {
			t.Fatalf("%s answers %s", href, r.Status)
		}
		n += len(find(t, r.body, "main tbody tr[data-unit]"))
		next := find(t, r.body, `main a[rel=next]`)
		href = ""
		if len(next) == 1 {
			href = attr(next[0], "href")
		}
	}
	return n
}

// firstElement is the first child of a node that is no text.
func firstElement(n *html.Node) *html.Node {
	for n = n.FirstChild; n.Type != html.ElementNode; n = n.NextSibling {
	}
	return n
}

func firstNumber(text string) int {
	for _, word := range strings.Fields(text) {
		if n, err := strconv.Atoi(strings.ReplaceAll(word, ",", "")); err == nil {
			return n
		}
	}
	return -1
}

// TestEveryCountIsOfRows follows each link that carries a count, as each role, and
// counts the rows that it opens.
func TestEveryCountIsOfRows(t *testing.T) {
	s := newSite(t)
	reviewer, lead := busyQueue(t, s)
	s.user("aud@example.org", store.Auditor)
	items, _, err := s.store.ListQueue(t.Context(), store.Operator("test"), store.QueueFilter{Limit: 500})
	if err != nil || len(items) < 20 {
		t.Fatal(len(items), err)
	}
	var free []string
	for _, i := range items {
		if i.State == "open" {
			free = append(free, i.ReviewID)
		}
	}
	ada, err := s.store.UserByEmail(t.Context(), "ada@example.org")
	if err != nil {
		t.Fatal(err)
	}
	lead.post("/queue/change", url.Values{"item": free[:2], "action": {"assign"}, "user": {ada.ID}})
	lead.post("/queue/change", url.Values{"item": free[2:5], "action": {"visible"}})
	lead.post("/queue/change", url.Values{"item": free[5:6], "action": {"priority"}, "priority": {"1"}})
	s.clock.advance(100 * time.Hour) // all is overdue, and every claim has run out
	reviewer.post("/queue/next", url.Values{})
	for who, v := range map[string]*visitor{"reviewer": reviewer, "lead": lead, "auditor": s.signIn("aud@example.org")} {
		seen := 0
		for _, tab := range find(t, v.get("/queue").body, "nav.tabs a:has([data-count])") {
			seen++
			if want, got := firstNumber(textOf(tab)), rowsOf(t, v, attr(tab, "href")); got != want {
				t.Errorf("%s: the tab %q opens %d rows", who, textOf(tab), got)
			}
		}
		overview := v.get("/")
		for _, row := range find(t, overview.body, "main tbody tr:has(th a[href^='/queue'])") {
			seen++
			link := row
			for link.Data != "a" {
				link = firstElement(link)
			}
			if want, got := firstNumber(strings.TrimPrefix(textOf(row), textOf(link))), rowsOf(t, v, attr(link, "href")); got != want {
				t.Errorf("%s: %q on the overview opens %d rows", who, textOf(row), got)
			}
		}
		for _, link := range find(t, overview.body, "main .section-head a[href^='/queue']") {
			if want := firstNumber(textOf(link)); want >= 0 {
				seen++
				if got := rowsOf(t, v, attr(link, "href")); got != want {
					t.Errorf("%s: %q on the overview opens %d rows", who, textOf(link), got)
				}
			}
		}
		if seen < 8 {
			t.Errorf("%s: only %d counts were followed", who, seen)
		}
	}
	mine := reviewer.get("/queue?view=mine")
	for _, link := range find(t, mine.body, "main .plain a, main .why a") {
		if want, got := firstNumber(textOf(link)), rowsOf(t, reviewer, attr(link, "href")); got != want {
			t.Errorf("my work: %q opens %d rows", textOf(link), got)
		}
	}
}

// TestLeadChangesMany makes each change by the form of the list, and finds it done
// and told; what is refused names the items and keeps the selection.
func TestLeadChangesMany(t *testing.T) {
	s := newSite(t)
	reviewer, lead := busyQueue(t, s)
	page := lead.get("/queue?domain=medical")
	form := find(t, page.body, "form:has(.bulk)")
	if len(form) != 1 || attr(form[0], "action") != "/queue/change?domain=medical" {
		t.Fatalf("%d forms to change items", len(form))
	}
	var free []string
	items, _, _ := s.store.ListQueue(t.Context(), store.Operator("test"), store.QueueFilter{Domain: "medical", State: store.QueueFree})
	for _, i := range items {
		if i.State == "open" {
			free = append(free, i.ReviewID)
		}
	}
	ada, _ := s.store.UserByEmail(t.Context(), "ada@example.org")
	due := s.clock.now().Add(90 * time.Minute).Format("2006-01-02T15:04")
	for _, c := range []struct {
		form url.Values
		want string
	}{
		{url.Values{"action": {"assign"}, "user": {ada.ID}}, "2 items assigned."},
		{url.Values{"action": {"assign"}, "user": {"nobody"}}, "2 items assigned to nobody now."},
		{url.Values{"action": {"priority"}, "priority": {"2"}}, "2 items moved in the queue."},
		{url.Values{"action": {"due"}, "due_at": {due}}, "2 items due "},
		{url.Values{"action": {"visible"}}, "2 items answered with the verdict shown."},
		{url.Values{"action": {"visible"}}, "0 items answered with the verdict shown. 2 were so already."},
		{url.Values{"action": {"blind"}}, "2 items answered blind."},
		{url.Values{"action": {"release"}}, "0 claims ended."},
		{url.Values{"action": {"withdraw"}, "reason": {"doubles"}}, "2 items withdrawn."},
	} {
		c.form["item"] = free[:2]
		r := lead.post("/queue/change?domain=medical", c.form)
		if r.StatusCode != http.StatusOK || r.Request.URL.RequestURI() != "/queue?domain=medical" || !strings.Contains(textOf(find(t, r.body, ".notice")[0]), c.want) {
			t.Errorf("%v: %s at %s, says %q", c.form, r.Status, r.Request.URL, textOf(find(t, r.body, ".notice")[0]))
		}
	}
	r := lead.post("/queue/change?domain=medical", url.Values{"item": free[1:3], "action": {"withdraw"}, "reason": {"again"}})
	if faults := find(t, r.body, "[role=alert] li"); r.StatusCode != http.StatusConflict || len(faults) != 1 || !strings.Contains(textOf(faults[0]), "It is closed.") {
		t.Errorf("withdrawing what is closed: %s, %d faults", r.Status, len(faults))
	}
	if ticked := find(t, r.body, "[name=item][checked]"); len(ticked) != 1 || attr(ticked[0], "value") != free[2] {
		t.Errorf("the selection is lost: %d boxes are ticked", len(ticked))
	}
	for name, form := range map[string]url.Values{
		"item": {"action": {"release"}}, "user": {"action": {"assign"}, "item": free[2:3]}, "due": {"action": {"due"}, "due_at": {"soon"}, "item": free[2:3]},
		"reason": {"action": {"withdraw"}, "item": free[2:3]}, "priority": {"action": {"priority"}, "item": free[2:3]},
	} {
		r := lead.post("/queue/change", form)
		if r.StatusCode != http.StatusUnprocessableEntity || !strings.HasPrefix(strings.ToLower(textOf(find(t, r.body, "[role=alert] p")[0])), name) {
			t.Errorf("without %s: %s", name, r.Status)
		}
	}
	if got := find(t, reviewer.get("/queue").body, "[name=item], .bulk"); len(got) != 0 {
		t.Error("a reviewer is offered changes")
	}
	if r := reviewer.post("/queue/change", url.Values{"item": free[2:3], "action": {"release"}}); r.StatusCode != http.StatusForbidden {
		t.Errorf("a change by a reviewer: %s", r.Status)
	}
}

// TestHolderIsTold: who lost a claim to a lead is told so when they act next.
func TestHolderIsTold(t *testing.T) {
	s := newSite(t)
	reviewer, lead := busyQueue(t, s)
	desk := reviewer.post("/queue/next", url.Values{}).Request.URL.Path
	lead.post("/queue/change", url.Values{"item": {strings.TrimPrefix(desk, "/reviews/")}, "action": {"release"}})
	r := reviewer.post(desk+"/decision", url.Values{"verdict": {"pass"}})
	if text := textOf(find(t, r.body, ".notice.bad:not([hidden])")[0]); !strings.Contains(text, "lea ended your claim") {
		t.Errorf("the holder reads %q", text)
	}
}

// TestSavedViews saves filters, finds them as a tab, and forgets them.
func TestSavedViews(t *testing.T) {
	s := newSite(t)
	reviewer, lead := busyQueue(t, s)
	r := lead.post("/queue/views?domain=medical&stakes=high", url.Values{"name": {"Urgent medicine"}, "shared": {"1"}})
	if tab := find(t, r.body, ".tabs a[aria-current]"); len(tab) != 1 || textOf(tab[0]) != "Urgent medicine" {
		t.Fatalf("the saved view is not the current tab: %s", r.Status)
	}
	tab := find(t, reviewer.get("/queue").body, `.tabs a[title="Shared by lea"]`)
	if len(tab) != 1 || attr(tab[0], "href") != "/queue?domain=medical&stakes=high" {
		t.Fatal("the shared view is not offered to others")
	}
	if r := reviewer.post("/queue/views?domain=legal", url.Values{"name": {"x"}, "shared": {"1"}}); r.StatusCode != http.StatusForbidden {
		t.Errorf("a reviewer shares: %s", r.Status)
	}
	if r := reviewer.post("/queue/views?domain=legal", url.Values{"name": {" "}}); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a view without a name: %s", r.Status)
	}
	remove := find(t, lead.get("/queue").body, "form[action$='/delete']")
	if r := lead.post(attr(remove[0], "action"), url.Values{}); r.StatusCode != http.StatusOK || len(find(t, r.body, ".tabs a[title]")) != 0 {
		t.Errorf("deleting: %s", r.Status)
	}
}

// TestQueueExplainsItself: who is given nothing is told why, and the numbers add
// up to all that waits.
func TestQueueExplainsItself(t *testing.T) {
	s := newSite(t)
	reviewer, _ := busyQueue(t, s)
	ada, _ := s.store.UserByEmail(t.Context(), "ada@example.org")
	_, token, err := s.store.CreateToken(t.Context(), store.Operator("test"), ada.Email, "second")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.store.ChangeMember(t.Context(), store.Operator("test"), ada.ID, store.MemberChange{Name: "Ada", Role: store.Reviewer,
		Profile: store.Profile{Domains: []string{"finance"}}}); err != nil {
		t.Fatal(err)
	}
	r := reviewer.post("/queue/next", url.Values{})
	if r.Request.URL.RequestURI() != "/queue?view=mine" {
		t.Fatalf("who is given nothing lands on %s", r.Request.URL)
	}
	sum := 0
	for _, li := range find(t, r.body, ".why li") {
		sum += firstNumber(textOf(li))
	}
	if total := firstNumber(textOf(find(t, r.body, "#why p")[0])); total != sum || total != rowsOf(t, reviewer, "/queue") {
		t.Errorf("%d items are told of, the reasons add up to %d, and %d wait", total, sum, rowsOf(t, reviewer, "/queue"))
	}
	items, _, _ := s.store.ListQueue(t.Context(), store.Operator("test"), store.QueueFilter{State: store.QueueFree})
	free := "/reviews/" + items[len(items)-1].ReviewID
	if text := textOf(find(t, reviewer.post(free+"/claim", url.Values{}).body, ".notice.bad:not([hidden])")[0]); !strings.Contains(text, "Your domains are finance") {
		t.Errorf("a claim by the item's address is answered %q", text)
	}
	if r := s.api(token, http.MethodPost, "/api/v1/queue/claim", map[string]string{}); r.StatusCode != http.StatusNoContent {
		t.Errorf("a claim by the API: %s", r.Status)
	}
}
