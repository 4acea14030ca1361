package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestTrustOnItsPages: the state with each rule and what was found stands on the page,
// in the lists and in the API; a lead suspends and resumes with a reason.
func TestTrustOnItsPages(t *testing.T) {
	s := newSite(t)
	_, leads := s.user("lea@example.org", store.Lead)
	s.user("luis@example.org", store.Lead)
	_, token := s.user("ann@example.org", store.Auditor)
	var traces []judge.Trace
	for i := range 60 {
		tr := recordedTrace(fmt.Sprintf("r%d", i), []string{"Yes", "No"}[i%2])
		tr.Labels = []judge.HumanLabel{{Judge: "answer-equivalence", Label: []string{"Yes", "No"}[i%2], Reviewer: "panel", Adjudicated: true}}
		traces = append(traces, tr)
	}
	s.load(traces...)
	lea := s.signIn("lea@example.org")
	const at = "/calibration/answer-equivalence"
	page := lea.get(at).body
	if gating := textOf(find(t, page, "section:has(.checks)")[0]); !strings.Contains(gating, "Advisory") ||
		!strings.Contains(gating, "Not met:At least 150 blind labels") || !strings.Contains(gating, "Needed more: 90") || !strings.Contains(gating, "No drift is watched for") {
		t.Errorf("the section says %s", gating)
	}
	p := s.policy()
	enough := 60
	p.Trust = &judge.TrustRules{MinLabels: &enough}
	if _, err := s.store.SetPolicy(t.Context(), store.Operator("test"), "default", p, ""); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{at, "/calibration", "/"} {
		if !strings.Contains(lea.get(path).body, "Trusted for gating") {
			t.Errorf("%s does not say that the judge is trusted", path)
		}
	}
	if page := s.signIn("ann@example.org").get(at).body; strings.Contains(page, "Suspend") {
		t.Error("an auditor is offered to suspend a judge")
	}
	form := formOf(t, lea.get(at).body, "form[action$=trust]")
	form.Set("action", "suspend")
	if r := lea.post(at+"/trust", form); r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(r.body, "say why in a sentence") {
		t.Errorf("suspended without a reason: %s", r.Status)
	}
	form.Set("reason", "the supplier replaced the model")
	if r := lea.post(at+"/trust", form); r.StatusCode != http.StatusOK || !strings.Contains(r.body, "the supplier replaced the model") {
		t.Errorf("suspended: %s", r.Status)
	}
	form.Set("reason", "I saw it too")
	if r := s.signIn("luis@example.org").post(at+"/trust", form); r.StatusCode != http.StatusConflict || !strings.Contains(r.body, "suspended it at") || !strings.Contains(r.body, "I saw it too") {
		t.Errorf("suspended by another first: %s", r.Status)
	}
	var reports []struct {
		Trust store.TrustView
		Rates struct {
			WrongPasses struct{ Value float64 } `json:"wrong_passes"`
		}
	}
	s.api(token, http.MethodGet, "/api/v1/calibration?judge=answer-equivalence", nil).json(t, &reports)
	if len(reports) != 1 || reports[0].Trust.State != judge.Suspended || reports[0].Trust.ByRules != judge.Trusted || len(reports[0].Trust.Rules) != 5 || reports[0].Trust.Since == nil {
		t.Errorf("the API says %+v", reports)
	}
	body := fmt.Sprintf(`{"model": %q, "prompt_version": %q, "action": "resume", "reason": "it is back"}`, form.Get("model"), form.Get("version"))
	var is store.JudgeTrust
	s.api(leads, http.MethodPost, "/api/v1/judges/answer-equivalence/trust", body).json(t, &is)
	if is.State != judge.Trusted {
		t.Errorf("resumed by the API: %+v", is)
	}
	wantProblem(t, s.api(leads, http.MethodPost, "/api/v1/judges/answer-equivalence/trust", strings.Replace(body, "resume", "forget", 1)), http.StatusUnprocessableEntity, "action")
	wantProblem(t, s.api(leads, http.MethodPost, "/api/v1/judges/answer-equivalence/trust", body), http.StatusConflict, "")
}
