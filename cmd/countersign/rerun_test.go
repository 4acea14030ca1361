package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// unlike are traces whose texts differ, so that a model is asked.
func unlike(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"t%02d","output":"it is %d","reference":"%d is what it is","judges":["reference"]}`+"\n", i, i, i)
	}
	return b.String()
}

// TestRerunFailed: what failed is judged again by the model that it was planned
// for, and the attempts of before stay.
func TestRerunFailed(t *testing.T) {
	home := newHome(t)
	var broken atomic.Bool
	broken.Store(true)
	server, _ := endpoint(t, func(int64) (int, string) {
		if broken.Load() {
			return http.StatusUnauthorized, "the key has no more credit"
		}
		return http.StatusOK, equivalent
	})
	home.env["OPENAI_API_KEY"], home.env["OPENAI_BASE_URL"], home.env["COUNTERSIGN_MODEL"] = "sk-of-this-test", server.URL+"/v1", "grader"
	mustRun(t, exitOK, home.env, "import", "--judge", "--run", "nightly", writeFile(t, "t.jsonl", unlike(3)))
	broken.Store(false)

	c := mustRun(t, exitOK, home.env, "rerun", "--run", "nightly", "--failed")
	if got, want := c.messages.String(), "3 evaluations of run nightly failed"; !strings.Contains(got, want) {
		t.Errorf("messages %q, want %q in them", got, want)
	}
	c = mustRun(t, exitOK, home.env, "rerun", "--judge", "reference", "--failed")
	if got, want := c.out.String(), "judge reference, as planned: 3 evaluations; about "; !strings.HasPrefix(got, want) {
		t.Errorf("estimate %q, want %q first", got, want)
	}
	for _, e := range exported(t, home, store.DefaultProject) {
		if e.Status != judge.InReview || e.Error == "" {
			t.Errorf("asking for the estimate made %s of it", e.Status)
		}
	}
	c = mustRun(t, exitOK, home.env, "rerun", "--run", "nightly", "--failed", "--yes", "--at-once")
	if got, want := c.messages.String(), "3 evaluations judged"; !strings.Contains(got, want) {
		t.Errorf("messages %q, want %q in them", got, want)
	}
	for _, e := range exported(t, home, store.DefaultProject) {
		if e.Model != "grader" || e.Verdict != judge.Pass {
			t.Errorf("%s by %s: %s %v", e.TraceID, e.Model, e.Verdict, e.Reasons)
		}
	}
	mustRun(t, exitOK, home.env, "audit", "verify", "--deep")
}

// TestRerunByModelWithinBudget: another model judges a run again, after its cost
// was shown, and stops before the budget is passed; a higher one goes on.
func TestRerunByModelWithinBudget(t *testing.T) {
	home := newHome(t)
	server, calls := endpoint(t, func(int64) (int, string) { return http.StatusOK, equivalent })
	// A call can cost at most some $0.5 (4,096 tokens of reply) and costs $0.002.
	config := writeFile(t, "countersign.yaml", "prices:\n  second: {prompt_usd: 10, completion_usd: 100}\nmodel: first\n")
	home.env["OPENAI_API_KEY"], home.env["OPENAI_BASE_URL"] = "sk-of-this-test", server.URL+"/v1"
	program := func(args ...string) []string { return append([]string{"--config", config}, args...) }
	mustRun(t, exitOK, home.env, program("import", "--judge", "--run", "nightly", writeFile(t, "t.jsonl", unlike(12)))...)
	before := calls.Load()

	second := program("rerun", "--judge", "reference", "--run", "nightly", "--model", "second", "--concurrency", "1")
	c := mustRun(t, exitOK, home.env, second...)
	if got, want := c.out.String(), "12 evaluations; about 1,200 prompt and 120 reply tokens; about $0.0240"; !strings.Contains(got, want) {
		t.Errorf("estimate %q, want %q in it", got, want)
	}
	mustRun(t, exitUsage, home.env, append(program("rerun", "--judge", "reference", "--run", "nightly", "--model", "third", "--budget", "1"), "--yes")...)
	if calls.Load() != before {
		t.Errorf("%d calls were made for an estimate", calls.Load()-before)
	}

	c = mustRun(t, exitOK, home.env, append(second, "--yes", "--at-once", "--budget", "0.1")...)
	if got, want := c.messages.String(), "0 evaluations judged\nthe budget of run nightly ($0.10) has no room for the next call: 12 evaluations are on hold"; !strings.Contains(got, want) {
		t.Errorf("messages %q, want %q in them", got, want)
	}
	c = mustRun(t, exitOK, home.env, append(second, "--yes", "--at-once", "--budget", "2")...)
	if !strings.Contains(c.out.String(), "0 evaluations (12 are there already)") || !strings.Contains(c.messages.String(), "12 evaluations judged") {
		t.Errorf("the second time: %q, %q", c.out, c.messages)
	}
	models := map[string]int{}
	for _, e := range exported(t, home, store.DefaultProject) {
		if e.Verdict == judge.Pass {
			models[e.Model]++
		}
	}
	if models["first"] != 12 || models["second"] != 12 {
		t.Errorf("judged by model: %v, want 12 each", models)
	}
	if got := calls.Load() - before; got != 12 {
		t.Errorf("%d calls for 12 evaluations", got)
	}
	mustRun(t, exitOK, home.env, "audit", "verify", "--deep")
}

// TestServeContinuesReruns: a running server queues what a re-run asks for, and
// judges it, also in a project that is not the server's own.
func TestServeContinuesReruns(t *testing.T) {
	home := newHome(t)
	_, stop := start(t, newConsole(t, home.env, "serve", "--addr", "127.0.0.1:0"))
	defer stop()
	mood := func(version string) string { return writeFile(t, "mood.yaml", moodJudge(version)) }
	mustRun(t, exitOK, home.env, "import", "--project", "other", "--judges", mood("first"),
		writeFile(t, "t.jsonl", `{"id":"a","output":"x","judges":["mood"]}`+"\n"+`{"id":"b","output":"y","judges":["mood"]}`))
	waitAll(t, home, "other", 2)
	c := mustRun(t, exitOK, home.env, "rerun", "--project", "other", "--judge", "mood", "--judges", mood("second"), "--yes")
	if got, want := c.messages.String(), "started: servers queue it"; !strings.Contains(got, want) {
		t.Errorf("messages %q, want %q in them", got, want)
	}
	versions := map[string]int{}
	for _, e := range waitAll(t, home, "other", 4) {
		versions[e.PromptVersion]++
	}
	if len(versions) != 2 {
		t.Errorf("evaluations by version: %v, want two of each of two", versions)
	}
}
