package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/store"
)

// TestWhatRulesDoNotUse: a model or samples for the engine that asks no model are
// not dropped without a word.
func TestWhatRulesDoNotUse(t *testing.T) {
	s := newSite(t)
	_, token := s.user("lea@example.org", store.Lead)
	s.load(citationTrace("t1"), citationTrace("t2"))
	const who, plain = `"engine": "rules", "model": "gpt-x", "samples": 3`, `"engine": "rules"`
	for _, c := range []struct{ path, body string }{
		{"/api/v1/traces/t1/judge", `{"judge": "citations", %}`},
		{"/api/v1/judges/citations/rerun", `{"kind": "model", "estimate": true, %}`},
		{"/api/v1/judges/citations/rerun", `{"kind": "model", "estimate": false, %}`},
	} {
		for asked, told := range map[string]bool{who: true, plain: false} {
			r := s.api(token, http.MethodPost, c.path, strings.Replace(c.body, "%", asked, 1))
			if r.StatusCode/100 != 2 {
				t.Fatalf("%s %s: %s: %s", c.path, asked, r.Status, r.body)
			}
			if strings.Contains(r.body, "model is not used") != told || strings.Contains(r.body, "samples is not used") != told {
				t.Errorf("%s %s answers %s; warned should be %v", c.path, asked, r.body, told)
			}
		}
	}
	v := s.signIn("lea@example.org")
	s.load(recordedTrace("r1", "Yes"))
	form := formOf(t, v.get("/traces/r1").body, `form[action$="/judge"]`)
	form.Set("judge", "answer-equivalence")
	form.Set("engine", "rules")
	form.Set("samples", "3")
	if told := textOf(find(t, v.post("/traces/r1/judge", form).body, ".notice")[0]); !strings.Contains(told, "samples is not used") {
		t.Errorf("the page says %q", told)
	}
}

// TestKindsInWords: a value of another kind is told in words of JSON, not of the
// language that this is written in.
func TestKindsInWords(t *testing.T) {
	s := newSite(t)
	_, token := s.user("lea@example.org", store.Lead)
	for _, c := range []struct{ path, body, field, want string }{
		{"/api/v1/policy/dry-run", `{"last": 1e300}`, "last", "is the number 1e300; it must be a whole number"},
		{"/api/v1/policy/dry-run", `{"last": 99999999999999999999}`, "last", "is the number 99999999999999999999; it must be a whole number"},
		{"/api/v1/policy/dry-run", `{"judge": ["a"]}`, "judge", "is a list; it must be text"},
		{"/api/v1/judges/citations/rerun", `{"estimate": "no"}`, "estimate", "is text; it must be true or false"},
		{"/api/v1/judges/citations/rerun", `{"budget_usd": {}}`, "budget_usd", "is an object; it must be a number"},
		{"/api/v1/runs/r/budget", `{"budget_usd": true}`, "budget_usd", "is true or false; it must be a number"},
		{"/api/v1/runs/r/budget", `[]`, "body", "is a list; it must be an object"},
		{"/api/v1/reviews/x/decision", `{"findings": {}}`, "findings", "is an object; it must be a list"},
		{"/api/v1/reviews/x/decision", `{"findings": [{"step": 1e99}]}`, "findings.step", "is the number 1e99; it must be a whole number"},
	} {
		p := wantProblem(t, s.api(token, http.MethodPost, c.path, c.body), http.StatusUnprocessableEntity, c.field)
		if p.Detail != c.field+": "+c.want {
			t.Errorf("%s %s: %q, want %q", c.path, c.body, p.Detail, c.field+": "+c.want)
		}
	}
}
