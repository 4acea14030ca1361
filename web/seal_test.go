package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/store"
)

// TestQueuedTraceKeepsItsReports: a recorded report is the judge's verdict, and
// is sealed from the moment the trace arrives, not only once it was judged.
func TestQueuedTraceKeepsItsReports(t *testing.T) {
	s := newSite(t)
	_, reviewer := s.user("ada@example.org", store.Reviewer)
	tr := recordedTrace("r1", "No")
	plan, err := s.harness.Plan(&tr)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.ImportTraces(context.Background(), store.Operator("test"), "default", []store.ImportItem{{Trace: tr, Plan: plan}}); err != nil {
		t.Fatal(err)
	}
	if r := s.api(reviewer, http.MethodGet, "/api/v1/traces/r1", nil); strings.Contains(r.body, "zebra") {
		t.Errorf("before it was judged the trace shows its report: %s", r.body)
	}
	if r := s.signIn("ada@example.org").get("/traces/r1"); strings.Contains(r.body, "zebra") {
		t.Error("before it was judged the page shows its report")
	}
	s.judgeAll() // accepted: nobody is going to answer it blind
	if r := s.api(reviewer, http.MethodGet, "/api/v1/traces/r1", nil); !strings.Contains(r.body, "zebra") {
		t.Errorf("once it was accepted the trace lacks its report: %s", r.body)
	}
}

// TestCursorTellsNoRank: the next page's address holds nothing of the reason
// that an item is ranked by, and can't be made up to ask for a rank.
func TestCursorTellsNoRank(t *testing.T) {
	s := newSite(t)
	_, token := s.user("ada@example.org", store.Reviewer)
	s.load(citationTrace("t1"), citationTrace("t2"), citationTrace("t3"))
	var seen []string
	next := ""
	for range 4 {
		r := s.api(token, http.MethodGet, "/api/v1/queue?limit=1&after="+url.QueryEscape(next), nil)
		var page struct {
			Items []struct{ ID string }
			Next  string
		}
		r.json(t, &page)
		for _, item := range page.Items {
			seen = append(seen, item.ID)
			if page.Next != "" && page.Next != item.ID {
				t.Errorf("cursor %q is more than the id of the last item", page.Next)
			}
		}
		if next = page.Next; next == "" {
			break
		}
	}
	if len(seen) != 3 {
		t.Errorf("pages of one item gave %v, want three items", seen)
	}
	wantProblem(t, s.api(token, http.MethodGet, "/api/v1/queue?after=OSAwMDAxLTAxLTAx", nil), http.StatusUnprocessableEntity, "after")
}

// TestSignOutEndsEveryCopy: a cookie that somebody kept is worth nothing.
func TestSignOutEndsEveryCopy(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	v, copied := s.signIn("ada@example.org"), s.visitor()
	at, err := url.Parse(s.http.URL)
	if err != nil {
		t.Fatal(err)
	}
	copied.client.Jar.SetCookies(at, v.client.Jar.Cookies(at))
	if r := copied.get("/queue"); r.Request.URL.Path != "/queue" {
		t.Fatalf("the copy does not work before: %s", r.Request.URL)
	}
	v.get("/")
	v.post("/logout", url.Values{})
	if r := copied.get("/queue"); r.Request.URL.Path != "/login" {
		t.Errorf("the copy still works at %s", r.Request.URL)
	}
}

// TestForeignLinkClaimsNothing: the address that claims is a GET.
func TestForeignLinkClaimsNothing(t *testing.T) {
	s := newSite(t)
	u, token := s.user("ada@example.org", store.Reviewer)
	s.load(citationTrace("t1"))
	v := s.signIn("ada@example.org")
	for header, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Purpose": "prefetch"} {
		req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, s.http.URL+"/queue/next", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set(header, value)
		s.send(v.client, req)
		counts, err := s.store.QueueCounts(context.Background(), u.Actor(), "default")
		if err != nil || counts.Mine != 0 {
			t.Errorf("%s: %s claimed %d items (%v)", header, value, counts.Mine, err)
		}
	}
	if s.claim(token).TraceID != "t1" {
		t.Error("the item is not free")
	}
}
