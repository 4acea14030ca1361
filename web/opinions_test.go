package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// changePolicy changes the project's policy.
func (s *site) changePolicy(change func(*judge.Policy)) {
	s.t.Helper()
	p := s.policy()
	change(&p)
	if _, err := s.store.SetPolicy(context.Background(), store.Operator("test"), "default", p, ""); err != nil {
		s.t.Fatal(err)
	}
}

// decidedBody is what a decision answers.
type decidedBody struct {
	State            string
	Decision         store.Decision
	Result           *judge.Result
	Opinions         int
	OpinionsRequired int `json:"opinions_required"`
}

// TestSeveralOpinionsByAPI: two people answer one item without seeing each
// other's answer; a third settles what they differ about.
func TestSeveralOpinionsByAPI(t *testing.T) {
	s := newSite(t)
	_, ada := s.user("ada@example.org", store.Reviewer)
	_, bob := s.user("bob@example.org", store.Reviewer)
	_, lea := s.user("lea@example.org", store.Lead)
	s.changePolicy(func(p *judge.Policy) { p.Opinions = &judge.Opinions{Default: 2} })
	s.load(citationTrace("t1"))

	answer := func(token string, v judge.Verdict, comment string) (done decidedBody) {
		t.Helper()
		item := s.claim(token)
		path := "/api/v1/reviews/" + item.ID + "/decision"
		if r := s.api(token, http.MethodPost, path, map[string]any{"verdict": v}); r.StatusCode != http.StatusOK {
			t.Fatalf("first answer: %s %s", r.Status, r.body)
		}
		r := s.api(token, http.MethodPost, path, map[string]any{"action": "keep", "reason_code": "dose_error", "severity": "minor", "comment": comment})
		if r.StatusCode != http.StatusOK {
			t.Fatalf("keep: %s %s", r.Status, r.body)
		}
		r.json(t, &done)
		return done
	}
	one := answer(ada, judge.Pass, "PEER-COMMENT")
	if one.State != "open" || one.Result != nil || one.Opinions != 1 || one.OpinionsRequired != 2 || one.Decision.Severity != "minor" || one.Decision.Signature == nil {
		t.Errorf("the first opinion: %+v", one)
	}
	id := one.Decision.ReviewID
	for _, path := range []string{"/api/v1/queue", "/api/v1/evaluations/" + one.Decision.EvaluationID, "/api/v1/evaluations", "/api/v1/traces/t1"} {
		if r := s.api(bob, http.MethodGet, path, nil); strings.Contains(r.body, "PEER-") || strings.Contains(r.body, "dose_error") {
			t.Errorf("GET %s tells what the other said: %s", path, r.body)
		}
	}
	v := s.signIn("bob@example.org")
	for _, path := range []string{"/reviews/" + id, "/evaluations/" + one.Decision.EvaluationID, "/queue", "/", "/traces/t1"} {
		if r := v.get(path); strings.Contains(r.body, "PEER-") {
			t.Errorf("%s tells what the other said", path)
		}
	}
	if r := s.api(ada, http.MethodPost, "/api/v1/queue/claim", nil); r.StatusCode != http.StatusNoContent {
		t.Errorf("who answered is given it again: %s", r.body)
	}
	if two := answer(bob, judge.Fail, "c"); two.State != "adjudication" || two.Opinions != 2 {
		t.Errorf("the second opinion: %+v", two)
	}
	if three := answer(lea, judge.Pass, "c"); three.State != "decided" || three.Result == nil || three.Result.Source != judge.ByAdjudication {
		t.Errorf("the adjudication: %+v", three)
	}
}

