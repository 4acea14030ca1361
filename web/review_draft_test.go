package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// typedForm is a desk's form with everything filled in, and a field that the
// server knows nothing of.
func typedForm(version string) url.Values {
	return url.Values{
		"draft_version": {version}, "stage": {"decide"}, "action": {"override"}, "verdict": {"pass"}, "comment": {"line one\nline two"},
		"ruling.citation/1/support": {"full"}, "ruling-note.citation/1/support": {"page 3"}, "ruling-note.citation/2/support": {"look again"},
		"question": {"which edition?"}, "correction_target": {"source:s1"}, "correction_explanation": {"repealed"}, "a-later-field": {"kept"},
	}
}

var typedBody = store.DraftBody{
	Stage: "decide", Action: "override", Verdict: "pass", Comment: "line one\nline two",
	Rulings: []judge.Ruling{
		{Part: "citation/1/support", Value: "full", Note: "page 3"}, {Part: "citation/2/support", Note: "look again"},
	},
	Question: "which edition?", Correction: &store.DraftCorrection{Target: "source:s1", Explanation: "repealed"},
	Other: []store.DraftField{{Name: "a-later-field", Value: "kept"}},
}

func TestDraftByForm(t *testing.T) {
	s := newSite(t)
	u, token := s.user("ada@example.org", store.Reviewer)
	s.load(citationTrace("t1"))
	id := s.claim(token).ID
	v := s.signIn("ada@example.org")
	v.get("/queue")

	// A button without script: back to the desk, which says so.
	r := v.post("/reviews/"+id+"/draft", typedForm(""))
	if r.StatusCode != http.StatusOK || r.Request.URL.Path != "/reviews/"+id || !strings.Contains(r.body, "Draft saved") {
		t.Errorf("the button answers %s at %s", r.Status, r.Request.URL)
	}
	draft, err := s.store.GetDraft(t.Context(), u.Actor(), id)
	if err != nil || draft == nil {
		t.Fatalf("draft %+v, error %v", draft, err)
	}
	if diff := cmp.Diff(typedBody, draft.DraftBody); diff != "" {
		t.Errorf("kept (-want +got):\n%s", diff)
	}

	// Another page had an older version: both are shown, and either can be chosen.
	older := typedForm("")
	older.Set("comment", "another thought")
	r = v.post("/reviews/"+id+"/draft", older)
	if r.StatusCode != http.StatusConflict || !strings.Contains(r.body, "another thought") || !strings.Contains(r.body, "line two") {
		t.Fatalf("a conflict answers %s: %s", r.Status, r.body)
	}
	r = v.post("/reviews/"+id+"/draft", formOf(t, r.body, `form[action="/reviews/`+id+`/draft"]`))
	if r.StatusCode != http.StatusOK {
		t.Errorf("the chosen one answers %s", r.Status)
	}
	if draft, err = s.store.GetDraft(t.Context(), u.Actor(), id); err != nil || draft.Comment != "another thought" || draft.Version != 2 {
		t.Errorf("kept %+v, error %v", draft, err)
	}
	want := typedBody
	want.Comment = "another thought"
	if diff := cmp.Diff(want, draft.DraftBody); diff != "" {
		t.Errorf("the conflict's page lost something (-want +got):\n%s", diff)
	}
}

