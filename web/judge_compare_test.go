package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// judgedByBoth gives n labelled traces to both versions of the judge tone. People fail
// every second; the first version misses every third of these, the second none.
func (s *site) judgedByBoth(n int) (first, second judge.Judge) {
	s.t.Helper()
	ctx := context.Background()
	first, second = s.twoVersions()
	p, err := s.store.ProjectNamed(ctx, "default")
	if err != nil {
		s.t.Fatal(err)
	}
	p.Policy.Blind = "never" // where two versions differ an item waits, and would be sealed for a lead
	if _, err := s.store.SetPolicy(ctx, store.Operator("test"), "default", p.Policy, ""); err != nil {
		s.t.Fatal(err)
	}
	var items []store.ImportItem
	for i := range n {
		label := "fine"
		if i%2 == 0 {
			label = "rude"
		}
		item := store.ImportItem{Trace: judge.Trace{ID: fmt.Sprintf("c%03d", i), Output: fmt.Sprintf("answer %d", i), Domain: "general",
			Labels: []judge.HumanLabel{{Judge: "tone", Label: label, Reviewer: "expert"}}}}
		for _, j := range []judge.Judge{first, second} {
			item.Plan = append(item.Plan, judge.Planned{Judge: "tone", PromptVersion: j.PromptVersion, Engine: judge.EngineOpenAI, Model: "m", Judgment: judge.NoJudgment})
		}
		items = append(items, item)
	}
	if _, err := s.store.ImportTraces(ctx, store.Operator("test"), "default", items); err != nil {
		s.t.Fatal(err)
	}
	work, err := s.store.ClaimWork(ctx, judge.Claim{Worker: "w", N: 2 * n, Lease: time.Minute})
	if err != nil || len(work) != 2*n {
		s.t.Fatalf("%d claimed, error %v", len(work), err)
	}
	var done []judge.Finished
	for _, w := range work {
		var i int
		if _, err := fmt.Sscanf(w.Trace.ID, "c%d", &i); err != nil {
			s.t.Fatal(err)
		}
		e := judge.Evaluation{Judge: "tone", PromptVersion: w.Planned.PromptVersion, Engine: judge.EngineOpenAI, Model: "m", Status: judge.Accepted,
			Verdict: judge.Pass, Label: "fine", Attempts: 1, CostUSD: 0.002, LatencyMS: 850}
		if i%2 == 0 && (w.Planned.PromptVersion == second.PromptVersion || i%6 != 0) {
			e.Verdict, e.Label = judge.Fail, "rude"
		}
		done = append(done, judge.Finished{Work: w, Evaluation: e})
	}
	if err := s.store.FinishWork(ctx, done); err != nil {
		s.t.Fatal(err)
	}
	return first, second
}

// comparePath is the page that compares the first with the second.
func comparePath(first, second judge.Judge) string {
	return "/judges/tone/compare?" + url.Values{"a": {first.PromptVersion + ",m"}, "b": {second.PromptVersion[:8]}}.Encode()
}

func TestComparePage(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	s.user("ann@example.org", store.Reviewer)
	s.user("aud@example.org", store.Auditor)
	first, second := s.judgedByBoth(120)
	lead, path := s.signIn("lea@example.org"), comparePath(first, second)

	r := lead.get(path)
	if r.StatusCode != http.StatusOK {
		t.Fatalf("%s: %.500s", r.Status, r.body)
	}
	want := fmt.Sprintf("On the same 120 labelled traces version %s is right 20 times where version %s is wrong, and wrong 0 times", second.PromptVersion[:8], first.PromptVersion[:8])
	if text := textOf(find(t, r.body, ".lede")[0]); !strings.Contains(text, want) || !strings.Contains(text, "better") {
		t.Errorf("sentence %q, want %q", text, want)
	}
	if cells := find(t, r.body, "#paired td b"); len(cells) != 4 || textOf(cells[0]) != "100" || textOf(cells[1]) != "0" || textOf(cells[2]) != "20" || textOf(cells[3]) != "0" {
		t.Errorf("the paired table has %d cells", len(cells))
	}
	if n := len(find(t, r.body, `a[href^="/traces/c"]`)); n != 20 {
		t.Errorf("%d differences are listed", n)
	}
	if !strings.Contains(r.body, "$0.0020") || !strings.Contains(r.body, "850 ms") || !strings.Contains(r.body, "20 of 60") {
		t.Error("cost, time and misses are not told")
	}
	if bare := lead.get("/judges/tone/compare"); bare.StatusCode != http.StatusOK || len(find(t, bare.body, "select#a option[selected], select#b option[selected]")) != 2 {
		t.Errorf("without a choice: %s", bare.Status)
	}
	if bad := lead.get("/judges/tone/compare?a=nothing&b=" + second.PromptVersion); bad.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(bad.body, "nothing") {
		t.Errorf("an unknown version: %s", bad.Status)
	}
	if r := s.signIn("ann@example.org").get(path); r.StatusCode != http.StatusForbidden {
		t.Errorf("a reviewer: %s", r.Status)
	}
	if r := s.signIn("aud@example.org").get(path); r.StatusCode != http.StatusOK || len(find(t, r.body, `form[action$="/promote"], form[action$="/test-split"]`)) != 0 {
		t.Errorf("an auditor: %s", r.Status)
	}
	if r := lead.get(strings.Replace(path, "compare?", "compare.json?", 1)); r.StatusCode != http.StatusOK || !strings.Contains(r.body, `"only_second_right": 20`) {
		t.Errorf("as JSON: %s", r.Status)
	}
}

