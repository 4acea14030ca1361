package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/countersign/countersign/store"
)

// TestEveryChoiceWorks sends every value that a filter offers, and every link
// of the main pages, as each role: what a page offers must not be refused.
func TestEveryChoiceWorks(t *testing.T) {
	s := newSite(t)
	s.load(citationTrace("t1"), citationTrace("t2"), recordedTrace("r1", "Yes"))
	for _, role := range []store.Role{store.Reviewer, store.Lead, store.Auditor} {
		email := string(role) + "@example.org"
		s.user(email, role)
		v := s.signIn(email)
		pages := []string{"/queue", "/evaluations"}
		if role != store.Reviewer {
			pages = append(pages, "/audit")
		}
		for _, path := range pages {
			page := v.get(path)
			tried := 0
			for _, option := range find(t, page.body, "form.filters option") {
				name, value := attr(option.Parent, "name"), attr(option, "value")
				if r := v.get(path + "?" + url.Values{name: {value}}.Encode()); r.StatusCode != http.StatusOK {
					t.Errorf("%s: %s?%s=%s answers %s", role, path, name, value, r.Status)
				}
				tried++
			}
			if tried < 3 {
				t.Errorf("%s: %s offers only %d choices", role, path, tried)
			}
		}
		for _, path := range append(pages, "/", "/runs", "/judges") {
			for _, link := range find(t, v.get(path).body, "main a[href]") {
				href := attr(link, "href")
				if !strings.HasPrefix(href, "/") || strings.HasPrefix(href, "/queue/next") {
					continue
				}
				r := v.get(href)
				calibration := role == store.Reviewer && strings.HasPrefix(href, "/calibration")
				if r.StatusCode != http.StatusOK && !(calibration && r.StatusCode == http.StatusForbidden) {
					t.Errorf("%s: the link %s on %s answers %s", role, href, path, r.Status)
				}
			}
		}
	}
}

func attr(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// TestDeskSaysWhatIsMissing: the button without an answer, keep without a
// reason, and an answer given twice each say what to do.
func TestDeskSaysWhatIsMissing(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	s.load(citationTrace("t1"))
	v := s.signIn("ada@example.org")
	path := v.post("/queue/next", url.Values{}).Request.URL.Path
	desk := v.get(path)
	if !strings.Contains(textOf(find(t, desk.body, ".task")[0]), "citation") {
		t.Error("the blind desk does not say which question is to be answered")
	}
	v.post(path+"/decision", url.Values{"verdict": {"pass"}})
	r := v.post(path+"/decision", url.Values{"stage": {"decide"}})
	if faults := find(t, r.body, "#action-fault"); r.StatusCode != http.StatusUnprocessableEntity || len(faults) != 1 || !strings.Contains(textOf(faults[0]), "choose") {
		t.Errorf("no answer chosen: %s, want 422 and what to choose", r.Status)
	}
	r = v.post(path+"/decision", url.Values{"stage": {"decide"}, "action": {"keep"}})
	for _, id := range []string{"#reason-fault", "#comment-fault"} {
		if len(find(t, r.body, id)) != 1 {
			t.Errorf("keep with nothing: %s is not shown", id)
		}
	}
	v.post(path+"/decision", url.Values{"stage": {"decide"}, "action": {"adopt"}})
	done := v.get(path)
	if text := textOf(find(t, done.body, ".signoff")[0]); !strings.Contains(text, "adopted from the judge after answering pass blind") {
		t.Errorf("the signature reads %q", text)
	}
	if forms := find(t, done.body, `form[action$="/reopen"]`); len(forms) != 1 {
		t.Fatal("the signer is offered no correction")
	}
	again := v.post(path+"/reopen", url.Values{"comment": {"a slip"}})
	if again.StatusCode != http.StatusOK || len(find(t, again.body, "input[name=action]")) == 0 {
		t.Errorf("reopen: %s, and no decision to make", again.Status)
	}
}
