package web_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/store"
)

// twoVersions gives the project an own judge that was changed once.
func (s *site) twoVersions() (first, second judge.Judge) {
	s.t.Helper()
	text := func(prompt string) []byte {
		return []byte("name: tone\ndescription: is it polite\ninputs: {output: required}\nprompt: |\n  " + prompt + "\n  [CANDIDATE_OUTPUT]\n" +
			"schema: {type: object, required: [label], properties: {label: {type: string}}}\nreport: {label: /label}\n" +
			"labels: [{name: fine, verdict: pass}, {name: rude, verdict: fail}]\n")
	}
	var err error
	if first, err = judge.ParseDefinition("tone.yaml", text("FIRST prompt")); err != nil {
		s.t.Fatal(err)
	}
	if second, err = judge.ParseDefinition("tone.yaml", text("SECOND prompt")); err != nil {
		s.t.Fatal(err)
	}
	for _, j := range []judge.Judge{first, second} {
		if err := s.store.SaveJudges(context.Background(), store.Operator("test"), "default", []judge.Judge{j}); err != nil {
			s.t.Fatal(err)
		}
		s.clock.advance(1e9)
	}
	return first, second
}

// TestOldVersionShowsItsOwn: an earlier version's page has its prompt and not
// that of today.
func TestOldVersionShowsItsOwn(t *testing.T) {
	s := newSite(t)
	_, token := s.user("ada@example.org", store.Reviewer)
	first, second := s.twoVersions()
	v := s.signIn("ada@example.org")
	now, old := v.get("/judges/tone"), v.get("/judges/tone?version="+first.PromptVersion)
	if !strings.Contains(now.body, "SECOND prompt") || strings.Contains(now.body, "FIRST prompt") {
		t.Error("the page does not show the version in use")
	}
	if !strings.Contains(old.body, "FIRST prompt") || strings.Contains(old.body, "SECOND prompt") {
		t.Error("the earlier version's page does not show that version")
	}
	if text := textOf(find(t, old.body, ".notice")[0]); !strings.Contains(text, "An earlier version") {
		t.Errorf("it is not said that the version is an earlier one: %q", text)
	}
	links := find(t, now.body, `.timeline a[href^="/judges/tone?version="]`)
	if len(links) != 1 || !strings.HasSuffix(attr(links[0], "href"), first.PromptVersion) {
		t.Errorf("%d links to other versions, want the first's", len(links))
	}
	if r := v.get("/judges/tone?version=" + strings.Repeat("0", 64)); r.StatusCode != http.StatusNotFound {
		t.Errorf("a version that never was: %s, want 404", r.Status)
	}
	var api struct {
		PromptVersion string `json:"prompt_version"`
		Definition    struct{ Prompt string }
		Versions      []struct {
			PromptVersion string `json:"prompt_version"`
			Current       bool
		}
	}
	s.api(token, http.MethodGet, "/api/v1/judges/tone?version="+first.PromptVersion[:8], nil).json(t, &api)
	if api.PromptVersion != first.PromptVersion || !strings.Contains(api.Definition.Prompt, "FIRST") || len(api.Versions) != 2 || api.Versions[0].PromptVersion != second.PromptVersion || !api.Versions[0].Current {
		t.Errorf("by API: %+v", api)
	}
	var list struct{ Judges []struct{ Name string } }
	s.api(token, http.MethodGet, "/api/v1/judges", nil).json(t, &list)
	own, err := judge.LoadDefinitions("testdata/judges")
	if err != nil {
		t.Fatal(err)
	}
	if want := len(builtin.Judges()) + len(own) + 1; len(list.Judges) != want {
		t.Errorf("%d judges, want %d: each once, whatever its versions", len(list.Judges), want)
	}
}

