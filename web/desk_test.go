package web_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// script sends a form as the page's script does, which is answered in JSON.
func (v *visitor) script(path string, form url.Values) reply {
	v.s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, v.s.http.URL+path, strings.NewReader(form.Encode()))
	if err != nil {
		v.s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("X-CSRF-Token", v.csrf)
	req.Header.Set("Accept", "application/json")
	return v.s.send(v.client, req)
}

// decisions are all that were made, oldest first.
func (s *site) decisions() (all []store.Decision) {
	s.t.Helper()
	err := s.store.EachDecision(context.Background(), store.Operator("test"), store.EvaluationFilter{}, func(d store.Decision) error {
		all = append(all, d)
		return nil
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return all
}

// A saved draft is answered with how the item stands by its rulings: what the bar
// of the page says after loading it again.
func TestDraftTellsHowTheItemStands(t *testing.T) {
	s := benchSite(t, judge.BlindNever, logicTrace())
	v := s.signIn("ada@example.org")
	path := v.post("/queue/next", url.Values{}).Request.URL.Path
	type answer struct {
		Version     int
		Progress    string
		Changed     int
		Confirmable bool
		Hint        string
		Outcome     string
		Verdict     judge.Verdict
		Units       []struct {
			Key, Text string
			Done      bool
		}
	}
	version := "0"
	for _, tt := range []struct {
		name    string
		rulings url.Values
		want    answer
		hint    string
	}{
		{"nothing ruled", url.Values{"comment": {"hm"}}, answer{Progress: "0 of 4 checked", Confirmable: true}, ""},
		{"agreed", url.Values{"ruling.dimension/premise_support": {"5"}}, answer{Progress: "1 of 4 checked", Confirmable: true}, "You agree with the judge on all that you checked."},
		{"changed", url.Values{"ruling.dimension/premise_support": {"1"}}, answer{Progress: "1 of 4 checked", Changed: 1, Verdict: judge.Fail},
			"You changed a ruling on premise support, so this can no longer be confirmed. Override it, or change it back. Your rulings come to 0.35"},
	} {
		tt.rulings.Set("draft_version", version)
		r := v.script(path+"/draft", tt.rulings)
		var got answer
		r.json(t, &got)
		if r.StatusCode != http.StatusOK || got.Progress != tt.want.Progress || got.Changed != tt.want.Changed || got.Confirmable != tt.want.Confirmable ||
			got.Verdict != tt.want.Verdict || !strings.HasPrefix(got.Hint, tt.hint) {
			t.Errorf("%s: %s %+v", tt.name, r.Status, got)
		}
		page := v.get(path).body
		if hint := textOf(find(t, page, "#hint")[0]); hint != strings.Join(strings.Fields(got.Hint), " ") {
			t.Errorf("%s: the page says %q, the answer %q", tt.name, hint, got.Hint)
		}
		if off := len(find(t, page, "[name=action][value=confirm][disabled]")) == 1; off == got.Confirmable {
			t.Errorf("%s: confirm is off: %t", tt.name, off)
		}
		raw, err := json.Marshal(got.Version)
		if err != nil {
			t.Fatal(err)
		}
		version = string(raw)
	}
}

// A draft of a sealed item is answered with nothing of the judge's.
func TestDraftOfSealedItemTellsNothing(t *testing.T) {
	s := benchSite(t, judge.BlindAlways, logicTrace())
	v := s.signIn("ada@example.org")
	path := v.post("/queue/next", url.Values{}).Request.URL.Path
	form := url.Values{}
	for _, d := range []string{"premise_support", "inference_rule_adherence", "formal_fallacy_detection", "conclusion_alignment"} {
		form.Set("ruling.dimension/"+d, "2")
	}
	r := v.script(path+"/draft", form)
	if r.StatusCode != http.StatusOK || !strings.Contains(r.body, "4 of 4 checked") || !strings.Contains(r.body, "Your rulings come to 0.40") {
		t.Fatalf("%s %s", r.Status, r.body)
	}
	for _, secret := range append(logicSecrets, "changed\":1", "Agreed", "judge") {
		if strings.Contains(r.body, secret) {
			t.Errorf("the answer holds %q: %s", secret, r.body)
		}
	}
	// Pressing "agree" where there is nothing to agree with learns nothing either.
	if r := v.post(path+"/draft", url.Values{"agree": {"dimension/premise_support"}, "draft_version": {"1"}}); strings.Contains(r.body, "Agreed") {
		t.Error("agreeing with a sealed judge told what it said")
	}
}

// Agreeing with the judge on a part works as a form, too, and goes on.
func TestAgreeHereByForm(t *testing.T) {
	s := benchSite(t, judge.BlindNever, logicTrace())
	v := s.signIn("ada@example.org")
	path := v.post("/queue/next", url.Values{}).Request.URL.Path
	r := v.post(path+"/draft", url.Values{"agree": {"dimension/premise_support"}, "draft_version": {"0"}, "comment": {"so far"}})
	if r.Request.URL.Path != path || r.Request.URL.Fragment == "" {
		t.Errorf("led to %s", r.Request.URL)
	}
	if n := len(find(t, r.body, `input[name="ruling.dimension/premise_support"][value="5"][checked]`)); n != 1 {
		t.Error("the judge's choice is not the person's")
	}
	if text := textOf(find(t, r.body, "textarea[name=comment]")[0]); text != "so far" {
		t.Errorf("the comment is %q", text)
	}
}

// Signing goes on to the next item, and says what became of the last one; when
// nothing waits it says so.
func TestCountersignGoesOn(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindNever })
	s.load(citationTrace("t1"), citationTrace("t2"))
	v := s.signIn("ada@example.org")
	first := v.post("/queue/next", url.Values{}).Request.URL.Path
	r := v.post(first+"/decision", url.Values{"action": {"confirm"}, "then": {"next"}})
	if next := r.Request.URL.Path; next == first || !strings.HasPrefix(next, "/reviews/") || !strings.Contains(r.body, "Signed and recorded.") ||
		len(find(t, r.body, `form[action="`+first+`/undo"] button`)) != 1 || len(find(t, r.body, "[data-lease]")) != 1 {
		t.Errorf("after the first: %s: %s", next, textOf(find(t, r.body, "main")[0]))
	}
	second := r.Request.URL.Path
	// By script it is the same, told and not led.
	r = v.script(second+"/decision", url.Values{"action": {"confirm"}, "then": {"next"}})
	var to struct{ Location string }
	r.json(t, &to)
	if r = v.get(to.Location); to.Location != "/queue" || !strings.Contains(r.body, "Signed and recorded. Nothing else waits that you could take.") {
		t.Errorf("after the last: %s: %s", to.Location, textOf(find(t, r.body, "main")[0]))
	}
}

