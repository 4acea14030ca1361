package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/store"
)

// TestAPIPolicy reads, changes, tries out and conflicts, by role.
func TestAPIPolicy(t *testing.T) {
	s := newSite(t)
	_, lead := s.user("lea@example.org", store.Lead)
	_, auditor := s.user("ann@example.org", store.Auditor)
	_, reviewer := s.user("ada@example.org", store.Reviewer)
	s.load(citationTrace("t1"), recordedTrace("r1", "Yes"))
	type version struct {
		Warnings []string
		Version  int
		Policy   map[string]any
		Author   string
		Comment  string
	}
	var now version
	s.api(auditor, http.MethodGet, "/api/v1/policy", nil).json(t, &now)
	if now.Version != 1 || now.Policy["lease_minutes"] != 30.0 {
		t.Fatalf("the policy: %+v", now)
	}
	now.Policy["lease_minutes"] = 12
	change := map[string]any{"policy": now.Policy, "comment": "shorter"}
	wantProblem(t, s.api(auditor, http.MethodPost, "/api/v1/policy", change), http.StatusForbidden, "")
	r := s.api(lead, http.MethodPost, "/api/v1/policy", change)
	var saved version
	r.json(t, &saved)
	if r.StatusCode != http.StatusOK || saved.Version != 2 || saved.Policy["lease_minutes"] != 12.0 || saved.Comment != "shorter" || saved.Author != "lea" {
		t.Errorf("saved: %s %+v", r.Status, saved)
	}
	wantProblem(t, s.api(lead, http.MethodPost, "/api/v1/policy", change), http.StatusConflict, "")
	var first version
	s.api(auditor, http.MethodGet, "/api/v1/policy?version=1", nil).json(t, &first)
	if first.Policy["lease_minutes"] != 30.0 {
		t.Errorf("version 1 has %v minutes", first.Policy["lease_minutes"])
	}
	for name, c := range map[string]struct{ body, field, detail string }{
		"no version":    {`{"policy": {"lease_minutes": 3}}`, "policy.version", "name the version"},
		"unknown key":   {`{"policy": {"version": 2, "lease": 3}}`, "policy", `unknown key "lease"`},
		"all at once":   {`{"policy": {"version": 2, "lease": 3, "lease_minutes": 0, "rules": [{"judge": 5, "domain": "x", "samples": 26}]}}`, "policy", "unknown key \"lease\" in the policy; known are assignment, audit, blind, budget_usd, cannot_judge, disagreement, due, due_hours, endpoints, high_stakes_domains, lease_minutes, models, opinions, reason_codes, reasons, release, rules, samples, temperature, trust, undo_seconds, version; lease_minutes is 0: it lies between 1 and 1440 (minutes, at most a day); rule 1, samples is 26"},
		"no policy":     {`{}`, "policy", "is missing"},
		"unknown field": {`{"polic": {}}`, "polic", ""},
	} {
		r := s.api(lead, http.MethodPost, "/api/v1/policy", c.body)
		wantProblem(t, r, http.StatusUnprocessableEntity, c.field)
		if !strings.Contains(r.body, strings.ReplaceAll(c.detail, `"`, `\"`)) {
			t.Errorf("%s: %s, want %q in it", name, r.body, c.detail)
		}
	}

	// A rule for a judge that may come later is taken, with a warning; the same
	// again makes no version.
	const ahead = `{"policy": {"version": %d, "rules": [{"judge": "tomorrow", "below": 0.5}]}}`
	for round, want := range []string{"which the project does not have", "it keeps its version"} {
		var got version
		r := s.api(lead, http.MethodPost, "/api/v1/policy", fmt.Sprintf(ahead, 2+round))
		r.json(t, &got)
		if r.StatusCode != http.StatusOK || got.Version != 3 || !strings.Contains(strings.Join(got.Warnings, "; "), want) {
			t.Errorf("round %d: %s, version %d, warnings %q, want version 3 and %q", round, r.Status, got.Version, got.Warnings, want)
		}
	}
	// Examples that can't be drawn are told with the policy that asks for them, and on its page.
	const examples = `{"policy": {"version": 3, "rules": [{"judge": "tomorrow", "below": 0.5}, {"judge": "reference", "examples": {"from": "confirmed", "count": 2, "seed": 1}}]}}`
	if r := s.api(lead, http.MethodPost, "/api/v1/policy", examples); r.StatusCode != http.StatusOK || !strings.Contains(r.body, "judge reference keeps its own examples") {
		t.Errorf("too few examples: %s %s", r.Status, r.body)
	}
	if r := s.api(auditor, http.MethodPost, "/api/v1/policy/dry-run", nil); !strings.Contains(r.body, `judge \"tomorrow\"`) {
		t.Errorf("a dry run does not warn: %s", r.body)
	}

	wantProblem(t, s.api(reviewer, http.MethodGet, "/api/v1/policy", nil), http.StatusForbidden, "")
	wantProblem(t, s.api(reviewer, http.MethodPost, "/api/v1/policy/dry-run", nil), http.StatusForbidden, "")
	wantProblem(t, s.api(auditor, http.MethodPost, "/api/v1/policy/dry-run", `{"last": 0}`), http.StatusUnprocessableEntity, "last")
	var same, quiet harness.DryRunResult
	s.api(auditor, http.MethodPost, "/api/v1/policy/dry-run", nil).json(t, &same)
	if same.Evaluations != 2 || same.NewlySent.Count != 0 || same.NoLongerSent.Count != 0 || same.Before.Sent != 1 {
		t.Errorf("the present policy tried out changes something: %+v", same)
	}
	s.api(auditor, http.MethodPost, "/api/v1/policy/dry-run",
		`{"judge": "citations", "policy": {"audit": {"random": 0}, "reasons": {"misattribution": "off", "critical_error": "off", "ambiguous_score": "off", "below_threshold": "off", "inconsistent_output": "off"}}}`).json(t, &quiet)
	if diff := cmp.Diff([]int{1, 1, 0}, []int{quiet.Evaluations, quiet.Before.Sent, quiet.After.Sent}); diff != "" {
		t.Errorf("a quiet policy (-want +got):\n%s", diff)
	}
	var raw map[string]json.RawMessage
	s.api(lead, http.MethodPost, "/api/v1/policy/dry-run", `{"judge": "citations"}`).json(t, &raw)
	if string(raw["evaluations"]) != "0" || string(raw["sealed_left_out"]) != "1" {
		t.Errorf("a lead's dry run looks at what they may review blind: %s", raw["evaluations"])
	}
}
