package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// moodJudge is a definition whose description makes it another version.
func moodJudge(version string) string {
	return `name: mood
description: ` + version + `
inputs: {output: required}
prompt: "` + version + ` [CANDIDATE_OUTPUT]"
schema: {type: object, required: [mood], properties: {mood: {enum: [good, bad]}}}
report: {label: /mood}
labels: [{name: good, verdict: pass}, {name: bad, verdict: fail}]
`
}

// TestServeKnowsNewJudges: a running server takes judges that were imported
// after it started, plans with their newest version, and judges what was
// planned with an older version by that one.
func TestServeKnowsNewJudges(t *testing.T) {
	home := newHome(t)
	mustRun(t, exitOK, home.env, "user", "add", "lea@example.org", "--role", "lead")
	token := strings.TrimSpace(mustRun(t, exitOK, home.env, "token", "create", "--user", "lea@example.org").out.String())
	c := newConsole(t, home.env, "serve", "--addr", "127.0.0.1:0")
	address, stop := start(t, c)
	defer stop()
	call := func(method, path, body string) (int, string) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, address+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(answer)
	}
	trace := func(id string) string { return `{"id":"` + id + `","output":"hurray","judges":["mood"]}` }

	if status, answer := call(http.MethodPost, "/api/v1/traces", trace("too-early")); status != http.StatusUnprocessableEntity {
		t.Fatalf("an unknown judge: %d %s", status, answer)
	}
	versions := map[string]string{}
	for _, name := range []string{"first", "second"} {
		file := writeFile(t, name+".jsonl", trace("by-command-"+name))
		mustRun(t, exitOK, home.env, "import", "--judges", writeFile(t, "mood.yaml", moodJudge(name)), file)
		if status, answer := call(http.MethodPost, "/api/v1/traces", trace("by-api-"+name)); status != http.StatusAccepted {
			t.Fatalf("%s: %d %s", name, status, answer)
		}
		for _, by := range []string{"by-command-", "by-api-"} {
			version := waitJudged(t, call, by+name)
			if before, ok := versions[name]; ok && before != version {
				t.Errorf("%s%s was judged by version %s, want %s", by, name, version, before)
			}
			versions[name] = version
		}
	}
	if versions["first"] == versions["second"] {
		t.Errorf("both definitions have version %s", versions["first"])
	}
}

// waitJudged gives the prompt version that a trace was judged with.
func waitJudged(t *testing.T, call func(method, path, body string) (int, string), id string) string {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		_, answer := call(http.MethodGet, "/api/v1/evaluations?trace="+id, "")
		var list struct {
			Evaluations []struct {
				Status        string
				PromptVersion string `json:"prompt_version"`
			}
		}
		if err := json.NewDecoder(bytes.NewReader([]byte(answer))).Decode(&list); err != nil {
			t.Fatalf("%v: %s", err, answer)
		}
		if len(list.Evaluations) == 1 && list.Evaluations[0].Status == "in_review" {
			return list.Evaluations[0].PromptVersion
		}
	}
	t.Fatalf("%s was not judged within 30 s", id)
	return ""
}

// TestShippedDefinition: the example that the README points at is one.
func TestShippedDefinition(t *testing.T) {
	out := mustRun(t, exitOK, nil, "judges", "validate", "../../docs/own-judge.yaml", "../../docs/own-judge-folder").out.String()
	if !strings.Contains(out, "answer-equivalence") || !strings.Contains(out, "statement-entailment") {
		t.Errorf("validate says %q", out)
	}
}