// TestLeaseIsThePolicys: the ring of a claim is full for as long as the project's
// policy gives it.
func TestLeaseIsThePolicys(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	s.changePolicy(func(p *judge.Policy) { p.LeaseMinutes = 90 })
	s.load(citationTrace("t1"))
	ada := s.signIn("ada@example.org")
	path := ada.post("/queue/next", url.Values{}).Request.URL.Path
	s.clock.advance(60 * time.Minute)
	if r := ada.get(path); len(find(t, r.body, `[data-lease="1800"][data-lease-total="5400"]`)) != 1 {
		t.Errorf("no claim with 30 of 90 minutes left: %.2000s", r.body)
	}
}

// A form that is sent twice, because its answer was lost, signs once and says so
// both times.
func TestSigningTwiceSignsOnce(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindNever })
	s.load(citationTrace("t1"))
	v := s.signIn("ada@example.org")
	path := v.post("/queue/next", url.Values{}).Request.URL.Path
	form := url.Values{"action": {"confirm"}, "comment": {"sound"}}
	for range 2 {
		if r := v.post(path+"/decision", form); !strings.Contains(r.body, "Signed and recorded.") {
			t.Errorf("%s: %s", r.Status, textOf(find(t, r.body, "main")[0]))
		}
	}
	if all := s.decisions(); len(all) != 1 {
		t.Errorf("%d decisions, want 1", len(all))
	}
	// Another decision is none of that kind.
	if r := v.post(path+"/decision", url.Values{"action": {"escalate"}, "comment": {"no"}}); !strings.Contains(r.body, "and that stands. Nothing more was recorded") {
		t.Errorf("another decision: %s", textOf(find(t, r.body, "main")[0]))
	}
}

