package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

func vatTrace(id string) judge.Trace {
	return judge.Trace{ID: id, Domain: "legal", Question: "What rate of VAT applies?", Output: "The standard rate is 19 %.",
		Reference: "The standard rate is 16 %.\nThe reduced rate is 7 %.", Judges: []string{"answer-equivalence"}, Run: "vat"}
}

// TestCorrectionByForm: from the desk to the new revision, by pages alone.
func TestCorrectionByForm(t *testing.T) {
	s := newSite(t)
	_, token := s.user("ada@example.org", store.Reviewer)
	lead, _ := s.user("lea@example.org", store.Lead)
	s.user("ben@example.org", store.Reviewer)
	s.load(vatTrace("t1"))
	id := s.claim(token).ID
	ada, lea := s.signIn("ada@example.org"), s.signIn("lea@example.org")
	ada.get("/queue")

	// The desk's form: a word is not said, and all that was typed comes back with the present text.
	desk := typedForm("0")
	for name := range desk {
		if strings.HasPrefix(name, "correction_") {
			desk.Del(name)
		}
	}
	desk.Set("correction_target", "reference")
	desk.Set("correction_explanation", "since 2007")
	r := ada.post("/reviews/"+id+"/correction", desk)
	if r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(r.body, "say whether it is wrong or outdated") || !strings.Contains(r.body, "since 2007") {
		t.Fatalf("without its kind: %s", r.Status)
	}
	// The button to edit the present text keeps the same draft.
	if r = ada.post("/reviews/"+id+"/correction/text", func() url.Values { desk.Set("draft_version", "1"); return desk }()); r.StatusCode != http.StatusOK {
		t.Fatalf("edit the present text: %s", r.Status)
	}
	form := formOf(t, r.body, `form[action="/reviews/`+id+`/correction"]`)
	if form.Get("correction_explanation") != "since 2007" || form.Get("correction_target") != "reference" ||
		form.Get("correction_replacement") != "The standard rate is 16 %.\nThe reduced rate is 7 %." {
		t.Fatalf("the page has %v", form)
	}
	form.Set("correction_kind", "outdated")
	form.Set("correction_replacement", "The standard rate is 19 %.\r\nThe reduced rate is 7 %.")
	r = ada.post("/reviews/"+id+"/correction", form)
	page := r.Request.URL.Path
	if r.StatusCode != http.StatusOK || !strings.HasPrefix(page, "/corrections/") {
		t.Fatalf("proposing: %s at %s", r.Status, page)
	}
	if ins, del := find(t, r.body, "main ins"), find(t, r.body, "main del"); len(ins) != 1 || !strings.Contains(textOf(ins[0]), "19") || !strings.Contains(textOf(del[0]), "16") {
		t.Errorf("the difference is not 16 to 19")
	}
	if len(find(t, r.body, `form[action="`+page+`/withdraw"]`)) != 1 || len(find(t, r.body, `form[action="`+page+`/accept"]`)) != 0 {
		t.Error("who proposed it may take it back, and not accept it")
	}
	if r := s.signIn("ben@example.org").get(page); r.StatusCode != http.StatusForbidden {
		t.Errorf("another reviewer opens it: %s", r.Status)
	}

	// A lead finds it, does not decline it without a word, and accepts it.
	if r := lea.get("/corrections?state=open"); len(find(t, r.body, `main a[href="`+page+`"]`)) != 1 {
		t.Error("it is not in the list")
	}
	lea.get(page)
	if r := lea.post(page+"/decline", url.Values{"comment": {" "}}); r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(r.body, "The comment is missing") {
		t.Errorf("declined without a word: %s", r.Status)
	}
	if r := lea.post(page+"/accept", url.Values{"comment": {"indeed"}}); r.StatusCode != http.StatusOK || !strings.Contains(r.body, "Revision 2") {
		t.Errorf("accepting: %s: %s", r.Status, textOf(find(t, r.body, "main")[0]))
	}
	if r := lea.post(page+"/decline", url.Values{"comment": {"no"}}); r.StatusCode != http.StatusOK || !strings.Contains(r.body, "accepted this correction already") {
		t.Errorf("declined after that: %s", r.Status)
	}
	s.judgeAll()
	v, err := s.store.GetTrace(t.Context(), store.Operator("test"), "default", "t1", 0)
	if err != nil || v.Revision != 2 || v.Trace.Reference != "The standard rate is 19 %.\nThe reduced rate is 7 %." || len(v.Evaluations) != 1 || v.Evaluations[0].Status == judge.Queued {
		t.Errorf("the new revision %d: %+v (%v)", v.Revision, v.Evaluations, err)
	}
	// What was typed of the decision is still there, on the closed item.
	draft, err := s.store.GetReview(t.Context(), lead.Actor(), id)
	if err != nil || draft.State != "closed" {
		t.Errorf("the old item is %s (%v)", draft.State, err)
	}
	for _, path := range []string{"/corrections", "/corrections?state=accepted", "/corrections?state=declined"} {
		if r := lea.get(path); r.StatusCode != http.StatusOK {
			t.Errorf("%s: %s", path, r.Status)
		}
	}
	if r := lea.get("/corrections?state=odd"); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("an odd state: %s", r.Status)
	}
}