func TestDraftByScript(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	_, ben := s.user("ben@example.org", store.Reviewer)
	s.load(citationTrace("t1"))
	v := s.signIn("ada@example.org")
	v.get("/queue/next")
	items, _, err := s.store.ListQueue(t.Context(), store.Operator("test"), store.QueueFilter{})
	if err != nil || len(items) != 1 {
		t.Fatal(items, err)
	}
	id := items[0].ReviewID
	send := func(form url.Values) (r reply, saved struct {
		Version int       `json:"version"`
		SavedAt time.Time `json:"saved_at"`
		Title   string    `json:"title"`
		Detail  string    `json:"detail"`
		Draft   *store.Draft
	}) {
		t.Helper()
		form.Set("draft_by", "script")
		r = v.post("/reviews/"+id+"/draft", form)
		r.json(t, &saved)
		return r, saved
	}
	if r, saved := send(typedForm("0")); r.StatusCode != http.StatusOK || saved.Version != 1 || !saved.SavedAt.Equal(s.clock.now()) {
		t.Errorf("saving answers %s: %s", r.Status, r.body)
	}
	changed := typedForm("0")
	changed.Set("comment", "other")
	r, saved := send(changed)
	if r.StatusCode != http.StatusConflict || saved.Draft == nil || saved.Draft.Version != 1 {
		t.Fatalf("a conflict answers %s: %s", r.Status, r.body)
	}
	if diff := cmp.Diff(typedBody, saved.Draft.DraftBody); diff != "" {
		t.Errorf("the other draft (-want +got):\n%s", diff)
	}
	for field, value := range map[string]string{"draft_version": "x", "draft_seq": "-1", "comment": strings.Repeat("x", store.MaxDraft)} {
		bad := typedForm("1")
		bad.Set(field, value)
		if r, saved := send(bad); r.StatusCode != http.StatusUnprocessableEntity || saved.Detail == "" {
			t.Errorf("%s: %s %s", field, r.Status, r.body)
		}
	}
	// The claim runs out and somebody else takes the item: words are kept all the same.
	s.clock.advance(time.Hour)
	if s.claim(ben).ID != id {
		t.Fatal("another item was claimed")
	}
	changed.Set("draft_version", "1")
	if r, saved := send(changed); r.StatusCode != http.StatusOK || saved.Version != 2 {
		t.Errorf("after the claim was lost: %s %s", r.Status, r.body)
	}
	// Signed out, and in again: it is there.
	v.post("/logout", url.Values{})
	again := s.signIn("ada@example.org")
	changed.Set("draft_version", "2")
	changed.Set("comment", "more")
	again.get("/")
	if r := again.post("/reviews/"+id+"/draft", changed); r.StatusCode != http.StatusOK {
		t.Errorf("after signing in again: %s", r.Status)
	}
}

func TestDraftByAPI(t *testing.T) {
	s := newSite(t)
	_, ada := s.user("ada@example.org", store.Reviewer)
	_, ben := s.user("ben@example.org", store.Reviewer)
	s.load(citationTrace("t1"))
	id := s.claim(ada).ID
	path := "/api/v1/reviews/" + id + "/draft"
	if r := s.api(ada, http.MethodGet, path, nil); r.StatusCode != http.StatusNoContent {
		t.Errorf("no draft: %s", r.Status)
	}
	send := func(token, body string, want int) reply {
		t.Helper()
		r := s.api(token, http.MethodPost, path, body)
		if r.StatusCode != want {
			t.Errorf("%s: %s %s, want %d", body, r.Status, r.body, want)
		}
		return r
	}
	send(ada, `{"comment": "a", "rulings": [{"part": "citation/1/support", "value": "full"}]}`, http.StatusOK)
	r := send(ada, `{"comment": "b"}`, http.StatusConflict)
	if !strings.Contains(r.body, `"comment":"a"`) || !strings.Contains(r.body, `"version":1`) {
		t.Errorf("the conflict lacks the other draft: %s", r.body)
	}
	send(ada, `{"comment": "b", "draft_version": 1}`, http.StatusOK)
	send(ada, `{"komment": "b"}`, http.StatusUnprocessableEntity)
	wantProblem(t, send(ben, `{"comment": "b"}`, http.StatusConflict), http.StatusConflict, "")
	var draft store.Draft
	s.api(ada, http.MethodGet, path, nil).json(t, &draft)
	if draft.Comment != "b" || draft.Version != 2 {
		t.Errorf("read %+v", draft)
	}
	if r := s.api(ben, http.MethodGet, path, nil); r.StatusCode != http.StatusNoContent {
		t.Errorf("ben reads %s", r.body)
	}
}
