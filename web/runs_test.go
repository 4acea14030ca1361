package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// aRun has evaluations that are done, wait for a person, wait for a judge and were
// refused, and a trace that no judge was asked for.
func (s *site) aRun() {
	s.t.Helper()
	asked := citationTrace("asked")
	asked.Judges = []string{"citations", "reference"} // it brings no reference
	accepted := recordedTrace("accepted", "Yes")
	accepted.Run = "renal-12"
	s.load(citationTrace("waits"), asked, accepted)
	queued := citationTrace("queued")
	queued.Stakes = judge.HighStakes
	plan, err := s.harness.Plan(&queued)
	if err != nil {
		s.t.Fatal(err)
	}
	nobody := judge.Trace{ID: "nobody", Output: "x", Run: "renal-12", Stakes: judge.StandardStakes}
	items := []store.ImportItem{{Trace: queued, Plan: plan}, {Trace: nobody}}
	if _, err := s.store.ImportTraces(context.Background(), store.Operator("test"), "default", items); err != nil {
		s.t.Fatal(err)
	}
}

// TestCoverageAddsUp: on the page and in the API each evaluation of a run is in
// one line, for each judge and in all, and what nobody was asked for is told.
func TestCoverageAddsUp(t *testing.T) {
	s := newSite(t)
	_, token := s.user("ann@example.org", store.Auditor)
	s.aRun()
	var run struct {
		Evaluations, Done, Pending, Refused, Waiting, Failed, Traces, Unjudged int
		Judges                                                                 []map[string]any
		Reasons                                                                []struct {
			Judge, Code string
			Count       int
		}
		Costs []map[string]any
	}
	s.api(token, http.MethodGet, "/api/v1/runs/renal-12", nil).json(t, &run)
	want := []int{5, 1, 1, 1, 2, 0, 5, 1}
	if diff := cmp.Diff(want, []int{run.Evaluations, run.Done, run.Pending, run.Refused, run.Waiting, run.Failed, run.Traces, run.Unjudged}); diff != "" {
		t.Errorf("the run (-want +got):\n%s", diff)
	}
	if sum := run.Done + run.Pending + run.Refused + run.Waiting + run.Failed; sum != run.Evaluations {
		t.Errorf("the parts sum to %d, want %d", sum, run.Evaluations)
	}
	all := 0
	for _, j := range run.Judges {
		sum := 0.0
		for _, part := range []string{"pass", "borderline", "fail", "no_verdict", "pending", "waiting", "failed", "refused"} {
			sum += j[part].(float64)
		}
		if sum != j["evaluations"].(float64) {
			t.Errorf("%v: the parts sum to %v, want %v", j["judge"], sum, j["evaluations"])
		}
		all += int(sum)
	}
	if all != run.Evaluations {
		t.Errorf("the judges sum to %d, want %d", all, run.Evaluations)
	}
	found := false
	for _, r := range run.Reasons {
		found = found || r.Judge == "citations" && r.Code == judge.ReasonMisattribution && r.Count == 2
	}
	if !found {
		t.Errorf("reasons: %+v, want misattribution twice", run.Reasons)
	}

	page := s.signIn("ann@example.org").get("/runs/renal-12")
	sum, rows := 0, find(t, page.body, ".sums tbody tr")
	for i, row := range rows {
		n, err := strconv.Atoi(textOf(find(t, render(t, row), "td")[0]))
		if err != nil {
			t.Fatal(err)
		}
		if i < len(rows)-1 {
			sum += n
		} else if n != sum || n != 5 {
			t.Errorf("the page's lines sum to %d and it says %d, want 5", sum, n)
		}
	}
	if text := textOf(find(t, page.body, "main")[0]); !strings.Contains(text, "Not judged: 1 of 5 traces") {
		t.Errorf("the page does not say what was not judged: %s", text)
	}
	if forms := find(t, page.body, "main form"); len(forms) > 0 {
		t.Error("an auditor is offered to change the run")
	}
}

