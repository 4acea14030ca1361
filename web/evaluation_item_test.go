package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestLeadSendsOneItemOn: from the evaluation's page a lead assigns an item, takes it
// from its holder, ends a claim, and sends on what is to be settled; a reviewer has no
// such forms, and a change that is refused says why.
func TestLeadSendsOneItemOn(t *testing.T) {
	s := newSite(t)
	_, ada := s.user("ada@example.org", store.Reviewer)
	ben, _ := s.user("ben@example.org", store.Reviewer)
	leaUser, _ := s.user("lea@example.org", store.Lead)
	luis, _ := s.user("luis@example.org", store.Lead)
	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindNever })
	s.load(citationTrace("t1"))
	item := s.claim(ada)
	page, desk := "/evaluations/"+item.EvaluationID, "/reviews/"+item.ID
	lea := s.signIn("lea@example.org")

	if r := s.signIn("ben@example.org").get(page); len(find(t, r.body, "#item, #seen")) > 0 {
		t.Error("a reviewer is offered what leads do")
	}
	if r := lea.get(desk); len(find(t, r.body, `a[href="`+page+`#item"]`)) != 1 {
		t.Error("the desk does not lead to where it is assigned")
	}
	body := lea.get(page).body
	if held := textOf(find(t, body, "#item")[0]); !strings.Contains(held, "ada") {
		t.Errorf("the page says %q", held)
	}
	standing := func() store.Review {
		t.Helper()
		r, err := s.store.GetReview(t.Context(), leaUser.Actor(), item.ID)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for _, c := range []struct {
		form             url.Values
		told, who, holds string
	}{
		{url.Values{"action": {"assign"}}, "Nothing was changed. User is missing", "", "ada"},
		{url.Values{"action": {"withdraw"}}, "Nothing was changed. Reason is missing", "", "ada"},
		{url.Values{"action": {"assign"}, "user": {ben.ID}}, "1 item assigned.", "ben", "ada"},
		{url.Values{"action": {"assign"}, "user": {leaUser.ID}, "take": {"1"}}, "1 item assigned.", "lea", ""},
		{url.Values{"action": {"assign"}, "user": {"nobody"}}, "assigned to nobody now.", "", ""},
	} {
		r := lea.post(desk+"/change", c.form)
		if told := textOf(find(t, r.body, ".notice")[0]); r.Request.URL.Path != page || !strings.Contains(told, c.told) {
			t.Errorf("%v leads to %s and says %q, want %q", c.form, r.Request.URL, told, c.told)
		}
		if now := standing(); now.AssignedName != c.who || now.HolderName != c.holds {
			t.Errorf("%v: assigned to %q, held by %q", c.form, now.AssignedName, now.HolderName)
		}
	}
	s.claim(ada)
	if r := lea.post(desk+"/change", url.Values{"action": {"release"}}); !strings.Contains(r.body, "1 claim ended.") || standing().HolderID != "" {
		t.Errorf("ending the claim: %s", textOf(find(t, r.body, "main")[0]))
	}

	s.claim(ada)
	if r := s.api(ada, http.MethodPost, "/api/v1/reviews/"+item.ID+"/decision", map[string]any{"action": "escalate", "comment": "too hard"}); r.StatusCode != http.StatusOK {
		t.Fatalf("escalate: %s", r.body)
	}
	if form := formOf(t, lea.get(page).body, `form[action="`+desk+`/reassign"]`); form.Get("to") != "" {
		t.Errorf("at first it is for any lead, the form says %v", form)
	}
	if r := lea.post(desk+"/reassign", url.Values{"to": {luis.ID}}); r.StatusCode != http.StatusOK || standing().AddresseeName != "luis" {
		t.Errorf("sent on: %s, to %q", r.Status, standing().AddresseeName)
	}
}

// TestFirstAnswersAreBlind: a first answer is told of who gave one before they knew the
// verdict, and of nobody else.
func TestFirstAnswersAreBlind(t *testing.T) {
	for blind, want := range map[string]int{judge.BlindAlways: 1, judge.BlindNever: 0} {
		s := newSite(t)
		_, ada := s.user("ada@example.org", store.Reviewer)
		s.user("lea@example.org", store.Lead)
		s.changePolicy(func(p *judge.Policy) { p.Blind = blind })
		s.load(citationTrace("t1"))
		item := s.claim(ada)
		path, decision := "/api/v1/reviews/"+item.ID+"/decision", map[string]any{"action": "override", "verdict": "pass", "reason_code": "dose_error", "comment": "c"}
		if blind == judge.BlindAlways {
			s.api(ada, http.MethodPost, path, map[string]any{"verdict": "borderline"})
		}
		if r := s.api(ada, http.MethodPost, path, decision); r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", blind, r.body)
		}
		page := s.signIn("lea@example.org").get("/evaluations/" + item.EvaluationID).body
		if n := strings.Count(page, "First answer, blind"); n != want {
			t.Errorf("blind %s: %d first answers are told, want %d", blind, n, want)
		}
	}
}