// TestUndoByAPI and what else belongs to a decision: more opinions, another
// addressee, an answer that came too late.
func TestActionsOnDecisionsByAPI(t *testing.T) {
	s := newSite(t)
	_, ada := s.user("ada@example.org", store.Reviewer)
	bobUser, bob := s.user("bob@example.org", store.Reviewer)
	_, lea := s.user("lea@example.org", store.Lead)
	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindNever })
	s.load(citationTrace("t1"), citationTrace("t2"))
	post := func(token, id, what string, body any) reply {
		return s.api(token, http.MethodPost, "/api/v1/reviews/"+id+"/"+what, body)
	}
	var item struct {
		ID    string
		Shown store.Shown
		Codes []judge.OverrideReason `json:"reason_codes"`
	}
	s.api(ada, http.MethodPost, "/api/v1/queue/claim", nil).json(t, &item)
	if item.Shown.TraceRevision != 1 || item.Shown.ReportSHA256 == "" || !slices.ContainsFunc(item.Codes, func(r judge.OverrideReason) bool { return r.Code == "dose_error" }) {
		t.Errorf("the claim shows %+v and offers %v", item.Shown, item.Codes)
	}
	stale := item.Shown
	stale.ReportSHA256 = strings.Repeat("0", 64)
	p := wantProblem(t, post(ada, item.ID, "decision", map[string]any{"action": "confirm", "shown": stale}), http.StatusConflict, "")
	if !strings.Contains(p.Detail, "the judge's report has changed") {
		t.Errorf("a stale screen is told %q", p.Detail)
	}
	wantProblem(t, post(ada, item.ID, "decision", map[string]any{"action": "override", "verdict": "pass", "reason_code": "outdated_law", "comment": "c"}), http.StatusUnprocessableEntity, "reason_code")
	var done decidedBody
	post(ada, item.ID, "decision", map[string]any{"action": "confirm", "shown": item.Shown}).json(t, &done)
	if done.State != "decided" || done.Decision.Signature == nil || !done.Decision.Signature.Shown.Stated {
		t.Fatalf("confirm: %+v", done)
	}

	second := post(bob, item.ID, "second-opinion", map[string]any{"action": "override", "verdict": "pass", "reason_code": "too_strict", "comment": "c"})
	var added decidedBody
	second.json(t, &added)
	if second.StatusCode != http.StatusOK || !added.Decision.OverQuota || added.Result == nil || added.Result.Verdict != done.Result.Verdict {
		t.Errorf("second opinion: %s %s", second.Status, second.body)
	}
	p = wantProblem(t, post(ada, item.ID, "undo", nil), http.StatusConflict, "")
	if !strings.Contains(p.Detail, "bob has decided since") {
		t.Errorf("undo after it is told %q", p.Detail)
	}

	s.api(ada, http.MethodPost, "/api/v1/queue/claim", nil).json(t, &item)
	wantProblem(t, post(ada, item.ID, "opinions", map[string]any{"opinions": 2}), http.StatusForbidden, "")
	wantProblem(t, post(lea, item.ID, "opinions", map[string]any{"opinions": 9}), http.StatusUnprocessableEntity, "opinions")
	if r := post(lea, item.ID, "opinions", map[string]any{"opinions": 2}); r.StatusCode != http.StatusNoContent {
		t.Errorf("raise: %s %s", r.Status, r.body)
	}
	post(ada, item.ID, "decision", map[string]any{"action": "confirm"}).json(t, &done)
	if done.State != "open" {
		t.Errorf("one of two: %+v", done)
	}
	s.clock.advance(30 * time.Second)
	r := post(ada, item.ID, "undo", map[string]any{})
	var undone decidedBody
	r.json(t, &undone)
	if r.StatusCode != http.StatusOK || undone.State != "claimed" || undone.Decision.UndoneAt == nil {
		t.Fatalf("undo: %s %s", r.Status, r.body)
	}
	wantProblem(t, post(ada, item.ID, "decision", map[string]any{"action": "confirm", "to": bobUser.ID}), http.StatusUnprocessableEntity, "to")
	wantProblem(t, post(ada, item.ID, "decision", map[string]any{"action": "escalate", "comment": "c", "to": "everybody"}), http.StatusUnprocessableEntity, "to")
	post(ada, item.ID, "decision", map[string]any{"action": "escalate", "comment": "c", "to": "admin"}).json(t, &done)
	if done.State != "adjudication" || done.Decision.To != "admin" {
		t.Errorf("escalated: %+v", done)
	}
	if r := post(lea, item.ID, "reassign", map[string]any{"to": bobUser.ID}); r.StatusCode != http.StatusNoContent {
		t.Errorf("reassign: %s %s", r.Status, r.body)
	}
	if r := s.api(bob, http.MethodGet, "/api/v1/queue?state=for_me", nil); !strings.Contains(r.body, item.ID) {
		t.Errorf("what is for bob: %s", r.body)
	}
}

