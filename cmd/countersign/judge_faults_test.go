package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/openai/fakeendpoint"
	"github.com/countersign/countersign/store/storetest"
)

// mixedJudges are all six; each trace asks for two of them.
var mixedJudges = []string{builtin.Steps, builtin.Citations, builtin.Reference, builtin.Logic, builtin.StepsComparison, builtin.LogicSteps}

// mixedLines are n traces that differ, each with all that any judge needs.
func mixedLines(t testing.TB, n int) (lines string, asked [][2]string) {
	t.Helper()
	var b strings.Builder
	for i := range n {
		domain := []string{"math", "legal", "general"}[i%3]
		trace := map[string]any{
			"id": fmt.Sprintf("trace-%05d", i), "domain": domain, "question": fmt.Sprintf("What is %d and %d more?", i, i%7),
			"output":    fmt.Sprintf("1. There are %d to begin with [1].\n2. Then come %d more [2].\n3. So there are %d.", i, i%7, i+i%7),
			"reference": fmt.Sprintf("1. %d are there.\n2. %d are added.\n3. That makes %d.", i, i%7, i+i%7),
			"sources":   []map[string]string{{"id": "1", "text": fmt.Sprintf("To begin with there are %d.", i)}, {"id": "2", "text": fmt.Sprintf("There come %d more.", i%7)}},
		}
		judges := []string{mixedJudges[i%len(mixedJudges)], mixedJudges[(i+1)%len(mixedJudges)]}
		trace["judges"] = judges
		for _, j := range judges {
			asked = append(asked, [2]string{fmt.Sprintf("trace-%05d", i), j})
		}
		line, err := json.Marshal(trace)
		if err != nil {
			t.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	return b.String(), asked
}

// fakeModel starts an endpoint that answers each trace with a report that fits.
func fakeModel(t testing.TB, c fakeendpoint.Config) (*fakeendpoint.Endpoint, *httptest.Server) {
	t.Helper()
	e := fakeendpoint.New(c)
	server := httptest.NewServer(e)
	t.Cleanup(server.Close)
	return e, server
}

// allFaults is everything that endpoints do, at once.
var allFaults = fakeendpoint.Config{
	Latency: 2 * time.Millisecond, Seed: 4, Opinions: fakeendpoint.Opinions{Fair: 0.2, Bad: 0.1},
	Faults: fakeendpoint.Faults{
		RateLimited: 0.08, RetryAfter: 5 * time.Millisecond, ServerError: 0.04, Cut: 0.04,
		Malformed: 0.3, Inconsistent: 0.05, Refused: 0.03, CutShort: 0.02, Slow: 0.1, SlowFor: 30 * time.Millisecond,
	},
}

// endpointEnv is an environment in which the endpoint judges.
func endpointEnv(server *httptest.Server) map[string]string {
	return map[string]string{
		"OPENAI_API_KEY": "sk-test", "OPENAI_BASE_URL": server.URL + "/v1", "COUNTERSIGN_MODEL": "grader",
		"COUNTERSIGN_SESSION_KEY": "the key of this test",
	}
}

// ended runs the program as a process of its own and gives its exit code.
func ended(t *testing.T, env map[string]string, args ...string) (code int, said string) {
	t.Helper()
	p := startChild(t, env, nil, args...)
	err := p.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode(), <-p.said
}

// checkEnded: each evaluation that was asked for is there once, in the order
// that was asked, accepted or in review; what the endpoint answered is what the
// attempts count, and nothing was answered twice.
func checkEnded(t *testing.T, e *fakeendpoint.Endpoint, asked [][2]string, got []judge.Evaluation) {
	t.Helper()
	var found [][2]string
	attempts := 0
	for _, v := range got {
		found = append(found, [2]string{v.TraceID, v.Judge})
		attempts += v.Attempts
		if v.Status != judge.Accepted && v.Status != judge.InReview {
			t.Errorf("trace %s, judge %s: status %s", v.TraceID, v.Judge, v.Status)
		}
		if none := string(v.Report) == "null"; none != (v.Score == nil) || (none && v.Status != judge.InReview) {
			t.Errorf("trace %s, judge %s: score %v, status %s, report %s", v.TraceID, v.Judge, v.Score, v.Status, v.Report)
		}
	}
	if diff := cmp.Diff(asked, found); diff != "" {
		t.Errorf("evaluations (-asked +found):\n%s", diff)
	}
	s := e.Stats()
	if attempts != s.Answered || s.AnsweredTwice != 0 {
		t.Errorf("%d attempts; the endpoint answered %d calls, %d conversations twice or more: %+v", attempts, s.Answered, s.AnsweredTwice, s)
	}
}

// TestJudgeFaults: whatever the endpoint does, `countersign judge` loses no
// trace, judges none twice and pays for no call twice.
func TestJudgeFaults(t *testing.T) {
	n := sizeFrom(t, "COUNTERSIGN_TEST_FAULTS", 150)
	lines, asked := mixedLines(t, n)
	model, server := fakeModel(t, allFaults)
	model.Storm(20)
	out := filepath.Join(t.TempDir(), "out.jsonl")
	code, said := ended(t, endpointEnv(server), "judge", "--concurrency", "48", "--out", out, writeFile(t, "t.jsonl", lines))
	if code != exitOK && code != exitFailed {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	checkEnded(t, model, asked, evaluations(t, string(text)))
	if s := model.Stats(); s.RateLimited < 20 || s.ServerErrors == 0 || s.Cut == 0 || s.Malformed == 0 || s.Refused == 0 {
		t.Errorf("the endpoint did not do everything: %+v", s)
	}
}

// TestJudgeStorm: a storm of 429 costs waiting and no work.
func TestJudgeStorm(t *testing.T) {
	lines, asked := mixedLines(t, 60)
	model, server := fakeModel(t, fakeendpoint.Config{Faults: fakeendpoint.Faults{RetryAfter: 50 * time.Millisecond}})
	model.Storm(30)
	out := filepath.Join(t.TempDir(), "out.jsonl")
	code, said := ended(t, endpointEnv(server), "judge", "--concurrency", "24", "--out", out, writeFile(t, "t.jsonl", lines))
	if code != exitOK {
		t.Fatalf("exit code %d, want %d\n%s", code, exitOK, said)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	checkEnded(t, model, asked, evaluations(t, string(text)))
}

// TestWaitsAreTold: whichever command judges says that the endpoint asks it to wait,
// and not that it does not answer.
func TestWaitsAreTold(t *testing.T) {
	text, _ := mixedLines(t, 4) // so that fewer calls can be on their way than the storm turns away
	for _, command := range []string{"judge", "import"} {
		t.Run(command, func(t *testing.T) {
			model, server := fakeModel(t, fakeendpoint.Config{Faults: fakeendpoint.Faults{RetryAfter: 20 * time.Millisecond}})
			model.Storm(12)
			env := endpointEnv(server)
			args := []string{"judge", "--concurrency", "8", writeFile(t, "t.jsonl", text)}
			if command == "import" {
				maps.Copy(env, newHome(t).env)
				args = append([]string{"import", "--judge"}, args[1:]...)
			}
			code, said := ended(t, env, args...) // by a clock that goes on
			if code != exitOK {
				t.Fatalf("exit code %d\n%s", code, said)
			}
			if want := " · " + strings.TrimPrefix(server.URL, "http://") + " asks to wait (429) for "; !strings.Contains(said, want) || strings.Contains(said, "does not answer") {
				t.Errorf("messages %q, want %q in them", said, want)
			}
		})
	}
}

// TestImportFaults is TestJudgeFaults in a project: everything is accepted or
// waits for a person, once, with every attempt that was paid for.
func TestImportFaults(t *testing.T) {
	n := sizeFrom(t, "COUNTERSIGN_TEST_FAULTS", 100)
	lines, asked := mixedLines(t, n)
	h := newHome(t)
	model, server := fakeModel(t, allFaults)
	model.Storm(10)
	env := endpointEnv(server)
	for name, value := range h.env {
		env[name] = value
	}
	code, said := ended(t, env, "import", "--judge", "--concurrency", "32", writeFile(t, "t.jsonl", lines))
	if code != exitOK {
		t.Fatalf("exit code %d\n%s", code, said)
	}
	db := storetest.Raw(t, h.address)
	states := map[string]int{}
	for _, r := range rowsOf(t, db, evaluationStates) {
		states[r[1]]++
	}
	if got := states["accepted"] + states["in_review"]; got != len(asked) || len(states) != 2 {
		t.Errorf("evaluations %v, want %d, accepted and in review", states, len(asked))
	}
	for _, r := range rowsOf(t, db, `SELECT e.id, e.status FROM evaluations e WHERE (e.status = 'in_review') <>
EXISTS (SELECT 1 FROM reviews r WHERE r.evaluation_id = e.id)`) {
		t.Errorf("evaluation %s is %s and its place in the queue does not fit", r[0], r[1])
	}
	kept := rowsOf(t, db, `SELECT evaluation_id, CAST(number AS TEXT) FROM attempts`)
	if s := model.Stats(); len(kept) != s.Answered || s.AnsweredTwice != 0 {
		t.Errorf("%d attempts are kept; the endpoint answered %d calls, %d conversations twice or more: %+v", len(kept), s.Answered, s.AnsweredTwice, s)
	}
	if left := rowsOf(t, db, `SELECT evaluation, call FROM kept_replies`); len(left) != 0 {
		t.Errorf("%d kept replies are left over", len(left))
	}
	mustRun(t, exitOK, h.env, "audit", "verify")
}
