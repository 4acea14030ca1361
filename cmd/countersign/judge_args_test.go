package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge/openai/fakeendpoint"
	"github.com/countersign/countersign/store/storetest"
)

// TestJudgeGoesOnWithWhatItBegan: an unfinished run is not gone on with otherwise
// than it began; nothing of it is lost by trying, and what only adds to it may.
func TestJudgeGoesOnWithWhatItBegan(t *testing.T) {
	own := func(question string) string {
		return "name: mood\ninputs: {output: required}\nprompt: |\n  [CANDIDATE_OUTPUT]\n  " + question +
			"\nschema: {type: object, required: [mood], properties: {mood: {enum: [good, bad]}}}\nreport: {label: /mood}\n" +
			"labels:\n  - {name: good, verdict: pass}\n  - {name: bad, verdict: fail}\n"
	}
	mood, gloom := writeFile(t, "mood.yaml", own("Is it glad?")), writeFile(t, "mood.yaml", own("Is it sad?"))
	policy := writeFile(t, "policy.yaml", "due_hours: {high: 1, standard: 2}\n")
	config := writeFile(t, "countersign.yaml", "prices: {one: {prompt_usd: 100, completion_usd: 100}, two: {prompt_usd: 100, completion_usd: 100}}\n")
	text, _ := mixedLines(t, 12)
	file := writeFile(t, "t.jsonl", text)
	_, server := fakeModel(t, fakeendpoint.Config{})
	began := []string{"--model", "one", "--judge", "steps", "--judge", "logic", "--judges", mood, "--samples", "2"}
	for name, c := range map[string]struct {
		args []string
		env  map[string]string
		want string // empty: it goes on
	}{
		"the same":         {args: began},
		"one judge more":   {args: append([]string{"--judge", "reference"}, began...)},
		"one model more":   {args: append(began[:len(began):len(began)], "--model", "two")},
		"a judge less":     {args: []string{"--model", "one", "--judge", "steps", "--judges", mood, "--samples", "2"}, want: "--judge was steps, logic and is steps now"},
		"no judge":         {args: []string{"--model", "one", "--judges", mood, "--samples", "2"}, want: "--judge was steps, logic and is not given now"},
		"another model":    {args: []string{"--model", "two", "--judge", "steps", "--judge", "logic", "--judges", mood, "--samples", "2"}, want: "--model was one and is two now"},
		"other samples":    {args: []string{"--model", "one", "--judge", "steps", "--judge", "logic", "--judges", mood}, want: "--samples was 2 and is not given now"},
		"another engine":   {args: []string{"--engine", "rules", "--judge", "steps", "--judge", "logic", "--judges", mood}, want: "--engine was openai and is rules now"},
		"another run":      {args: append([]string{"--run", "r"}, began...), want: "--run was not given and is r now"},
		"another place":    {args: began, env: map[string]string{"OPENAI_BASE_URL": server.URL + "/v2?key=secret"}, want: "--base-url was " + server.URL + "/v1 and is " + server.URL + "/v2 now"},
		"a policy":         {args: append([]string{"--policy", policy}, began...), want: "--policy was not given and is "},
		"an attempts file": {args: append([]string{"--attempts", "a.jsonl"}, began...), want: "--attempts was not given and is "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			env := endpointEnv(server)
			env["COUNTERSIGN_CONFIG"] = config
			delete(env, "COUNTERSIGN_MODEL")
			args := append([]string{"judge", "--out", "out.jsonl", "--concurrency", "1"}, began...)
			mustRun(t, exitFailed, env, append(args, "--budget", "6", file)...)
			before := filesBeside(t, "out.jsonl")
			if len(before["out.jsonl.part"]) == 0 || before["out.jsonl.args"] == "" || strings.Contains(before["out.jsonl.args"], "sk-test") {
				t.Fatalf("left behind: %d bytes of evaluations, arguments %s", len(before["out.jsonl.part"]), before["out.jsonl.args"])
			}
			maps.Copy(env, c.env)
			got := newConsole(t, env, append(append([]string{"judge", "--out", "out.jsonl"}, c.args...), file)...)
			code := got.run(t.Context())
			if c.want == "" {
				if code != exitOK {
					t.Fatalf("exit code %d\n%s", code, got.messages.String())
				}
				nothingLeft(t, "out.jsonl")
				said := got.messages.String()
				total := strings.Count(readFile(t, "out.jsonl"), "\n")
				kept := strings.Count(before["out.jsonl.part"], "\n")
				if want := fmt.Sprintf("12 traces, %d evaluations: ", total); !strings.Contains(said, want) || !strings.Contains(said, fmt.Sprintf("; %d of them there from before", kept)) {
					t.Errorf("messages %q, want %q and %d from before", said, want, kept)
				}
				return
			}
			if code != exitUsage || !strings.Contains(got.messages.String(), c.want) || !strings.Contains(got.messages.String(), "another file with --out") || strings.Contains(got.messages.String(), "secret") {
				t.Errorf("exit code %d, messages %q; want %q in them", code, got.messages.String(), c.want)
			}
			if diff := cmp.Diff(before, filesBeside(t, "out.jsonl")); diff != "" {
				t.Errorf("what was left of the run changed (-before +after):\n%s", diff)
			}
		})
	}
	t.Run("another definition of an own judge", func(t *testing.T) {
		t.Chdir(t.TempDir())
		if err := writePart("out.jsonl", "{\"evaluation_id\":\"x\"}\n"); err != nil {
			t.Fatal(err)
		}
		record, err := json.Marshal(runArguments{Judges: map[string]string{"mood": strings.Repeat("0", 64), "gone": strings.Repeat("1", 64)}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("out.jsonl.args", record, 0o600); err != nil {
			t.Fatal(err)
		}
		got := mustRun(t, exitUsage, nil, "judge", "--out", "out.jsonl", "--judges", gloom, file).messages.String()
		for _, want := range []string{"judge mood was version 000000000000 and is ", "judge gone was known and is not now"} {
			if !strings.Contains(got, want) {
				t.Errorf("messages %q, want %q in them", got, want)
			}
		}
	})
}

// filesBeside are the files beside an output, with what is in them.
func filesBeside(t *testing.T, out string) map[string]string {
	t.Helper()
	files := map[string]string{}
	paths, err := filepath.Glob(out + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		files[path] = readFile(t, path)
	}
	return files
}

// TestJudgeMisdirected: an address that answers with pages ends the run at once,
// says what came and what to do, and leaves nothing that keeps the right address
// from being used.
func TestJudgeMisdirected(t *testing.T) {
	model, server := fakeModel(t, fakeendpoint.Config{})
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v1/") {
			server.Config.Handler.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write([]byte("<!doctype html><title>A friendly front page</title>")) // to a caller that may be gone
	}))
	t.Cleanup(pages.Close)
	text, asked := mixedLines(t, 30)
	file := writeFile(t, "t.jsonl", text)
	wants := []string{"no model endpoint", "text/html", "A friendly front page", "lacks /v1"}

	env := endpointEnv(pages)
	env["OPENAI_BASE_URL"] = pages.URL
	out := filepath.Join(t.TempDir(), "out.jsonl")
	c := mustRun(t, exitUsage, maps.Clone(env), "judge", "--out", out, file)
	for _, want := range wants {
		if got := c.messages.String(); !strings.Contains(got, want) || strings.Contains(got, "sk-test") {
			t.Errorf("messages %q, want %q in them", got, want)
		}
	}
	nothingLeft(t, out)
	env["OPENAI_BASE_URL"] = pages.URL + "/v1"
	mustRun(t, exitOK, maps.Clone(env), "judge", "--out", out, file)
	checkEnded(t, model, asked, evaluations(t, readFile(t, out)))

	h := newHome(t)
	maps.Copy(env, h.env)
	env["OPENAI_BASE_URL"] = pages.URL
	c = mustRun(t, exitFailed, maps.Clone(env), "import", "--judge", file)
	for _, want := range append(wants, "waits for an endpoint") {
		if got := c.messages.String(); !strings.Contains(got, want) {
			t.Errorf("messages %q, want %q in them", got, want)
		}
	}
	states := map[string]int{}
	for _, r := range rowsOf(t, storetest.Raw(t, h.address), evaluationStates) {
		states[r[1]]++
	}
	if states["queued"] != len(asked) {
		t.Errorf("evaluations %v, want %d queued", states, len(asked))
	}
	env["OPENAI_BASE_URL"] = pages.URL + "/v1"
	mustRun(t, exitOK, maps.Clone(env), "import", "--judge", file)
}