// A lead locks a test split, looks at it, and promotes B with what was seen as the
// evidence; the page tells each.
func TestTestSplitAndPromotionPage(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	first, second := s.judgedByBoth(120)
	if err := s.store.SaveJudges(context.Background(), store.Operator("test"), "default", []judge.Judge{first}); err != nil {
		t.Fatal(err)
	}
	lead, path := s.signIn("lea@example.org"), comparePath(first, second)
	of := url.Values{"a": {first.PromptVersion + ",m"}, "b": {second.PromptVersion + ",m"}}
	with := func(more ...string) url.Values {
		form := url.Values{}
		for k, v := range of {
			form[k] = v
		}
		for i := 0; i < len(more); i += 2 {
			form.Set(more[i], more[i+1])
		}
		return form
	}
	if r := lead.post("/judges/tone/test-split", with("share", "much")); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("no share: %s", r.Status)
	}
	lead.post("/judges/tone/test-split", with("share", "0.5", "comment", "before the new prompt"))
	page := lead.get(path)
	if !strings.Contains(page.body, "Nobody has looked yet") || strings.Contains(textOf(find(t, page.body, ".lede")[0]), "120") {
		t.Errorf("after locking: %.300s", textOf(find(t, page.body, "#test-split")[0]))
	}
	for range 2 { // a form that is sent twice is one look
		lead.post("/judges/tone/test-split/look", of)
	}
	page = lead.get(path)
	split := textOf(find(t, page.body, "#test-split")[0])
	if !strings.Contains(split, "Looked at once") || !strings.Contains(split, "at 95%") || len(find(t, page.body, "#look-1")) != 1 || len(find(t, page.body, "#look-2")) != 0 {
		t.Errorf("after a look: %s", split)
	}
	if r := lead.post("/judges/tone/promote", of); r.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("without a comment: %s", r.Status)
	}
	lead.post("/judges/tone/promote", with("comment", "finds what the other misses"))
	versions, err := s.store.JudgeVersions(context.Background(), store.Operator("test"), "default", "tone")
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range versions {
		if v.Current != (v.PromptVersion == second.PromptVersion) {
			t.Errorf("version %s is current: %v", v.PromptVersion[:8], v.Current)
		}
	}
	if text := textOf(find(t, lead.get(path).body, "#promote")[0]); !strings.Contains(text, "in use already") {
		t.Errorf("after the promotion: %s", text)
	}
	if r := lead.post("/judges/tone/promote", with("comment", "again")); r.StatusCode != http.StatusConflict {
		t.Errorf("a second time: %s", r.Status)
	}
	events, err := s.store.AuditAfter(context.Background(), store.Operator("test"), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	promoted := ""
	for _, e := range events {
		if e.Action == "judge.promoted" {
			promoted += string(e.Data)
		}
	}
	for _, want := range []string{"finds what the other misses", second.PromptVersion, `"look":1`, "On the same"} {
		if !strings.Contains(promoted, want) {
			t.Errorf("the event lacks %q: %s", want, promoted)
		}
	}
}

// A lead starts and stops a shadow on the judge's page; what can't run is said.
func TestShadowOnTheJudgesPage(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	s.user("ann@example.org", store.Reviewer)
	first, _ := s.twoVersions()
	lead := s.signIn("lea@example.org")
	form := url.Values{"version": {first.PromptVersion}, "engine": {"rules"}, "share": {"0.25"}, "reason": {"is the old one as good?"}}
	page := lead.get("/judges/tone")
	if n := len(find(t, page.body, `#shadow select[name="version"] option`)); n != 2 {
		t.Errorf("%d versions can be chosen", n)
	}
	for field, value := range map[string]string{"share": "a lot", "engine": "nowhere", "reason": ""} {
		bad := url.Values{}
		for k, v := range form {
			bad[k] = v
		}
		bad.Set(field, value)
		if r := lead.post("/judges/tone/shadow", bad); r.StatusCode != http.StatusUnprocessableEntity {
			t.Errorf("%s %q: %s", field, value, r.Status)
		}
	}
	lead.post("/judges/tone/shadow", form)
	text := textOf(find(t, lead.get("/judges/tone").body, "#shadow")[0])
	if !strings.Contains(text, "Running") || !strings.Contains(text, "25% of new traces") || strings.Contains(text, "Start a shadow") {
		t.Errorf("after the start: %s", text)
	}
	if r := lead.post("/judges/tone/shadow", form); r.StatusCode != http.StatusConflict {
		t.Errorf("a second one: %s", r.Status)
	}
	lead.post("/judges/tone/shadow/stop", url.Values{"reason": {"seen enough"}})
	if text := textOf(find(t, lead.get("/judges/tone").body, "#shadow")[0]); !strings.Contains(text, "Stopped by lea") || !strings.Contains(text, "seen enough") {
		t.Errorf("after the stop: %s", text)
	}
	if n := len(find(t, s.signIn("ann@example.org").get("/judges/tone").body, "#shadow")); n != 0 {
		t.Error("a reviewer sees the shadow section")
	}
}
