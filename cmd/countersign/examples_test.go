package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// settleAll lets a new lead give labels to what waits, by trace.
func settleAll(t *testing.T, home home, lead string, labels map[string]string) {
	t.Helper()
	db := home.open(t)
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	u, err := db.CreateUser(t.Context(), store.Operator("test"), store.NewUser{Email: lead + "@example.org", Name: lead, Role: store.Lead})
	if err != nil {
		t.Fatal(err)
	}
	lea := u.Actor()
	items, _, err := db.ListQueue(t.Context(), lea, store.QueueFilter{Project: store.DefaultProject})
	if err != nil {
		t.Fatal(err)
	}
	for _, item := range items {
		label, wanted := labels[item.TraceID]
		if !wanted {
			continue
		}
		if _, err := db.ClaimReview(t.Context(), lea, item.ReviewID); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Decide(t.Context(), lea, item.ReviewID, store.DecisionInput{Action: store.Override, Label: label, ReasonCode: "judge_wrong", Comment: "no"}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDrawnExamples: labels that people gave become examples of the judge's prompt
// when the policy asks. A trace that is one is judged without them, a refresh makes
// another version, and what was judged before is replayed as it was.
func TestDrawnExamples(t *testing.T) {
	home := newHome(t)
	var mu sync.Mutex
	prompts := map[string]string{} // by a word of the candidate
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		mu.Lock()
		for _, word := range []string{"newcomer", "copycat", "latecomer"} {
			if strings.Contains(string(body), word) {
				prompts[word] = string(body)
			}
		}
		mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		content, err := json.Marshal(equivalent)
		if err != nil {
			t.Error(err)
		}
		fmt.Fprintf(w, `{"id":"1","object":"chat.completion","created":1,"model":"grader","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`, content)
	}))
	defer server.Close()
	model := map[string]string{"OPENAI_API_KEY": "sk-of-this-test", "OPENAI_BASE_URL": server.URL + "/v1"}
	for k, v := range home.env {
		model[k] = v
	}
	trace := func(id, output, more string) string {
		return `{"id":"` + id + `","output":"` + output + `","reference":"the contract ends in May ` + id + `","judges":["reference"]` + more + `}` + "\n"
	}
	byModel := func(name, lines string) {
		t.Helper()
		mustRun(t, exitOK, model, "import", "--judge", "--model", "grader", writeFile(t, name, lines))
	}
	mustRun(t, exitOK, home.env, "policy", "set", writeFile(t, "p0.yaml", "blind: {mode: never}\naudit: {random: 0, boundary: 0}\n"))
	mustRun(t, exitOK, home.env, "import", "--judge", "--engine", "rules", writeFile(t, "a.jsonl",
		trace("one", "Spring sees the contract end, in its third month", `,"cluster":"k"`)+trace("two", "It ends, as far as I know, some day", "")+trace("three", "The contract runs on and on", "")))
	settleAll(t, home, "lea", map[string]string{"one": "semantic_equivalent"})
	asked := writeFile(t, "p1.yaml", "blind: {mode: never}\naudit: {random: 0, boundary: 0}\nrules:\n  - {judge: reference, examples: {from: confirmed, count: 3, seed: 4}}\n")
	if told := mustRun(t, exitOK, home.env, "policy", "set", asked).messages.String(); !strings.Contains(told, "judge reference keeps its own examples") {
		t.Errorf("one label is too few, and the command says %s", told)
	}
	settleAll(t, home, "luis", map[string]string{"two": "substantive_difference"})
	if told := mustRun(t, exitOK, home.env, "policy", "refresh-examples").messages.String(); !strings.Contains(told, "one (semantic_equivalent)") || !strings.Contains(told, "two (substantive_difference)") {
		t.Errorf("drawn: %s", told)
	}
	byModel("b.jsonl", trace("fresh", "newcomer: in May", "")+trace("sibling", "copycat: in May as well", `,"cluster":"k"`))

	plain := builtinNamed(t, "reference").PromptVersion
	byTrace := func() map[string]judge.Evaluation {
		found := map[string]judge.Evaluation{}
		for _, e := range exported(t, home, store.DefaultProject) {
			if e.Engine == judge.EngineOpenAI {
				found[e.TraceID] = e
			}
		}
		return found
	}
	first := byTrace()
	if v := first["fresh"].PromptVersion; v == plain || v == "" {
		t.Errorf("fresh was judged by version %q, want one with drawn examples", v)
	}
	if v := first["sibling"].PromptVersion; v != plain {
		t.Errorf("a trace of an example's cluster was judged by version %q, want %q", v, plain)
	}
	const text, own = "Spring sees the contract end", "The refund is 40 euros"
	for word, drawn := range map[string]bool{"newcomer": true, "copycat": false} {
		if strings.Contains(prompts[word], text) != drawn || strings.Contains(prompts[word], own) == drawn {
			t.Errorf("%s: drawn examples in the prompt: %v\n%s", word, !drawn, prompts[word])
		}
	}

	if told := mustRun(t, exitOK, home.env, "policy", "refresh-examples").messages.String(); !strings.Contains(told, "nothing was changed") {
		t.Errorf("a refresh with nothing new says %s", told)
	}
	settleAll(t, home, "lin", map[string]string{"three": "acceptable_variation"})
	mustRun(t, exitOK, home.env, "policy", "refresh-examples", "--comment", "a third class")
	byModel("c.jsonl", trace("late", "latecomer: in May", ""))
	now := byTrace()
	if v := now["late"].PromptVersion; v == plain || v == first["fresh"].PromptVersion || !strings.Contains(prompts["latecomer"], "The contract runs on and on") {
		t.Errorf("after a refresh version %q judged, before %q", v, first["fresh"].PromptVersion)
	}
	server.Close()
	for _, id := range []string{"fresh", "sibling", "late"} {
		if got := mustRun(t, exitOK, home.env, "audit", "replay", now[id].ID).out.String(); !strings.HasPrefix(got, "the same again") {
			t.Errorf("%s: %s", id, got)
		}
	}
	mustRun(t, exitOK, home.env, "policy", "set", writeFile(t, "p2.yaml", "blind: {mode: never}\n"))
	mustRun(t, exitOK, home.env, "audit", "replay", now["fresh"].ID)
	mustRun(t, exitUsage, home.env, "policy", "refresh-examples")
}