// Who loses an item while typing loses no word, also without a script, and may add
// what they have as a second opinion, which changes nothing.
func TestLateAnswerIsKept(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	s.user("bea@example.org", store.Reviewer)
	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindNever })
	s.load(citationTrace("t1"))
	ada, bea := s.signIn("ada@example.org"), s.signIn("bea@example.org")
	path := ada.post("/queue/next", url.Values{}).Request.URL.Path
	s.clock.advance(time.Hour)
	if r := ada.get(path); !strings.Contains(r.body, "Your claim has ended") || !strings.Contains(r.body, "Claim again") {
		t.Errorf("after the claim: %s", textOf(find(t, r.body, "main")[0]))
	}
	if got := bea.post("/queue/next", url.Values{}).Request.URL.Path; got != path {
		t.Fatalf("bea got %s", got)
	}
	mine := url.Values{"action": {"override"}, "verdict": {"pass"}, "reason_code": {"too_strict"}, "comment": {"It is well known."}, "draft_version": {"0"}}
	r := ada.post(path+"/decision", mine)
	if !strings.Contains(r.body, "bea holds this item now. Nothing of yours was recorded. What you typed is kept as your draft.") || !strings.Contains(r.body, "It is well known.") {
		t.Errorf("while bea holds it: %s", textOf(find(t, r.body, "main")[0]))
	}
	bea.post(path+"/decision", url.Values{"action": {"confirm"}})
	r = ada.get(path)
	if !strings.Contains(r.body, "bea signed first") || len(find(t, r.body, `form#decision[action="`+path+`/second-opinion"]`)) != 1 ||
		textOf(find(t, r.body, "textarea[name=comment]")[0]) != "It is well known." {
		t.Fatalf("after bea signed: %s", textOf(find(t, r.body, "main")[0]))
	}
	mine.Del("draft_version")
	if r = ada.post(path+"/second-opinion", mine); !strings.Contains(r.body, "Kept as a second opinion") {
		t.Errorf("second opinion: %s", textOf(find(t, r.body, "main")[0]))
	}
	all := s.decisions()
	if len(all) != 2 || all[0].OverQuota || !all[1].OverQuota || all[1].Comment != "It is well known." {
		t.Fatalf("decisions %+v", all)
	}
	if r = ada.get(path); len(find(t, r.body, "form#decision")) != 0 || !strings.Contains(r.body, "second opinion") {
		t.Errorf("afterwards: %s", textOf(find(t, r.body, "main")[0]))
	}
}

// After a blind answer and the reveal an answer can be revised: both are kept, and
// the first one counts as the blind one.
func TestReviseAfterTheReveal(t *testing.T) {
	s := benchSite(t, judge.BlindAlways, logicTrace())
	v := s.signIn("ada@example.org")
	path := v.post("/queue/next", url.Values{}).Request.URL.Path
	r := v.post(path+"/decision", url.Values{"verdict": {"pass"}, "ruling.dimension/premise_support": {"4"}})
	if len(find(t, r.body, "[name=action][value=override]")) != 1 || len(find(t, r.body, `[name="ruling.dimension/premise_support"][value="4"][checked]`)) != 1 {
		t.Fatalf("after the commit: %s", textOf(find(t, r.body, "main")[0]))
	}
	r = v.post(path+"/decision", url.Values{"stage": {"decide"}, "action": {"confirm"}})
	if r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("confirm after a blind answer: %s, want 422", r.Status)
	}
	r = v.post(path+"/decision", url.Values{"stage": {"decide"}, "action": {"override"}, "verdict": {"borderline"}, "reason_code": {"too_strict"},
		"comment": {"Two steps are weak."}, "ruling.dimension/premise_support": {"3"}})
	if !strings.Contains(r.body, "Signed and recorded.") || !strings.Contains(r.body, "revised after answering pass blind") {
		t.Errorf("revised: %s", textOf(find(t, r.body, "main")[0]))
	}
	all := s.decisions()
	if len(all) != 1 || all[0].FirstVerdict != judge.Pass || all[0].Verdict != judge.Borderline || all[0].VerdictVisible || len(all[0].Rulings) != 1 || all[0].Rulings[0].Value != "3" {
		t.Errorf("kept %+v", all)
	}
}

