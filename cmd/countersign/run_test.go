package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
)

// console is one run of the program in the test's own process.
type console struct {
	state
	out, messages *bytes.Buffer
}

// newConsole runs with nothing of the test's own environment.
func newConsole(t *testing.T, env map[string]string, args ...string) *console {
	t.Helper()
	c := &console{out: &bytes.Buffer{}, messages: &bytes.Buffer{}}
	c.state = state{
		args: args, stdin: strings.NewReader(""), stdout: c.out, stderr: c.messages,
		lookupEnv: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		now:       func() time.Time { return time.Date(2026, 5, 1, 9, 30, 0, 0, time.UTC) },
	}
	return c
}

func (c *console) run(ctx context.Context) int { return run(ctx, &c.state) }

// mustRun runs a command and fails the test unless it ends with this code.
func mustRun(t *testing.T, want int, env map[string]string, args ...string) *console {
	t.Helper()
	c := newConsole(t, env, args...)
	if got := c.run(t.Context()); got != want {
		t.Fatalf("countersign %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, want, c.out, c.messages)
	}
	return c
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// lines of traces that the reference judge can settle.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"id":"t%04d","output":"answer %d","reference":"answer %d","judges":["reference"]}`+"\n", i, i, i)
	}
	return b.String()
}

// TestJudgeIsRepeatable: the order is the file's whatever the concurrency, and
// a fixed clock leaves nothing that could differ.
func TestJudgeIsRepeatable(t *testing.T) {
	file := writeFile(t, "t.jsonl", lines(300))
	one := mustRun(t, exitOK, nil, "judge", "--concurrency", "1", file)
	many := mustRun(t, exitOK, nil, "judge", "--concurrency", "16", file)
	if diff := cmp.Diff(one.out.String(), many.out.String()); diff != "" {
		t.Errorf("one and 16 at once differ (-one +many):\n%s", diff)
	}
	if got, want := one.messages.String(), "300 traces, 300 evaluations: 300 accepted, 0 for review, 0 refused; 300 pass, "; !strings.HasPrefix(got, want) {
		t.Errorf("summary %q, want it to begin %q", got, want)
	}
}

// trickle gives a text and then waits for the end of the test, telling when
// all of it was taken.
type trickle struct {
	io.Reader
	taken chan struct{}
	end   <-chan struct{}
}

func (r *trickle) Read(b []byte) (int, error) {
	n, err := r.Reader.Read(b)
	if err == io.EOF {
		close(r.taken)
		<-r.end
	}
	return n, err
}

// TestImportInterrupted: what is stored stays, whole batches of it, and the
// same command goes on.
func TestImportInterrupted(t *testing.T) {
	home := newHome(t)
	ctx, interrupt := context.WithCancel(t.Context())
	c := newConsole(t, home.env, "import", "-")
	in := &trickle{Reader: strings.NewReader(lines(250)), taken: make(chan struct{}), end: t.Context().Done()}
	c.stdin = in
	go func() {
		<-in.taken
		time.Sleep(500 * time.Millisecond) // time to store what came; less of it only stores less
		interrupt()
	}()
	if got := c.run(ctx); got != exitInterrupted {
		t.Fatalf("exit code %d, want %d\n%s", got, exitInterrupted, c.messages)
	}
	if got, want := c.messages.String(), "countersign: stopped: what is done is kept, the same command goes on from here\n"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
	var stored int
	if _, err := fmt.Sscanf(c.out.String(), "%d traces:", &stored); err != nil || stored%batchTraces != 0 {
		t.Fatalf("summary %q: want a whole number of batches of %d", c.out, batchTraces)
	}
	again := mustRun(t, exitOK, home.env, "import", "--json", writeFile(t, "t.jsonl", lines(250)))
	var counts importCounts
	if err := json.Unmarshal(again.out.Bytes(), &counts); err != nil {
		t.Fatal(err)
	}
	want := importCounts{Traces: 250, Created: 250 - stored, Unchanged: stored, Evaluations: 250 - stored}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("second import (-want +got):\n%s", diff)
	}
	mustRun(t, exitOK, home.env, "audit", "verify")
}

// endpoint is an OpenAI-compatible server with the given answer.
func endpoint(t *testing.T, answer func(call int64) (status int, content string)) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var calls atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, content := answer(calls.Add(1))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if status != http.StatusOK {
			fmt.Fprintf(w, `{"error":{"message":%q,"type":"invalid_request_error"}}`, content)
			return
		}
		reply := map[string]any{
			"id": "1", "object": "chat.completion", "created": 1, "model": "grader-1",
			"choices": []any{map[string]any{"index": 0, "finish_reason": "stop", "message": map[string]any{"role": "assistant", "content": content}}},
			"usage":   map[string]any{"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
		}
		if err := json.NewEncoder(w).Encode(reply); err != nil {
			t.Error(err)
		}
	}))
	t.Cleanup(server.Close)
	return server, &calls
}

const equivalent = `{"similarity_score":0.9,"equivalence_class":"semantic_equivalent","partial_credit":0.95,"rationale":"the same","key_differences":[],"critical_error_count":0}`

func evaluations(t *testing.T, text string) []judge.Evaluation {
	t.Helper()
	var all []judge.Evaluation
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var e judge.Evaluation
		err := d.Decode(&e)
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, e)
	}
}