// TestRulingsByFormAndAPI: rulings are held to what there is to rule on; one that
// differs from the judge's can't be confirmed and makes an override.
func TestRulingsByFormAndAPI(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindNever })
	s.load(recordedTrace("r1", "No"))
	rows, _, err := s.store.ListEvaluations(context.Background(), store.Operator("test"), store.EvaluationFilter{})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d evaluations, %v", len(rows), err)
	}
	if rows[0].Status == judge.Accepted {
		if err := s.store.RequestReview(context.Background(), store.Operator("test"), rows[0].ID, "look"); err != nil {
			t.Fatal(err)
		}
	}
	v := s.signIn("ada@example.org")
	path := v.post("/queue/next", url.Values{}).Request.URL.Path
	for name, form := range map[string]url.Values{
		"no part of it": {"action": {"confirm"}, "ruling.citation/9/support": {"unsupported"}},
		"no value":      {"action": {"confirm"}, "ruling.label": {"perhaps"}},
		"changed":       {"action": {"confirm"}, "ruling.label": {"Yes"}},
	} {
		if r := v.post(path+"/decision", form); r.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s: %s, want 422", name, r.Status)
		} else if name == "changed" && !strings.Contains(r.body, "you changed a ruling, so this cannot be confirmed") {
			t.Errorf("%s: the page does not say why", name)
		}
	}
	shown := find(t, v.get(path).body, `#decision input[name="shown"]`)
	if len(shown) != 1 {
		t.Fatal("the form does not say what is shown")
	}
	text := attr(shown[0], "value")
	var s1 store.Shown
	if err := json.Unmarshal([]byte(text), &s1); err != nil || s1.PageVersion != "test" || s1.ReportSHA256 == "" {
		t.Errorf("shown %q, %v", text, err)
	}
	s1.TraceRevision++
	stale, err := json.Marshal(s1)
	if err != nil {
		t.Fatal(err)
	}
	if r := v.post(path+"/decision", url.Values{"action": {"confirm"}, "shown": {string(stale)}}); !strings.Contains(r.body, "The trace has changed since the page was opened") {
		t.Errorf("a stale page is told nothing: %s", textOf(find(t, r.body, "main")[0]))
	}
	r := v.post(path+"/decision", url.Values{"action": {"override"}, "label": {"Yes"}, "ruling.label": {"Yes"}, "ruling-note.label": {"she did"},
		"reason_code": {"too_strict"}, "severity": {"critical"}, "comment": {"c"}, "shown": {text}})
	if r.StatusCode != http.StatusOK || !strings.Contains(r.body, "Signed and recorded.") {
		t.Fatalf("override: %s %s", r.Status, textOf(find(t, r.body, "main")[0]))
	}
	var kept store.Decision
	if err := s.store.EachDecision(context.Background(), store.Operator("test"), store.EvaluationFilter{}, func(d store.Decision) error { kept = d; return nil }); err != nil {
		t.Fatal(err)
	}
	if len(kept.Rulings) != 1 || kept.Rulings[0] != (judge.Ruling{Part: "label", Value: "Yes", Note: "she did"}) || kept.Severity != "critical" || !kept.Signature.Shown.Stated {
		t.Errorf("kept %+v", kept)
	}
}

// TestUndoByForm: who slipped has the item back at once.
func TestUndoByForm(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindNever })
	s.load(citationTrace("t1"))
	v := s.signIn("ada@example.org")
	path := v.post("/queue/next", url.Values{}).Request.URL.Path
	v.post(path+"/decision", url.Values{"action": {"confirm"}})
	if r := v.post(path+"/undo", url.Values{}); !strings.Contains(r.body, "Taken back.") || len(find(t, r.body, "form#decision")) != 1 {
		t.Errorf("after undo: %s", textOf(find(t, r.body, "main")[0]))
	}
	v.post(path+"/decision", url.Values{"action": {"confirm"}})
	s.clock.advance(2 * time.Minute)
	if r := v.post(path+"/undo", url.Values{}); !strings.Contains(r.body, "The time for undo is over") {
		t.Errorf("too late: %s", textOf(find(t, r.body, "main")[0]))
	}
}