// What undo takes back stands in the form again.
func TestUndoFillsTheForm(t *testing.T) {
	s := benchSite(t, judge.BlindNever, logicTrace())
	v := s.signIn("ada@example.org")
	path := v.post("/queue/next", url.Values{}).Request.URL.Path
	v.post(path+"/decision", url.Values{"action": {"override"}, "verdict": {"pass"}, "reason_code": {"too_strict"}, "comment": {"A slip."}, "ruling.dimension/premise_support": {"4"}})
	r := v.post(path+"/undo", url.Values{})
	for _, selector := range []string{"[name=action][value=override][checked]", "[name=verdict][value=pass][checked]", `[name="ruling.dimension/premise_support"][value="4"][checked]`, "[name=reason_code] [value=too_strict][selected]"} {
		if len(find(t, r.body, selector)) != 1 {
			t.Errorf("not in the form: %s", selector)
		}
	}
	if textOf(find(t, r.body, "textarea[name=comment]")[0]) != "A slip." {
		t.Error("the comment is not in the form")
	}
}

// Who settles what others disagree on sees their answers and rulings side by side.
func TestSidesForWhoSettles(t *testing.T) {
	s := benchSite(t, judge.BlindNever, logicTrace())
	s.user("bea@example.org", store.Reviewer)
	s.user("lea@example.org", store.Lead)
	s.changePolicy(func(p *judge.Policy) { p.Opinions = &judge.Opinions{Default: 2} })
	s.load(func() judge.Trace { tr := logicTrace(); tr.ID = "two"; return tr }())
	rows, _, err := s.store.ListEvaluations(context.Background(), store.Operator("test"), store.EvaluationFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		if row.Status == judge.Accepted {
			if err := s.store.RequestReview(context.Background(), store.Operator("test"), row.ID, "look"); err != nil {
				t.Fatal(err)
			}
		}
	}
	ada, bea, lea := s.signIn("ada@example.org"), s.signIn("bea@example.org"), s.signIn("lea@example.org")
	path := "/reviews/" + s.reviewOf("two")
	ada.post(path+"/claim", url.Values{})
	ada.post(path+"/decision", url.Values{"action": {"override"}, "verdict": {"pass"}, "reason_code": {"too_strict"}, "comment": {"Said by ada."}, "ruling.dimension/premise_support": {"4"}})
	if r := bea.get(path); strings.Contains(r.body, "Said by ada.") || !strings.Contains(r.body, "withheld from you until yours is in") {
		t.Errorf("bea before her answer: %s", textOf(find(t, r.body, "main")[0]))
	}
	bea.post(path+"/claim", url.Values{})
	bea.post(path+"/decision", url.Values{"action": {"override"}, "verdict": {"borderline"}, "reason_code": {"too_strict"}, "comment": {"Said by bea."}, "ruling.dimension/premise_support": {"2"}})
	lea.get(path)
	r := lea.post(path+"/claim", url.Values{})
	text := textOf(find(t, r.body, ".sides")[0])
	for _, want := range []string{"Said by ada.", "Said by bea.", "Premise support", "They differ on 1 part."} {
		if !strings.Contains(text, want) {
			t.Errorf("the sides do not say %q: %s", want, text)
		}
	}
	cells := find(t, r.body, ".sides tbody td")
	if len(cells) != 3 || textOf(cells[0]) != "5" || textOf(cells[1]) != "4" || textOf(cells[2]) != "2" {
		t.Errorf("cells: %d", len(cells))
	}
	if len(find(t, r.body, "[name=action][value=escalate]")) != 0 {
		t.Error("who settles it can send it on")
	}
}

// reviewOf is the review of a trace by its id.
func (s *site) reviewOf(trace string) string {
	s.t.Helper()
	rows, _, err := s.store.ListQueue(context.Background(), store.Operator("test"), store.QueueFilter{Project: "default"})
	if err != nil {
		s.t.Fatal(err)
	}
	for _, row := range rows {
		if row.TraceID == trace {
			return row.ReviewID
		}
	}
	s.t.Fatalf("no review of %s", trace)
	return ""
}
