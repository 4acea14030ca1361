package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/countersign/countersign/store"
)

const different = `{"similarity_score":0.1,"equivalence_class":"substantive_difference","partial_credit":0,"rationale":"not the same","key_differences":["x"],"critical_error_count":9}`

// labelled are traces that differ, each with a known label.
func labelled(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"t%02d","output":"it is %d","reference":"%d is what it is","judges":["reference"],"labels":[{"judge":"reference","verdict":"pass","reviewer":"panel","adjudicated":true}]}`+"\n", i, i, i)
	}
	return b.String()
}

// TestSentinelSetIsJudgedAgain: on schedule, within its budget, taken up where it
// stopped, beside the work and not as part of it; and a judge that changed is found.
func TestSentinelSetIsJudgedAgain(t *testing.T) {
	home := newHome(t)
	var reply atomic.Value
	reply.Store(equivalent)
	server, calls := endpoint(t, func(int64) (int, string) { return http.StatusOK, reply.Load().(string) })
	home.env["OPENAI_API_KEY"], home.env["OPENAI_BASE_URL"], home.env["COUNTERSIGN_MODEL"] = "sk-of-this-test", server.URL+"/v1", "grader"
	config := writeFile(t, "countersign.yaml", "prices:\n  grader: {prompt_usd: 10, completion_usd: 100}\n")
	program := func(args ...string) []string { return append([]string{"--config", config}, args...) }
	mustRun(t, exitOK, home.env, program("import", "--judge", "--run", "golden", writeFile(t, "t.jsonl", labelled(24)))...)
	before := len(exported(t, home, store.DefaultProject))
	first := calls.Load()

	mustRun(t, exitUsage, home.env, program("drift", "sentinel")...)
	c := mustRun(t, exitUsage, home.env, program("drift", "sentinel", "--judge", "reference", "--run", "none")...)
	if !strings.Contains(c.messages.String(), "none") {
		t.Errorf("an unknown run: %s", c.messages)
	}
	// A call can cost some $0.41 at most and costs $0.002: a budget of half a dollar ends
	// before it is passed.
	sentinel := func(day int, args ...string) string {
		t.Helper()
		c := newConsole(t, home.env, program(append([]string{"drift", "sentinel", "--judge", "reference", "--run", "golden", "--at-once"}, args...)...)...)
		c.now = func() time.Time { return time.Date(2026, 5, 1+day, 9, 30, 0, 0, time.UTC) }
		if code := c.run(t.Context()); code != exitOK {
			t.Fatalf("day %d: exit code %d: %s", day, code, c.messages)
		}
		return c.messages.String()
	}
	if said := sentinel(0, "--budget", "0.01"); !strings.Contains(said, "round 1 by grader: 0 judged, 0 without a verdict, $0.0000: the budget has no room") || calls.Load() != first {
		t.Errorf("a budget without room: %s", said)
	}
	if said := sentinel(0, "--every", "7"); !strings.Contains(said, "24 labelled traces of run golden") || !strings.Contains(said, "round 1 by grader: 24 judged, 0 without a verdict, $0.0480") {
		t.Errorf("the first round: %s", said)
	}
	if n := calls.Load() - first; n != 24 {
		t.Errorf("%d calls for 24 traces", n)
	}
	due := func(day int) {
		t.Helper()
		c := newConsole(t, home.env, program("drift", "sentinel", "--at-once")...)
		c.now = func() time.Time { return time.Date(2026, 5, 1+day, 9, 30, 0, 0, time.UTC) }
		if code := c.run(t.Context()); code != exitOK {
			t.Fatalf("day %d: exit code %d: %s", day, code, c.messages)
		}
	}
	due(6)
	if n := calls.Load() - first; n != 24 {
		t.Errorf("%d calls before the set is due again", n)
	}
	due(7)
	reply.Store(different)
	due(14)
	if n := calls.Load() - first; n != 72 {
		t.Errorf("%d calls in three rounds of 24", n)
	}
	c = newConsole(t, home.env, program("drift", "--look", "--json")...)
	if code := c.run(t.Context()); code != exitOK {
		t.Fatalf("drift: %s", c.messages)
	}
	var watched []struct {
		Drift struct {
			Monitors []struct {
				Monitor  string
				Value    struct{ Value float64 }
				Baseline struct{ Value float64 }
				Alarm    bool
			}
			TestRetest struct{ Value float64 } `json:"test_retest"`
		}
	}
	if err := json.Unmarshal(c.out.Bytes(), &watched); err != nil {
		t.Fatal(err)
	}
	if len(watched) != 1 || len(watched[0].Drift.Monitors) != 1 {
		t.Fatalf("watched %s", c.out)
	}
	if m := watched[0].Drift.Monitors[0]; m.Monitor != "sentinel" || m.Value.Value != 0 || m.Baseline.Value != 1 || !m.Alarm || watched[0].Drift.TestRetest.Value != 0 {
		t.Errorf("the sentinel set: %s", c.out)
	}
	if !strings.Contains(c.messages.String(), "1 alarm opened") {
		t.Errorf("messages %s", c.messages)
	}
	if after := len(exported(t, home, store.DefaultProject)); after != before {
		t.Errorf("%d evaluations, before %d: repeats are none", after, before)
	}
	mustRun(t, exitOK, home.env, "audit", "verify", "--deep")
}

// TestSentinelRoundOfLostServers: of a round that stopped in the middle the rest is
// judged once, also by several at a time.
func TestSentinelRoundOfLostServers(t *testing.T) {
	home := newHome(t)
	var stopAt atomic.Int64
	stopped, stop := context.WithCancel(t.Context())
	server, calls := endpoint(t, func(call int64) (int, string) {
		if call == stopAt.Load() {
			stop()
		}
		return http.StatusOK, equivalent
	})
	home.env["OPENAI_API_KEY"], home.env["OPENAI_BASE_URL"], home.env["COUNTERSIGN_MODEL"] = "sk-of-this-test", server.URL+"/v1", "grader"
	mustRun(t, exitOK, home.env, "import", "--judge", "--run", "golden", writeFile(t, "t.jsonl", labelled(30)))
	mustRun(t, exitOK, home.env, "drift", "sentinel", "--judge", "reference", "--run", "golden")
	first := calls.Load()
	stopAt.Store(first + 10)
	if code := newConsole(t, home.env, "drift", "sentinel", "--at-once").run(stopped); code != exitInterrupted {
		t.Errorf("stopped with %d", code)
	}
	if n := calls.Load() - first; n != 10 {
		t.Errorf("%d calls until it was stopped", n)
	}
	ended := make(chan int, 3)
	for range 3 {
		go func() { ended <- newConsole(t, home.env, "drift", "sentinel", "--at-once").run(t.Context()) }()
	}
	for range 3 {
		if code := <-ended; code != exitOK {
			t.Errorf("exit code %d", code)
		}
	}
	// The call that was under way may have brought no reply that could be kept.
	if n := calls.Load() - first; n < 30 || n > 31 {
		t.Errorf("%d calls for 30 traces", n)
	}
	c := newConsole(t, home.env, "drift", "sentinel", "--judge", "reference", "--run", "golden", "--every", "0")
	if code := c.run(t.Context()); code != exitOK {
		t.Fatal(c.messages)
	}
	db := home.open(t)
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if w, err := db.TakeRound(t.Context(), []string{"openai", "rules"}); w != nil || err != nil {
		t.Errorf("a round is left: %+v, %v", w, err)
	}
}