// TestNothingIsSentElsewhere: what a policy does not name is not even connected
// to, by a command without a project and by one with.
func TestNothingIsSentElsewhere(t *testing.T) {
	model := fakeendpoint.New(fakeendpoint.Config{})
	server := httptest.NewUnstartedServer(model)
	var connections atomic.Int64
	server.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			connections.Add(1)
		}
	}
	server.Start()
	t.Cleanup(server.Close)
	host := strings.TrimPrefix(server.URL, "http://")
	text, asked := mixedLines(t, 12)
	file := writeFile(t, "t.jsonl", text)
	medical := `{"id":"m","domain":"medical","output":"1. a\n2. b","question":"?","reference":"1. c\n2. d","judges":["steps"]}` + "\n"
	for name, c := range map[string]struct {
		policy, traces   string
		refused, answers int
	}{
		"nowhere":               {"endpoints: []\n", text, len(asked), 0},
		"another one":           {"endpoints: [api.example.org]\n", text, len(asked), 0},
		"another for a domain":  {"rules: [{domain: medical, endpoints: [ward-7]}]\n", medical, 1, 0},
		"another for a judge":   {"rules: [{judge: steps, endpoints: []}]\n", medical, 1, 0},
		"this one":              {"endpoints: [" + host + "]\n", medical, 0, 1},
		"this one for a domain": {"endpoints: []\nrules: [{domain: medical, endpoints: [" + host + "]}]\n", medical, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			before, answered := connections.Load(), model.Stats().Answered
			policy, traces := writeFile(t, "policy.yaml", c.policy), writeFile(t, "t.jsonl", c.traces)
			got := mustRun(t, exitOK, endpointEnv(server), "judge", "--policy", policy, traces)
			refused := 0
			for _, e := range evaluations(t, got.out.String()) {
				if e.RefusedField == "endpoint" {
					refused++
				}
			}
			if refused != c.refused || model.Stats().Answered-answered < c.answers || (c.answers == 0 && connections.Load() != before) {
				t.Errorf("%d refused, %d connections; want %d refused, and connections only for answers (%d)", refused, connections.Load()-before, c.refused, c.answers)
			}
			server.CloseClientConnections()
		})
	}

	h := newHome(t)
	env := endpointEnv(server)
	maps.Copy(env, h.env)
	before := connections.Load()
	mustRun(t, exitOK, maps.Clone(env), "import", file) // queued while every endpoint may be asked
	mustRun(t, exitOK, maps.Clone(env), "policy", "set", writeFile(t, "policy.yaml", "endpoints: [ward-7]\n"))
	got := mustRun(t, exitOK, maps.Clone(env), "import", "--judge", writeFile(t, "t2.jsonl", medical))
	if connections.Load() != before || !strings.Contains(got.out.String(), "1 refused for where it would go") {
		t.Errorf("%d connections to an endpoint that the policy does not name\n%s", connections.Load()-before, got.out.String())
	}
	states := map[string]int{}
	for _, r := range rowsOf(t, storetest.Raw(t, h.address), evaluationStates) {
		states[r[1]]++
	}
	if states["refused"] != len(asked)+1 {
		t.Errorf("evaluations %v, want %d refused", states, len(asked)+1)
	}
}