// TestJudgeByEndpoint: a key makes the endpoint the engine; prices come from
// the configuration; the key is in nothing that is written.
func TestJudgeByEndpoint(t *testing.T) {
	server, _ := endpoint(t, func(int64) (int, string) { return http.StatusOK, equivalent })
	config := writeFile(t, "countersign.yaml", "model: from-file\nprices:\n  grader: {prompt_usd: 10, completion_usd: 100}\n")
	const key = "sk-secret-of-this-test"
	env := map[string]string{"OPENAI_API_KEY": key, "OPENAI_BASE_URL": server.URL + "/v1", "COUNTERSIGN_MODEL": "grader"}
	file := writeFile(t, "t.jsonl", `{"id":"a","output":"it is four","reference":"four is what it is","judges":["reference"]}`)
	c := mustRun(t, exitOK, env, "--config", config, "judge", file)
	got := evaluations(t, c.out.String())
	if len(got) != 1 {
		t.Fatalf("%d evaluations, want 1", len(got))
	}
	e := got[0]
	if e.Engine != judge.EngineOpenAI || e.Model != "grader" || e.Verdict != judge.Pass || e.Label != "semantic_equivalent" {
		t.Errorf("evaluation by %s %s: %s %s, want a pass by openai grader", e.Engine, e.Model, e.Verdict, e.Label)
	}
	if got, want := e.CostUSD, 0.002; got < want-1e-9 || got > want+1e-9 {
		t.Errorf("cost %v, want %v", got, want)
	}
	if strings.Contains(c.out.String()+c.messages.String(), key) {
		t.Error("the key was written")
	}
}

// TestJudgeGoesOn: evaluations that failed are made again by the next run, and
// those that were made are not paid for twice.
func TestJudgeGoesOn(t *testing.T) {
	folder := t.TempDir()
	out := filepath.Join(folder, "out.jsonl")
	file := writeFile(t, "t.jsonl", `{"id":"a","output":"it is four","reference":"four is what it is","judges":["reference"]}
{"id":"b","output":"it is five","reference":"five is what it is","judges":["reference"]}
{"id":"c","output":"it is six","reference":"six is what it is","judges":["reference"]}`)
	server, calls := endpoint(t, func(call int64) (int, string) {
		if call == 2 {
			return http.StatusUnauthorized, "the key has no more credit"
		}
		return http.StatusOK, equivalent
	})
	env := map[string]string{"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": server.URL, "COUNTERSIGN_MODEL": "grader"}
	args := []string{"judge", "--concurrency", "1", "--out", out, file}

	// A run that was killed: one evaluation is whole, one failed, the last line
	// is cut off.
	first := mustRun(t, exitFailed, env, args...)
	if got, want := first.messages.String(), "1 evaluation could not be judged"; !strings.Contains(got, want) {
		t.Errorf("messages %q, want %q in them", got, want)
	}
	whole, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	written := strings.SplitAfter(string(whole), "\n")
	if err := os.Remove(out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(out+".part", []byte(written[0]+written[1]+written[2][:40]), 0o600); err != nil {
		t.Fatal(err)
	}

	before := calls.Load()
	second := mustRun(t, exitOK, env, args...)
	if got, want := calls.Load()-before, int64(2); got != want {
		t.Errorf("the second run made %d calls, want %d", got, want)
	}
	if got, want := second.messages.String(), "out.jsonl.part is of an earlier run: going on from there"; !strings.Contains(got, want) {
		t.Errorf("messages %q, want %q in them", got, want)
	}
	text, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range evaluations(t, string(text)) {
		ids = append(ids, e.TraceID)
		if e.Verdict != judge.Pass {
			t.Errorf("trace %s: verdict %q", e.TraceID, e.Verdict)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, ids); diff != "" {
		t.Errorf("evaluations (-want +got):\n%s", diff)
	}
	if left, _ := filepath.Glob(out + ".*"); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestJudgeInterrupted keeps what is made in the part file.
func TestJudgeInterrupted(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.jsonl")
	ctx, interrupt := context.WithCancel(t.Context())
	c := newConsole(t, nil, "judge", "--out", out, "-")
	in := &trickle{Reader: strings.NewReader(lines(20)), taken: make(chan struct{}), end: t.Context().Done()}
	c.stdin = in
	go func() {
		<-in.taken
		for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
			if text, _ := os.ReadFile(out + ".part"); bytes.Count(text, []byte("\n")) == 20 {
				break
			}
		}
		interrupt()
	}()
	if got := c.run(ctx); got != exitInterrupted {
		t.Fatalf("exit code %d, want %d\n%s", got, exitInterrupted, c.messages)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("the file of an interrupted run has the name of a whole one")
	}
	c = mustRun(t, exitOK, nil, "judge", "--out", out, writeFile(t, "t.jsonl", lines(30)))
	if got, want := c.messages.String(), "30 traces, 30 evaluations: "; !strings.Contains(got, want) || !strings.Contains(got, "20 of them there from before") {
		t.Errorf("messages %q, want %q in them", got, want)
	}
	text, err := os.ReadFile(out)
	if err != nil || bytes.Count(text, []byte("\n")) != 30 {
		t.Errorf("%d evaluations, error %v; want 30", bytes.Count(text, []byte("\n")), err)
	}
}

func TestPlural(t *testing.T) {
	for n, want := range map[int]string{0: "0 lines", 1: "1 line", 999: "999 lines", 1000: "1,000 lines", 1234567: "1,234,567 lines", -1200: "-1,200 lines"} {
		if got := plural(n, "line", "lines"); got != want {
			t.Errorf("plural(%d) = %q, want %q", n, got, want)
		}
	}
}