func TestCorrectionByAPI(t *testing.T) {
	s := newSite(t)
	_, ada := s.user("ada@example.org", store.Reviewer)
	_, lea := s.user("lea@example.org", store.Lead)
	s.load(citationTrace("t1"))
	id := s.claim(ada).ID
	var k store.Correction
	propose := func(body string, want int) {
		t.Helper()
		r := s.api(ada, http.MethodPost, "/api/v1/reviews/"+id+"/correction", body)
		if r.StatusCode != want {
			t.Fatalf("%s: %s %s", body, r.Status, r.body)
		}
		r.json(t, &k)
	}
	propose(`{"target": "source:2", "kind": "wrong", "explanation": "x"}`, http.StatusUnprocessableEntity)
	propose(`{"target": "source:1", "kind": "outdated", "explanation": "a new edition"}`, http.StatusCreated)
	if s.api(lea, http.MethodPost, "/api/v1/queue/claim", `{}`).StatusCode != http.StatusNoContent {
		t.Error("the item is given to somebody meanwhile")
	}
	if r := s.api(ada, http.MethodPost, "/api/v1/corrections/"+k.ID+"/withdraw", nil); r.StatusCode != http.StatusNoContent {
		t.Errorf("taking it back: %s", r.Status)
	}
	s.claim(ada)
	propose(`{"target": "source:1", "kind": "outdated", "explanation": "a new edition"}`, http.StatusCreated)
	if r := s.api(lea, http.MethodPost, "/api/v1/corrections/"+k.ID+"/decline", `{"reason": "it is the newest"}`); r.StatusCode != http.StatusNoContent {
		t.Errorf("declining: %s %s", r.Status, r.body)
	}
	s.claim(ada)
	propose(`{"target": "source:1", "kind": "outdated", "explanation": "a new edition, of May"}`, http.StatusCreated)
	at := "/api/v1/corrections/" + k.ID
	wantProblem(t, s.api(lea, http.MethodPost, at+"/accept", `{}`), http.StatusUnprocessableEntity, "replacement")
	r := s.api(lea, http.MethodPost, at+"/accept", `{"replacement": "Assess stroke risk, as of May."}`)
	if r.json(t, &k); r.StatusCode != http.StatusOK || k.State != "accepted" || k.NewRevision != 2 {
		t.Errorf("accepting: %s %s", r.Status, r.body)
	}
	wantProblem(t, s.api(lea, http.MethodPost, at+"/accept", `{"replacement": "x"}`), http.StatusConflict, "")
	var list struct {
		Items []store.Correction
		Next  string
	}
	for query, want := range map[string]int{"": 3, "?state=accepted": 1, "?state=open": 0, "?state=declined": 1, "?state=withdrawn": 1, "?state=accepted&limit=1": 1} {
		s.api(lea, http.MethodGet, "/api/v1/corrections"+query, nil).json(t, &list)
		if len(list.Items) != want {
			t.Errorf("%q lists %d, want %d", query, len(list.Items), want)
		}
	}
}