// TestWhoSawIt: leads and auditors see who saw an evaluation and what of it, page by
// page; whoever reviews does not.
func TestWhoSawIt(t *testing.T) {
	s := newSite(t)
	_, token := s.user("ada@example.org", store.Reviewer)
	s.user("una@example.org", store.Auditor)
	s.load(citationTrace("t1"))
	item := s.claim(token)
	ada, una := s.signIn("ada@example.org"), s.signIn("una@example.org")
	for range 30 { // the first with the verdict sealed
		ada.get("/reviews/" + item.ID)
		if err := s.store.WriteLooks(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.clock.advance(10 * time.Minute)
	}
	page := "/evaluations/" + item.EvaluationID
	if r := ada.get(page); len(find(t, r.body, "#seen")) > 0 {
		t.Error("a reviewer is told who saw it")
	}
	una.get(page)
	if err := s.store.WriteLooks(t.Context()); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for next, pages := page, 0; next != ""; pages++ {
		body := una.get(next).body
		list := find(t, body, "#seen tbody tr")
		if len(list) == 0 || len(list) > 25 || pages > 2 {
			t.Fatalf("%s has %d rows", next, len(list))
		}
		rows += len(list)
		if text := textOf(list[len(list)-1]); !strings.Contains(text, "ada") || !strings.Contains(text, "on the desk") || !strings.Contains(text, "sealed") {
			t.Errorf("%s ends with %q", next, text)
		}
		next = ""
		for _, a := range find(t, body, "#seen nav a") {
			if textOf(a) == "Older" {
				next = attr(a, "href")
			}
		}
	}
	if rows != 33 { // thirty on the desk and through the API, ada's and una's of the page
		t.Errorf("all pages have %d rows", rows)
	}
	for _, odd := range []string{"0", "-3", "x", "99999"} {
		if r := una.get(page + "?seen=" + odd); r.StatusCode != http.StatusOK {
			t.Errorf("seen=%s: %s", odd, r.Status)
		}
	}
}

// TestQuestionsInMyWork: what one is asked, and what was answered, stand in one's own
// work with the way to it; what is sealed does not.
func TestQuestionsInMyWork(t *testing.T) {
	s := newSite(t)
	_, ada := s.user("ada@example.org", store.Reviewer)
	leaUser, lea := s.user("lea@example.org", store.Lead)
	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindNever })
	s.load(vatTrace("t1"), vatTrace("t2"))
	id := s.claim(ada).ID
	comments := "/api/v1/reviews/" + id + "/comments"
	var asked store.Comment
	s.api(ada, http.MethodPost, comments, map[string]any{"text": "Which rate?", "to": leaUser.ID}).json(t, &asked)
	s.api(lea, http.MethodPost, comments, map[string]any{"text": "The present one.", "parent_id": asked.ID})
	v := s.signIn("lea@example.org")
	r := v.get("/queue?view=mine")
	if n := find(t, r.body, `#questions a[href="/reviews/`+id+`#comment-`+asked.ID+`"]`); len(n) != 1 || !strings.Contains(textOf(find(t, r.body, "#questions")[0]), "Which rate?") {
		t.Errorf("who is asked reads: %s", textOf(find(t, r.body, "main")[0]))
	}
	r = s.signIn("ada@example.org").get("/queue?view=mine")
	if told := textOf(find(t, r.body, "#questions")[0]); !strings.Contains(told, "Answers to your questions") || !strings.Contains(told, "The present one.") || strings.Contains(told, "You are asked") {
		t.Errorf("who asked reads: %s", told)
	}

	// A correction that waits is one click away, with its number.
	other := s.claim(ada).ID
	if r := s.api(ada, http.MethodPost, "/api/v1/reviews/"+other+"/correction", map[string]any{"target": "reference", "kind": "outdated", "explanation": "since 2007"}); r.StatusCode != http.StatusCreated {
		t.Fatalf("correction: %s", r.body)
	}
	r = v.get("/queue")
	links := find(t, r.body, `.tabs a[href="/corrections?state=open"]`)
	if len(links) != 1 || !strings.HasSuffix(textOf(links[0]), "1") {
		t.Fatalf("the queue leads to corrections by %d links", len(links))
	}
	if n := len(find(t, v.get("/corrections?state=open").body, "main tbody tr")); n != 1 {
		t.Errorf("the list has %d rows", n)
	}
	// Nobody is offered to claim what waits for a lead's word.
	if r := s.signIn("ada@example.org").get("/reviews/" + other); len(find(t, r.body, `form[action$="/claim"]`)) != 0 || !strings.Contains(textOf(find(t, r.body, ".decision")[0]), "waits for a lead") {
		t.Errorf("the desk of an item that waits for a correction: %s", textOf(find(t, r.body, ".decision")[0]))
	}
}

