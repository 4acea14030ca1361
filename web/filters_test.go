package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/countersign/countersign/judge"
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
			for _, option := range find(t, page.body, "main form[role=search] option") {
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
		all := append(pages, "/", "/runs", "/runs/renal-12", "/judges", "/judges/citations", "/traces/t1")
		if role != store.Reviewer {
			all = append(all, "/policy", "/judges/citations/health", "/judges/citations/rerun")
		}
		for _, path := range all {
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

// TestDeskLeavesNoDeadEnd: who can't judge says so before answering; a lead who
// settles has nobody to send it on to; a corrected decision may be any.
func TestDeskLeavesNoDeadEnd(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	s.user("lea@example.org", store.Lead)
	s.changePolicy(func(p *judge.Policy) { p.CannotJudge = 1 })
	s.load(citationTrace("t1"))
	ada, lea := s.signIn("ada@example.org"), s.signIn("lea@example.org")
	path := ada.post("/queue/next", url.Values{}).Request.URL.Path
	if r := ada.post(path+"/decision", url.Values{"action": {"cannot_judge"}}); r.StatusCode != http.StatusUnprocessableEntity || len(find(t, r.body, "#comment-fault")) != 1 {
		t.Errorf("cannot judge without a word: %s, want 422 beside the comment", r.Status)
	}
	ada.post(path+"/decision", url.Values{"action": {"cannot_judge"}, "comment": {"outside my field"}})

	lea.post(path+"/claim", url.Values{})
	desk := lea.get(path)
	if found := find(t, desk.body, "[value=escalate], [value=cannot_judge]"); len(found) > 0 {
		t.Error("a lead who settles is offered to send the item on")
	}
	lea.post(path+"/decision", url.Values{"verdict": {"pass"}})
	if r := lea.post(path+"/decision", url.Values{"action": {"escalate"}, "comment": {"x"}}); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("a lead escalates what waits for a lead: %s, want 422", r.Status)
	}
	lea.post(path+"/decision", url.Values{"action": {"keep"}, "reason_code": {"too_strict"}, "comment": {"fine"}})
	lea.post(path+"/reopen", url.Values{"comment": {"misread the dose"}})
	again := lea.get(path)
	if len(find(t, again.body, "input[name=verdict][value=fail]")) != 1 || len(find(t, again.body, "input[name=action][value=override]")) != 1 {
		t.Fatal("a reopened item can't be given another verdict")
	}
	lea.post(path+"/decision", url.Values{"action": {"override"}, "verdict": {"fail"}, "reason_code": {"missed_error"}, "comment": {"the dose is wrong"}})
	if text := textOf(find(t, lea.get(path).body, ".signoff")[0]); !strings.Contains(text, "fail") {
		t.Errorf("after the correction the signature reads %q", text)
	}
}

// TestSealedItemsAreNotCounted: a lead who may review blind can't read a sealed
// verdict out of the sums by bringing a label of their own.
func TestSealedItemsAreNotCounted(t *testing.T) {
	s := newSite(t)
	_, lead := s.user("lea@example.org", store.Lead)
	_, auditor := s.user("ann@example.org", store.Auditor)
	tr := citationTrace("t1")
	tr.Labels = []judge.HumanLabel{{Judge: "citations", Verdict: judge.Fail, Reviewer: "probe"}}
	s.load(tr)
	count := func(token string) (n, sealed int) {
		t.Helper()
		var reports []struct {
			N       int
			NSealed int `json:"n_sealed"`
		}
		s.api(token, http.MethodGet, "/api/v1/calibration?judge=citations", nil).json(t, &reports)
		for _, r := range reports {
			n, sealed = n+r.N, sealed+r.NSealed
		}
		return n, sealed
	}
	if n, _ := count(lead); n != 0 {
		t.Errorf("a lead's counts hold %d sealed items", n)
	}
	if n, sealed := count(auditor); n != 1 || sealed != 0 {
		t.Errorf("an auditor's counts: %d, sealed %d; want the one item", n, sealed)
	}
}

func has(n *html.Node, name string) bool {
	for _, a := range n.Attr {
		if a.Key == name {
			return true
		}
	}
	return false
}

// rawText is a text with its line breaks.
func rawText(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var b strings.Builder
	for c := range n.ChildNodes() {
		b.WriteString(rawText(c))
	}
	return b.String()
}
