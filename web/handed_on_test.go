package web_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestEscalatedBlind: who settles a blind item that somebody passed on knows who did and
// what they wrote, as far as that person knew no more; and it can be undone on the page.
func TestEscalatedBlind(t *testing.T) {
	s := benchSite(t, judge.BlindAlways, logicTrace())
	s.user("lea@example.org", store.Lead)
	ada, lea := s.signIn("ada@example.org"), s.signIn("lea@example.org")
	path := ada.post("/queue/next", url.Values{}).Request.URL.Path
	main := func(r reply) string { return textOf(find(t, r.body, "main")[0]) }
	escalate := url.Values{"action": {"escalate"}, "comment": {"Is step 3 a joke?"}}

	r := ada.post(path+"/decision", escalate)
	if len(find(t, r.body, `form[action="`+path+`/undo"] button`)) != 1 || !strings.Contains(main(r), "You passed this item on") {
		t.Errorf("after an escalation: %s", main(r))
	}
	if r = ada.post(path+"/undo", url.Values{}); len(find(t, r.body, "[name=action][value=escalate][checked]")) != 1 ||
		textOf(find(t, r.body, "textarea[name=comment]")[0]) != "Is step 3 a joke?" || strings.Contains(main(r), "It is blind for nobody any more") {
		t.Errorf("after undo: %s", main(r))
	}
	ada.post(path+"/decision", escalate)

	lea.get(path)
	r = lea.post(path+"/claim", url.Values{})
	text := main(r)
	if !strings.Contains(text, "ada escalated this item") || !strings.Contains(text, "“Is step 3 a joke?”") || strings.Count(text, "escalated this item") != 1 {
		t.Errorf("the lead reads: %s", text)
	}
	if button := find(t, r.body, "#decision button.primary"); len(button) != 1 || !strings.HasPrefix(textOf(button[0]), "Commit and reveal") || len(find(t, r.body, "#decision button.primary .when")) != 0 {
		t.Errorf("the lead's button: %v", button)
	}
	if strings.Contains(r.body, "walrus") {
		t.Error("the page tells what the judge said")
	}
}

// TestPassedOnByWhoKnew: what somebody wrote who had seen the verdict stays sealed from
// who has not, and the page says so.
func TestPassedOnByWhoKnew(t *testing.T) {
	s := benchSite(t, judge.BlindAlways, logicTrace())
	s.user("lea@example.org", store.Lead)
	ada, lea := s.signIn("ada@example.org"), s.signIn("lea@example.org")
	path := ada.post("/queue/next", url.Values{}).Request.URL.Path
	ada.post(path+"/decision", url.Values{"verdict": {"pass"}})
	ada.post(path+"/decision", url.Values{"stage": {"decide"}, "action": {"escalate"}, "comment": {"The judge fails it, and I would not."}})
	lea.get(path)
	r := lea.post(path+"/claim", url.Values{})
	if text := textOf(find(t, r.body, "main")[0]); strings.Contains(r.body, "I would not") || !strings.Contains(text, "What they wrote stays sealed until you have answered") {
		t.Errorf("the lead reads: %s", text)
	}
}

// TestAnsweredAndLapsed: a first answer that is in is told to who comes back after the
// claim has ended.
func TestAnsweredAndLapsed(t *testing.T) {
	s := benchSite(t, judge.BlindAlways, logicTrace())
	ada := s.signIn("ada@example.org")
	path := ada.post("/queue/next", url.Values{}).Request.URL.Path
	s.clock.advance(45 * time.Minute)
	r := ada.post(path+"/decision", url.Values{"verdict": {"pass"}})
	if text := textOf(find(t, r.body, "main")[0]); !strings.Contains(text, "Your first answer is recorded and stays.") || strings.Contains(text, "What you typed is kept") {
		t.Errorf("reads: %s", text)
	}
}

// TestUndoSaysThatItUnblinds: what was settled could be read, so nobody answers it blind.
func TestUndoSaysThatItUnblinds(t *testing.T) {
	s := benchSite(t, judge.BlindAlways, logicTrace())
	ada := s.signIn("ada@example.org")
	path := ada.post("/queue/next", url.Values{}).Request.URL.Path
	ada.post(path+"/decision", url.Values{"verdict": {"pass"}})
	ada.post(path+"/decision", url.Values{"stage": {"decide"}, "action": {"adopt"}})
	if r := ada.post(path+"/undo", url.Values{}); !strings.Contains(r.body, "It is blind for nobody any more") || strings.Contains(r.body, "begun since") {
		t.Errorf("reads: %s", textOf(find(t, r.body, "main")[0]))
	}
}
