package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/store"
)

func TestQuestionsByForm(t *testing.T) {
	s := newSite(t)
	ada, token := s.user("ada@example.org", store.Reviewer)
	s.user("lea@example.org", store.Lead)
	s.load(citationTrace("t1"))
	id := s.claim(token).ID
	v := s.signIn("ada@example.org")
	v.get("/queue")

	// A question sends itself, and keeps the rest of the form as a draft.
	form := typedForm("0")
	form.Set("thread", "")
	form.Set("question_to", "lead")
	r := v.post("/reviews/"+id+"/comments", form)
	if r.StatusCode != http.StatusOK || r.Request.URL.Path != "/reviews/"+id || !strings.Contains(r.body, "Sent. It stands under Questions.") {
		t.Fatalf("asking answers %s at %s", r.Status, r.Request.URL)
	}
	c, err := s.store.ListComments(t.Context(), ada.Actor(), id)
	if err != nil || len(c.All) != 1 || c.All[0].Text != "which edition?" || c.All[0].To != "lead" {
		t.Fatalf("comments %+v, %v", c, err)
	}
	draft, err := s.store.GetDraft(t.Context(), ada.Actor(), id)
	if err != nil || draft == nil || draft.Comment != typedBody.Comment || draft.Question != "" {
		t.Errorf("the rest of the form: %+v, %v", draft, err)
	}

	// Another page of hers saved meanwhile: nothing is sent, both are shown.
	form.Set("comment", "another thought")
	form.Set("question", "and which page?")
	if r := v.post("/reviews/"+id+"/comments", form); r.StatusCode != http.StatusConflict || !strings.Contains(r.body, "another thought") {
		t.Errorf("a conflict answers %s", r.Status)
	}
	if c, err = s.store.ListComments(t.Context(), ada.Actor(), id); err != nil || len(c.All) != 1 {
		t.Errorf("comments %+v, %v", c, err)
	}

	// The lead answers from a form of its own, marks it, and can't withdraw hers.
	q := c.All[0].ID
	lea := s.signIn("lea@example.org")
	lea.get("/queue")
	at := "/reviews/" + id + "/comments"
	for _, step := range []struct {
		path string
		form url.Values
		want string
	}{
		{at, url.Values{"thread": {q}, "reply." + q: {"the third"}}, "Sent."},
		{at + "/" + q + "/resolve", url.Values{"x": {""}}, "Marked as answered."},
		{at + "/" + q + "/reopen", url.Values{"x": {""}}, "open again"},
		{at + "/" + q + "/withdraw", url.Values{"x": {""}}, "only who wrote a comment takes it back"},
	} {
		if r := lea.post(step.path, step.form); r.StatusCode != http.StatusOK || !strings.Contains(r.body, step.want) {
			t.Errorf("%s answers %s at %s without %q", step.path, r.Status, r.Request.URL, step.want)
		}
	}
	if r := lea.post(at, url.Values{"question": {"  "}}); r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(r.body, "Text is missing") {
		t.Errorf("without a text: %s", r.Status)
	}
}

func TestQuestionsByAPI(t *testing.T) {
	s := newSite(t)
	_, ada := s.user("ada@example.org", store.Reviewer)
	_, ben := s.user("ben@example.org", store.Reviewer)
	_, lea := s.user("lea@example.org", store.Lead)
	s.load(citationTrace("t1"))
	item := s.claim(ada)
	at := "/api/v1/reviews/" + item.ID + "/comments"
	var q store.Comment
	r := s.api(ada, http.MethodPost, at, `{"text": "which edition?", "to": "lead"}`)
	if r.StatusCode != http.StatusCreated {
		t.Fatalf("asking: %s %s", r.Status, r.body)
	}
	r.json(t, &q)
	if r := s.api(lea, http.MethodPost, at, `{"text": "the third", "parent_id": "`+q.ID+`"}`); r.StatusCode != http.StatusCreated {
		t.Errorf("answering: %s %s", r.Status, r.body)
	}
	if r := s.api(ada, http.MethodPost, "/api/v1/reviews/"+item.ID+"/decision", `{"verdict": "pass"}`); r.StatusCode != http.StatusOK {
		t.Fatalf("first answer: %s %s", r.Status, r.body)
	}
	// From here on she knows the verdict, and ben is not told what she says.
	s.api(ada, http.MethodPost, at, `{"text": "zebra: the judge says fail"}`)
	var list struct {
		Items  []store.Comment
		Sealed int
	}
	r = s.api(ben, http.MethodGet, at, nil)
	r.json(t, &list)
	if len(list.Items) != 2 || list.Sealed != 1 || strings.Contains(r.body, "zebra") {
		t.Errorf("ben reads %s", r.body)
	}
	wantProblem(t, s.api(ben, http.MethodPost, "/api/v1/comments/"+q.ID+"/resolve", `{}`), http.StatusConflict, "")
	for path, body := range map[string]string{"resolve": `{"resolved": true}`, "withdraw": ``} {
		if r := s.api(ada, http.MethodPost, "/api/v1/comments/"+q.ID+"/"+path, body); r.StatusCode != http.StatusNoContent {
			t.Errorf("%s: %s %s", path, r.Status, r.body)
		}
	}
	wantProblem(t, s.api(ada, http.MethodPost, at, `{"text": ""}`), http.StatusUnprocessableEntity, "text")
}

// TestPagesAreNoted: who was shown an item, and whether its verdict was sealed then.
func TestPagesAreNoted(t *testing.T) {
	s := newSite(t)
	_, token := s.user("ada@example.org", store.Reviewer)
	s.load(citationTrace("t1"))
	v := s.signIn("ada@example.org")
	item := s.claim(token)
	v.get("/reviews/" + item.ID)
	v.get("/evaluations/" + item.EvaluationID)
	s.api(token, http.MethodPost, "/api/v1/reviews/"+item.ID+"/decision", `{"verdict": "pass"}`)
	s.api(token, http.MethodGet, "/api/v1/evaluations/"+item.EvaluationID, nil)
	if err := s.store.WriteLooks(t.Context()); err != nil {
		t.Fatal(err)
	}
	seen, err := s.store.Seen(t.Context(), store.Operator("test"), item.EvaluationID, 0, store.MaxSeen)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, g := range seen {
		got[g.UserName+" "+g.What+map[bool]string{true: " sealed"}[g.Sealed]] = true
	}
	for _, want := range []string{"ada api sealed", "ada desk sealed", "ada evaluation sealed", "ada api"} {
		if !got[want] {
			t.Errorf("%q is not noted: %v", want, got)
		}
	}
	if len(got) != 4 {
		t.Errorf("noted %v, want four", got)
	}
}