// TestHealthByRole: numbers of a judge are for those who answer for it; where
// they would tell of single evaluations, who may decide sees none.
func TestHealthByRole(t *testing.T) {
	s := newSite(t)
	_, auditor := s.user("ann@example.org", store.Auditor)
	_, lead := s.user("lea@example.org", store.Lead)
	_, reviewer := s.user("ada@example.org", store.Reviewer)
	s.load(citationTrace("t1"), citationTrace("t2"))
	var health struct {
		Total struct {
			Evaluations, Reports int
			TooFew               bool `json:"too_few"`
		}
		Days []struct{ Day string }
	}
	s.api(auditor, http.MethodGet, "/api/v1/judges/citations/health", nil).json(t, &health)
	if health.Total.Evaluations != 2 || health.Total.Reports != 2 || health.Total.TooFew || len(health.Days) != 1 || health.Days[0].Day != "2026-11-29" {
		t.Errorf("an auditor is told %+v", health)
	}
	s.api(lead, http.MethodGet, "/api/v1/judges/citations/health", nil).json(t, &health)
	if !health.Total.TooFew || health.Total.Reports != 0 {
		t.Errorf("a lead is told %+v of two evaluations that wait blind", health)
	}
	wantProblem(t, s.api(reviewer, http.MethodGet, "/api/v1/judges/citations/health", nil), http.StatusForbidden, "")
	wantProblem(t, s.api(auditor, http.MethodGet, "/api/v1/judges/citations/health?days=0", nil), http.StatusUnprocessableEntity, "days")

	if page := s.signIn("ann@example.org").get("/judges/citations/health"); len(find(t, page.body, "svg.plot desc")) != 6 || len(find(t, page.body, ".scroller tbody tr")) != 1 {
		t.Errorf("the auditor's page has %d charts, want six and their table", len(find(t, page.body, "svg.plot desc")))
	}
	page := s.signIn("lea@example.org").get("/judges/citations/health")
	if text := textOf(find(t, page.body, "main")[0]); !strings.Contains(text, "too few to tell") || strings.Contains(text, "Invalid reports 0%") {
		t.Errorf("the lead's page tells of two evaluations: %q", text)
	}
	v := s.signIn("ada@example.org")
	if r := v.get("/judges/citations/health"); r.StatusCode != http.StatusForbidden {
		t.Errorf("a reviewer's look at the health: %s", r.Status)
	}
	if r := v.get("/judges/citations"); r.StatusCode != http.StatusOK || len(find(t, r.body, `a[href*="/health"], a[href*="/rerun"]`)) > 0 {
		t.Errorf("a reviewer's page of the judge: %s, or it links where they may not go", r.Status)
	}
}