// TestRunKeepsSealed: who may decide is told how many evaluations wait blind, each
// once, and neither page nor API tells why or how many reasons there are.
func TestRunKeepsSealed(t *testing.T) {
	s := newSite(t)
	_, lead := s.user("lea@example.org", store.Lead)
	_, reviewer := s.user("ada@example.org", store.Reviewer)
	s.aRun()
	for email, token := range map[string]string{"lea@example.org": lead, "ada@example.org": reviewer} {
		api := s.api(token, http.MethodGet, "/api/v1/runs/renal-12", nil)
		page := s.signIn(email).get("/runs/renal-12")
		for _, body := range []string{api.body, textOf(find(t, page.body, "main")[0])} {
			if strings.Contains(strings.ToLower(body), "misattribution") || strings.Contains(body, "below_threshold") {
				t.Errorf("%s is told a sealed reason: %s", email, body)
			}
		}
		if want := `"reasons":[{"judge":"citations","code":"","count":2}]`; !strings.Contains(api.body, want) {
			t.Errorf("the API tells %s other reasons than %s: %s", email, want, api.body)
		}
		var cells []string
		for _, cell := range find(t, page.body, `h3 + table td`) {
			cells = append(cells, strings.TrimSpace(textOf(cell)))
		}
		if diff := cmp.Diff([]string{"Waiting blind", "citations", "2"}, cells); diff != "" {
			t.Errorf("%s reads other reasons (-want +got):\n%s", email, diff)
		}
		if email == "ada@example.org" && (strings.Contains(api.body, `"costs"`) || len(find(t, page.body, `form[action$="/budget"]`)) > 0) {
			t.Error("a reviewer is told the cost or offered the budget")
		}
	}
}

// TestRunBudgetAndRetry: leads set and lift a budget, what is no amount is told
// beside the field, and retrying says how many.
func TestRunBudgetAndRetry(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	_, reviewer := s.user("ada@example.org", store.Reviewer)
	_, lead := s.user("max@example.org", store.Lead)
	s.aRun()
	v := s.signIn("lea@example.org")
	v.get("/runs/renal-12")
	if r := v.post("/runs/renal-12/budget", url.Values{"budget_usd": {"12.50"}}); r.StatusCode != http.StatusOK {
		t.Fatalf("set a budget: %s", r.Status)
	}
	budget := func() *float64 {
		t.Helper()
		r, err := s.store.Run(context.Background(), store.Operator("test"), "default", "renal-12")
		if err != nil {
			t.Fatal(err)
		}
		return r.BudgetUSD
	}
	if got := budget(); got == nil || *got != 12.5 {
		t.Errorf("budget %v, want 12.50", got)
	}
	if shown := attr(find(t, v.get("/runs/renal-12").body, "#budget")[0], "value"); shown != "12.5" {
		t.Errorf("the form shows %q", shown)
	}
	for _, bad := range []string{"lots", "-1", "NaN"} {
		r := v.post("/runs/renal-12/budget", url.Values{"budget_usd": {bad}})
		if r.StatusCode != http.StatusUnprocessableEntity || len(find(t, r.body, "#budget-fault")) != 1 || attr(find(t, r.body, "#budget")[0], "value") != bad {
			t.Errorf("a budget of %q: %s, want 422 beside the field with what was typed", bad, r.Status)
		}
	}
	v.post("/runs/renal-12/budget", url.Values{"budget_usd": {""}})
	if got := budget(); got != nil {
		t.Errorf("after emptying it the budget is %v", *got)
	}
	wantProblem(t, s.api(reviewer, http.MethodPost, "/api/v1/runs/renal-12/budget", `{"budget_usd": 1}`), http.StatusForbidden, "")
	wantProblem(t, s.api(reviewer, http.MethodPost, "/api/v1/runs/renal-12/retry", nil), http.StatusForbidden, "")
	wantProblem(t, s.api(lead, http.MethodPost, "/api/v1/runs/none/retry", nil), http.StatusNotFound, "")
	var money struct {
		Budget *float64 `json:"budget_usd"`
	}
	s.api(lead, http.MethodPost, "/api/v1/runs/renal-12/budget", `{"budget_usd": 3}`).json(t, &money)
	if money.Budget == nil || *money.Budget != 3 {
		t.Errorf("by API: %v, want 3", money.Budget)
	}
	if r := v.post("/runs/renal-12/retry", url.Values{}); !strings.Contains(r.body, "0 evaluations are judged again") {
		t.Errorf("retry with nothing failed: %s", textOf(find(t, r.body, ".notice")[0]))
	}
}
