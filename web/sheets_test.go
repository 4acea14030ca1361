package web_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestSealedAfterOthersSawIt: what the server remembers of an item that one person has
// open tells nothing to another for whom it is sealed, and nothing is lost to those who
// may see it.
func TestSealedAfterOthersSawIt(t *testing.T) {
	s := benchSite(t, judge.BlindAlways, quotedTrace())
	s.user("lea@example.org", store.Lead)
	s.user("aud@example.org", store.Auditor)
	rows, _, err := s.store.ListEvaluations(t.Context(), store.Operator("test"), store.EvaluationFilter{})
	if err != nil || len(rows) != 1 {
		t.Fatal(rows, err)
	}
	ada, lea, aud := s.signIn("ada@example.org"), s.signIn("lea@example.org"), s.signIn("aud@example.org")
	path := ada.post("/queue/next", url.Values{}).Request.URL.Path
	if r := lea.post("/evaluations/"+rows[0].ID+"/expose", url.Values{}); r.StatusCode != http.StatusOK {
		t.Fatalf("expose: %s", r.Status)
	}
	secrets := func(v *visitor, who string, told bool) {
		t.Helper()
		for _, p := range []string{"", "/citations?at=1", "/sources/2"} {
			body := v.get(path + p).body
			for _, secret := range benchSecrets {
				if !told && strings.Contains(body, secret) {
					t.Errorf("%s is told %q at %q", who, secret, p)
				}
			}
			if told && p != "/sources/2" && !strings.Contains(body, "walrus") {
				t.Errorf("%s misses what the judge said at %q", who, p)
			}
		}
	}
	for range 2 {
		secrets(lea, "the lead who looked on purpose", true)
		secrets(aud, "the auditor", true)
		secrets(ada, "the reviewer before the answer", false)
	}
	draft := ada.post(path+"/draft", url.Values{"ruling.citation/2/fidelity": {"mismatch"}, "draft_by": {"script"}, "stage": {"commit"}}).body
	for _, secret := range append(benchSecrets, "changed") {
		if strings.Contains(strings.ReplaceAll(draft, `"changed":0`, ""), secret) {
			t.Errorf("the answer to a draft tells %q: %s", secret, draft)
		}
	}
	if r := ada.post(path+"/decision", url.Values{"verdict": {"fail"}}); r.StatusCode != http.StatusOK {
		t.Fatalf("commit: %s", r.Status)
	}
	secrets(ada, "the reviewer after it", true)
}