// TestRerunShowsItsCostFirst: the form shows what it takes, the button starts it,
// what grew since is shown again and not started, and it can be stopped.
func TestRerunShowsItsCostFirst(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	s.user("ann@example.org", store.Auditor)
	s.load(recordedTrace("r1", "Yes"), recordedTrace("r2", "No"))
	v := s.signIn("lea@example.org")
	path := "/judges/answer-equivalence/rerun"
	form := formOf(t, v.get(path).body, `form[method=get].sheet`)
	form.Set("engine", "rules")
	form.Set("kind", "version")
	shown := v.get(path + "?" + form.Encode())
	cost := textOf(find(t, shown.body, "#cost")[0])
	if shown.StatusCode != http.StatusOK || !strings.Contains(cost, "Costs nothing") || !strings.Contains(cost, "Judge 2 again") {
		t.Fatalf("what it takes: %s %q", shown.Status, cost)
	}
	start := formOf(t, shown.body, "#cost form")
	s.load(recordedTrace("r3", "Yes")) // meanwhile
	grown := v.post(path, start)
	if grown.StatusCode != http.StatusConflict || !strings.Contains(textOf(find(t, grown.body, "#cost")[0]), "Judge 3 again") {
		t.Fatalf("more than was seen: %s, want 409 with the new numbers", grown.Status)
	}
	reruns := func() []store.Rerun {
		t.Helper()
		list, err := s.store.Reruns(context.Background(), store.Operator("test"), "default", 10)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	if n := len(reruns()); n != 0 {
		t.Fatalf("%d re-runs were started unseen", n)
	}
	done := v.post(path, formOf(t, grown.body, "#cost form"))
	if done.StatusCode != http.StatusOK || len(reruns()) != 1 || reruns()[0].Estimate.Evaluations != 3 {
		t.Fatalf("start: %s, %+v", done.Status, reruns())
	}
	stop := find(t, done.body, `form[action$="/stop"]`)
	if len(stop) != 1 {
		t.Fatal("a re-run that is under way can't be stopped")
	}
	v.post(attr(stop[0], "action"), url.Values{"judge": {"answer-equivalence"}})
	if state := reruns()[0].State; state != store.RerunStopped {
		t.Errorf("after the stop it is %s", state)
	}
	// Going on asks for what is left, by the same, and its cost is seen first.
	goOn := find(t, v.get(path).body, `a.button[href*="cost=show"]`)
	if len(goOn) != 1 {
		t.Fatal("a re-run that was stopped can't go on")
	}
	s.load(recordedTrace("r4", "No"))
	rest := v.get(attr(goOn[0], "href"))
	if text := textOf(find(t, rest.body, "#cost")[0]); !strings.Contains(text, "Judge 4 again") {
		t.Errorf("going on shows %q, want the cost of what is not judged yet", text)
	}
	if r := v.post(path, formOf(t, rest.body, "#cost form")); r.StatusCode != http.StatusOK || len(reruns()) != 2 {
		t.Fatalf("going on: %s, %d re-runs", r.Status, len(reruns()))
	}
	if diff := cmp.Diff(reruns()[1].Ask, reruns()[0].Ask); diff != "" {
		t.Errorf("what goes on asks for something else (-before +after):\n%s", diff)
	}
	if len(find(t, s.signIn("ann@example.org").get(path).body, `a.button[href*="cost=show"], form[action$="/stop"]`)) > 0 {
		t.Error("an auditor is offered to stop a re-run or to go on with one")
	}

	for name, c := range map[string]struct{ set, to, want string }{
		"an endpoint that is not there": {"engine", "openai/elsewhere", "does not have"}, "too many calls": {"samples", "99", "whole number"},
		"no day": {"since", "yesterday", "day like"}, "a budget without a run": {"budget_usd", "5", "run"},
	} {
		bad := url.Values{}
		for k, val := range form {
			bad[k] = val
		}
		bad.Set(c.set, c.to)
		r := v.get(path + "?" + bad.Encode())
		if r.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(textOf(find(t, r.body, "#rerun-fault")[0]), c.want) {
			t.Errorf("%s: %s", name, r.Status)
		}
	}
	a := s.signIn("ann@example.org")
	r := a.get(path + "?" + form.Encode())
	if r.StatusCode != http.StatusOK || len(find(t, r.body, "#cost form")) != 0 {
		t.Errorf("an auditor sees the cost (%s) and no button", r.Status)
	}
	if r := a.post(path, start); r.StatusCode != http.StatusForbidden {
		t.Errorf("an auditor starts a re-run: %s, want 403", r.Status)
	}
}

// TestAPIRerun is the same by API.
func TestAPIRerun(t *testing.T) {
	s := newSite(t)
	_, lead := s.user("lea@example.org", store.Lead)
	_, reviewer := s.user("ada@example.org", store.Reviewer)
	s.load(recordedTrace("r1", "Yes"))
	path, body := "/api/v1/judges/answer-equivalence/rerun", map[string]any{"kind": "version", "engine": "rules", "estimate": true}
	var estimate store.RerunEstimate
	s.api(lead, http.MethodPost, path, body).json(t, &estimate)
	if estimate.Evaluations != 1 {
		t.Errorf("estimate: %+v, want one trace", estimate)
	}
	wantProblem(t, s.api(lead, http.MethodPost, path, `{"kind": "version", "engine": "rules"}`), http.StatusUnprocessableEntity, "estimate")
	wantProblem(t, s.api(reviewer, http.MethodPost, path, body), http.StatusForbidden, "")
	body["estimate"] = false
	r := s.api(lead, http.MethodPost, path, body)
	var started struct{ ID, State string }
	r.json(t, &started)
	if r.StatusCode != http.StatusAccepted || started.ID == "" {
		t.Fatalf("start: %s %+v", r.Status, started)
	}
	if r := s.api(lead, http.MethodPost, "/api/v1/reruns/"+started.ID+"/stop", nil); r.StatusCode != http.StatusNoContent {
		t.Errorf("stop: %s", r.Status)
	}
	var list struct{ Reruns []struct{ ID, State string } }
	s.api(lead, http.MethodGet, "/api/v1/reruns", nil).json(t, &list)
	if len(list.Reruns) != 1 || list.Reruns[0].State != store.RerunStopped {
		t.Errorf("the list: %+v", list)
	}
}

// TestJudgeOneTraceAgain: by page and API, once; what the trace lacks is said.
func TestJudgeOneTraceAgain(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	_, lead := s.user("max@example.org", store.Lead)
	_, reviewer := s.user("ada@example.org", store.Reviewer)
	s.load(citationTrace("t1"))
	v := s.signIn("lea@example.org")
	page := v.get("/traces/t1")
	form := formOf(t, page.body, `form[action$="/judge"]`)
	form.Set("judge", "answer-equivalence")
	form.Set("engine", "rules")
	if r := v.post("/traces/t1/judge", form); !strings.Contains(textOf(find(t, r.body, ".notice")[0]), "reference is missing") {
		t.Errorf("without a reference: %q", textOf(find(t, r.body, ".notice")[0]))
	}
	form.Set("judge", "citations")
	if r := v.post("/traces/t1/judge", form); !strings.Contains(textOf(find(t, r.body, ".notice")[0]), "there already") {
		t.Errorf("what is there already: %q", textOf(find(t, r.body, ".notice")[0]))
	}
	var got struct {
		IDs   []string `json:"evaluation_ids"`
		Field string   `json:"refused_field"`
	}
	r := s.api(lead, http.MethodPost, "/api/v1/traces/t1/judge", map[string]any{"judge": "logic", "engine": "rules"})
	r.json(t, &got)
	if r.StatusCode != http.StatusAccepted || len(got.IDs) != 1 || got.Field != "" {
		t.Errorf("another judge: %s %+v", r.Status, got)
	}
	s.judgeAll()
	var trace struct {
		Evaluations []struct{ Judge, Status string }
	}
	s.api(lead, http.MethodGet, "/api/v1/traces/t1", nil).json(t, &trace)
	judged := map[string]string{}
	for _, e := range trace.Evaluations {
		judged[e.Judge] = e.Status
	}
	if judged["logic"] == "" || judged["logic"] == "queued" || judged["answer-equivalence"] != "refused" {
		t.Errorf("evaluations: %v", judged)
	}
	wantProblem(t, s.api(reviewer, http.MethodPost, "/api/v1/traces/t1/judge", map[string]any{"judge": "logic", "engine": "rules"}), http.StatusForbidden, "")
	wantProblem(t, s.api(lead, http.MethodPost, "/api/v1/traces/t1/judge", map[string]any{"judge": "nobody", "engine": "rules"}), http.StatusUnprocessableEntity, "judge")
	wantProblem(t, s.api(lead, http.MethodPost, "/api/v1/traces/t1/judge", map[string]any{"judge": "logic", "engine": "openai"}), http.StatusUnprocessableEntity, "engine")
	for query, want := range map[string]int{"engine=rules": 2, "model=rules&judge=citations": 1, "model=gpt-4": 0, "version=nope": 0, "endpoint=ward-7": 0} {
		var list struct{ Evaluations []judge.Evaluation }
		s.api(lead, http.MethodGet, "/api/v1/evaluations?"+query, nil).json(t, &list)
		n := 0
		for _, e := range list.Evaluations {
			if e.Status != judge.Refused {
				n++
			}
		}
		if n != want {
			t.Errorf("%s gives %d, want %d", query, n, want)
		}
	}
}

// TestListsTellVersionsApart: a trace that two versions of a judge have judged is
// two rows, each with its version, and an outcome is called by its status.
func TestListsTellVersionsApart(t *testing.T) {
	s := newSite(t)
	s.user("ann@example.org", store.Auditor)
	first, second := s.twoVersions()
	item := store.ImportItem{Trace: judge.Trace{ID: "both", Output: "o", Domain: "general", Stakes: judge.StandardStakes}}
	for _, j := range []judge.Judge{first, second} {
		item.Plan = append(item.Plan, judge.Planned{Judge: "tone", PromptVersion: j.PromptVersion, Engine: judge.EngineRules, Model: judge.EngineRules, Judgment: judge.NoJudgment})
	}
	if _, err := s.store.ImportTraces(context.Background(), store.Operator("test"), "default", []store.ImportItem{item}); err != nil {
		t.Fatal(err)
	}
	v := s.signIn("ann@example.org")
	named := map[string]int{}
	for _, version := range find(t, v.get("/evaluations?judge=tone").body, "tbody .hash-short") {
		named[attr(version, "title")]++
	}
	if diff := cmp.Diff(map[string]int{first.PromptVersion: 1, second.PromptVersion: 1}, named); diff != "" {
		t.Errorf("versions named in the list (-want +got):\n%s", diff)
	}
	s.load(citationTrace("waits"))
	if got := find(t, v.get("/queue?judge=citations").body, "tbody .hash-short"); len(got) != 1 || len(attr(got[0], "title")) != 64 {
		t.Errorf("the queue's row names %d versions", len(got))
	}
	s.load(recordedTrace("r1", "Yes"))
	accepted := v.get("/evaluations?status=accepted&judge=answer-equivalence")
	page := v.get(attr(find(t, accepted.body, "tbody a.title")[0], "href"))
	if text := textOf(find(t, page.body, "main")[0]); !strings.Contains(text, "Accepted, by the judge.") || strings.Contains(text, "Final, ") {
		t.Errorf("an accepted evaluation is called something else: %.400s", text)
	}
}