// TestCriticalErrorsOfSteps: a critical error that a report names apart from the steps
// is a finding on the desk, and not before the answer.
func TestCriticalErrorsOfSteps(t *testing.T) {
	tr := alignedTrace()
	tr.Judgments[0].Output = json.RawMessage(strings.Replace(string(tr.Judgments[0].Output), `"critical_errors": []`, `"critical_errors": ["It spills the ocelot."]`, 1))
	for _, blind := range []string{judge.BlindAlways, judge.BlindNever} {
		s := benchSite(t, blind, tr)
		r := s.signIn("ada@example.org").post("/queue/next", url.Values{})
		found := find(t, r.body, ".findings .finding")
		if blind == judge.BlindAlways {
			if len(found) > 0 || strings.Contains(r.body, "spills") {
				t.Error("it is told before the answer")
			}
			continue
		}
		if len(found) != 1 || !strings.Contains(textOf(found[0]), "It spills the ocelot.") {
			t.Errorf("the desk has %d findings of its own", len(found))
		}
	}
}

// TestStepsAsMarkdown: who wants Markdown has it on the desk of steps, in both texts,
// without a number twice.
func TestStepsAsMarkdown(t *testing.T) {
	tr := alignedTrace()
	tr.Output = strings.Replace(tr.Output, "The pump is red", "The pump is **red**", 1)
	tr.Reference = strings.Replace(tr.Reference, "60 litres", "`60` litres", 1)
	s := benchSite(t, judge.BlindNever, tr)
	v := s.signIn("ada@example.org")
	path := v.post("/queue/next", url.Values{}).Request.URL.Path
	if body := v.get(path).body; len(find(t, body, ".slab .markdown")) > 0 || !strings.Contains(body, "**red**") {
		t.Error("as written is not as written")
	}
	body := v.get(path + "?text=markdown").body
	if strong, code := find(t, body, ".slab .strong"), find(t, body, ".slab .coded"); len(strong) != 1 || textOf(strong[0]) != "red" || len(code) != 1 || textOf(code[0]) != "60" {
		t.Errorf("%d strong and %d coded words", len(strong), len(code))
	}
	for _, slab := range find(t, body, ".slab .markdown") {
		if text := textOf(slab); strings.HasPrefix(text, "1.") || strings.HasPrefix(text, "2.") {
			t.Errorf("a slab repeats its number: %q", text)
		}
	}
}

// TestReviewingRulesInWords: the policy's page says what holds for who reviews, each
// rule in its place, and what holds where none fits.
func TestReviewingRulesInWords(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	s.changePolicy(func(p *judge.Policy) {
		p.DueRules = []judge.DueRule{{Reason: judge.ReasonCriticalError, Domain: "medical", Hours: 1}}
		p.Opinions = &judge.Opinions{Default: 2, Rules: []judge.OpinionRule{{Stakes: judge.HighStakes, N: 3}}}
		p.Assignment = []judge.AssignmentRule{{Domain: "legal", Requires: []string{"bar exam"}, Languages: true}}
		p.Blind, p.BlindShare = judge.BlindByLot, 0.25
	})
	var rows []string
	for _, r := range find(t, s.signIn("lea@example.org").get("/policy").body, "tbody tr") {
		var cells []string
		for c := range r.Descendants() {
			if c.Data == "td" {
				cells = append(cells, textOf(c))
			}
		}
		rows = append(rows, strings.Join(cells, " "))
	}
	all := strings.Join(rows, "\n")
	for _, want := range []string{"Due Critical error · domain medical within 1 hour", "Due high stakes within", "Opinions high stakes 3 people answer", "Opinions all 2 people answer",
		"Blind all 25% of them, drawn at random", "Given to domain legal who has bar exam, and who reads the trace’s language", "Undo all within 60 seconds"} {
		if !strings.Contains(all, want) {
			t.Errorf("the table lacks %q:\n%s", want, all)
		}
	}
}

// TestMoreCitationsThanRulings: a desk that can't list all citations says how many it
// leaves out.
func TestMoreCitationsThanRulings(t *testing.T) {
	var out strings.Builder
	for n := 1; n <= 1300; n++ {
		fmt.Fprintf(&out, "%d. It is so [1].\n", n)
	}
	s := benchSite(t, judge.BlindNever, judge.Trace{ID: "many", Domain: "legal", Question: "Is it so?", Output: out.String(), Judges: []string{"citations"},
		Sources: []judge.Source{{ID: "1", Title: "Law", Text: "It is so."}}})
	r := s.signIn("ada@example.org").post("/queue/next", url.Values{})
	if n := len(find(t, r.body, "details.citation")); n != 1250 {
		t.Errorf("%d citations are listed", n)
	}
	if told := textOf(find(t, r.body, "main")[0]); !strings.Contains(told, "1,300 citations") || !strings.Contains(told, "The trace cites 1,300 times. A decision holds rulings on the first 1,250; the other 50 stand in the trace") {
		t.Errorf("the desk says %.600s", told)
	}
}
