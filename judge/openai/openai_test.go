package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/judge/openai"
)

const key = "sk-test-0123456789abcdef"

// endpoint is a scripted chat-completions server: each answer is used once, in
// turn, and every request is kept.
type endpoint struct {
	*httptest.Server
	mu       sync.Mutex
	answers  []func(http.ResponseWriter, *http.Request)
	requests []map[string]any
	headers  []http.Header
}

func newEndpoint(t *testing.T, answers ...func(http.ResponseWriter, *http.Request)) *endpoint {
	t.Helper()
	e := &endpoint{answers: answers}
	e.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var request map[string]any
		if err == nil {
			err = json.Unmarshal(body, &request)
		}
		if err != nil || r.URL.Path != "/v1/chat/completions" || r.Method != http.MethodPost {
			t.Errorf("request %s %s: %v", r.Method, r.URL.Path, err)
		}
		e.mu.Lock()
		e.requests = append(e.requests, request)
		e.headers = append(e.headers, r.Header.Clone())
		var answer func(http.ResponseWriter, *http.Request)
		if len(e.answers) > 0 {
			answer, e.answers = e.answers[0], e.answers[1:]
		}
		e.mu.Unlock()
		if answer == nil {
			t.Error("more requests than the script has answers")
			answer = fault(500, "script ended", "")
		}
		answer(w, r)
	}))
	t.Cleanup(e.Close)
	return e
}

func (e *endpoint) engine(t *testing.T, change func(*openai.Config)) *openai.Engine {
	t.Helper()
	c := openai.Config{BaseURL: e.URL + "/v1", APIKey: key, Timeout: 5 * time.Second}
	if change != nil {
		change(&c)
	}
	engine, err := openai.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return engine
}

func says(content string) func(http.ResponseWriter, *http.Request) {
	return finishes(content, "", "stop")
}

func finishes(content, refusal, finish string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		message := map[string]any{"role": "assistant", "content": content}
		if refusal != "" {
			message["content"], message["refusal"] = nil, refusal
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"id": "c", "object": "chat.completion", "created": 1, "model": "m-2026-01",
			"choices": []any{map[string]any{"index": 0, "finish_reason": finish, "message": message}},
			"usage":   map[string]any{"prompt_tokens": 1000, "completion_tokens": 200, "total_tokens": 1200},
		})
	}
}

func fault(status int, message, param string, headers ...string) func(http.ResponseWriter, *http.Request) {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]any{"error": map[string]any{"message": message, "type": "t", "param": param, "code": "c"}})
	}
}

func params() judge.Params {
	seed := int64(1)
	return judge.Params{Model: "m", MaxTokens: 4096, Seed: &seed, SchemaName: "citations",
		Schema: json.RawMessage(`{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"number"}}}`)}
}

var conversation = judge.Conversation{{Role: judge.RoleSystem, Content: "rules"}, {Role: judge.RoleUser, Content: "judge"}, {Role: judge.RoleAssistant, Content: "{}"}, {Role: judge.RoleUser, Content: "again"}}

func TestReply(t *testing.T) {
	server := newEndpoint(t, says(`{"a":"x"}`))
	engine := server.engine(t, func(c *openai.Config) {
		c.Headers = map[string]string{"X-Team": "evals"}
		c.Prices = map[string]openai.Price{"m": {PromptUSD: 2, CompletionUSD: 10}}
	})
	got, err := engine.Reply(context.Background(), conversation, params())
	if err != nil {
		t.Fatal(err)
	}
	if got.Text != `{"a":"x"}` || got.FinishReason != "stop" || got.Model != "m-2026-01" || got.Endpoint != strings.TrimPrefix(server.URL, "http://") {
		t.Errorf("reply: %+v", got)
	}
	if got.Tokens != (judge.Tokens{Prompt: 1000, Completion: 200}) || got.CostUSD != 0.004 || got.Latency <= 0 {
		t.Errorf("accounts: %+v", got)
	}
	want := map[string]any{
		"model": "m", "temperature": 0.0, "max_tokens": 4096.0, "seed": 1.0,
		"response_format": map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "citations", "strict": true,
			"schema": map[string]any{"type": "object", "required": []any{"a", "b"}, "additionalProperties": false,
				"properties": map[string]any{"a": map[string]any{"type": "string"}, "b": map[string]any{"type": []any{"number", "null"}}}}}},
	}
	var logged map[string]any
	if err := json.Unmarshal(got.Parameters, &logged); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, logged); diff != "" {
		t.Errorf("logged parameters (-want +got):\n%s", diff)
	}
	sent := server.requests[0]
	var turns []string
	for _, m := range sent["messages"].([]any) {
		turn := m.(map[string]any)
		turns = append(turns, fmt.Sprint(turn["role"], ":", turn["content"]))
	}
	if diff := cmp.Diff([]string{"system:rules", "user:judge", "assistant:{}", "user:again"}, turns); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	delete(sent, "messages")
	if diff := cmp.Diff(want, sent); diff != "" {
		t.Errorf("sent parameters (-want +got):\n%s", diff)
	}
	if h := server.headers[0]; h.Get("Authorization") != "Bearer "+key || h.Get("X-Team") != "evals" {
		t.Errorf("headers: %v", h)
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request)
		want   judge.TransportError
	}{
		{"400", fault(400, "This model's maximum context length is exceeded", "messages"), judge.TransportError{Status: 400, Message: "This model's maximum context length is exceeded"}},
		{"401 that repeats the key", fault(401, "Incorrect API key provided: "+key, ""), judge.TransportError{Status: 401, Message: "Incorrect API key provided: [hidden]"}},
		{"403", fault(403, "not allowed", ""), judge.TransportError{Status: 403, Message: "not allowed"}},
		{"404", fault(404, "The model `m` does not exist", ""), judge.TransportError{Status: 404, Message: "The model `m` does not exist"}},
		{"429", fault(429, "slow down", "", "Retry-After", "7"), judge.TransportError{Status: 429, Message: "slow down", Temporary: true, RetryAfter: 7 * time.Second}},
		{"429 in milliseconds", fault(429, "slow down", "", "Retry-After-Ms", "250"), judge.TransportError{Status: 429, Message: "slow down", Temporary: true, RetryAfter: 250 * time.Millisecond}},
		{"500", fault(500, "oops", ""), judge.TransportError{Status: 500, Message: "oops", Temporary: true}},
		{"503 that is no JSON", func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "busy", http.StatusServiceUnavailable) }, judge.TransportError{Status: 503, Temporary: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			server := newEndpoint(t, tt.answer)
			_, err := server.engine(t, nil).Reply(context.Background(), conversation, params())
			var got *judge.TransportError
			if !errors.As(err, &got) {
				t.Fatalf("error %v is no *TransportError", err)
			}
			if len(server.requests) != 1 {
				t.Errorf("%d requests, want 1", len(server.requests))
			}
			tt.want.Endpoint = strings.TrimPrefix(server.URL, "http://")
			if tt.want.Message == "" {
				tt.want.Message = got.Message
			}
			if diff := cmp.Diff(tt.want, *got); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
			if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), key) {
				t.Error("the error holds the key")
			}
		})
	}
}

func TestBrokenConnectionAndTimeout(t *testing.T) {
	hang := make(chan struct{})
	defer close(hang)
	server := newEndpoint(t,
		func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close()
			}
		},
		func(_ http.ResponseWriter, r *http.Request) {
			select {
			case <-hang:
			case <-r.Context().Done():
			}
		})
	engine := server.engine(t, func(c *openai.Config) { c.Timeout = 50 * time.Millisecond })
	for _, name := range []string{"broken", "time-out"} {
		_, err := engine.Reply(context.Background(), conversation, params())
		var got *judge.TransportError
		if !errors.As(err, &got) || !got.Temporary || got.Status != 0 {
			t.Errorf("%s: got %v, want a temporary failure without a status", name, err)
		}
	}
}

func TestCancelIsNoFailureOfTheEndpoint(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	server := newEndpoint(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	_, err := server.engine(t, nil).Reply(ctx, conversation, params())
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error: got %v, want context.Canceled", err)
	}
}

// What an endpoint does not take is found once, and what was really sent is what
// is logged.
func TestAdaptation(t *testing.T) {
	server := newEndpoint(t,
		fault(400, "Unsupported value: 'temperature' does not support 0 with this model.", "temperature"),
		fault(400, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "max_tokens"),
		fault(400, "response_format type json_schema is not supported", "response_format"),
		fault(422, "Unknown parameter: seed", "seed"),
		fault(400, "'response_format' is not a known field", ""),
		says("one"), says("two"))
	engine := server.engine(t, nil)
	var last judge.Reply
	for _, want := range []string{"one", "two"} {
		reply, err := engine.Reply(context.Background(), conversation, params())
		if err != nil {
			t.Fatal(err)
		}
		if reply.Text != want {
			t.Errorf("reply: got %q, want %q", reply.Text, want)
		}
		last = reply
	}
	if len(server.requests) != 7 {
		t.Errorf("%d requests, want 7: what was found is not remembered", len(server.requests))
	}
	if got := server.requests[3]["response_format"]; fmt.Sprint(got) != "map[type:json_object]" {
		t.Errorf("after json_schema: got %v, want json_object", got)
	}
	if diff := cmp.Diff(`{"model":"m","max_completion_tokens":4096}`, compact(t, last.Parameters), cmp.Transformer("json", func(s string) (v any) {
		_ = json.Unmarshal([]byte(s), &v)
		return v
	})); diff != "" {
		t.Errorf("logged parameters (-want +got):\n%s", diff)
	}
}

// A schema that the endpoint does not take says nothing of other schemas.
func TestRefusedSchema(t *testing.T) {
	server := newEndpoint(t, fault(400, "Invalid schema for response_format 'citations'", "response_format"), says("a"), says("b"))
	engine := server.engine(t, nil)
	other := params()
	other.SchemaName = "other"
	for _, p := range []judge.Params{params(), other} {
		if _, err := engine.Reply(context.Background(), conversation, p); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []string{"json_schema", "json_object", "json_schema"} {
		if got := server.requests[i]["response_format"].(map[string]any)["type"]; got != want {
			t.Errorf("request %d: format %v, want %s", i+1, got, want)
		}
	}
}

func compact(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestConfigIsChecked(t *testing.T) {
	for _, base := range []string{"ftp://x", "localhost:8080", "https://user:" + key + "@host/v1", "https://"} {
		_, err := openai.New(openai.Config{BaseURL: base})
		if err == nil || strings.Contains(err.Error(), key) {
			t.Errorf("base URL %q: got %v", base, err)
		}
	}
	engine, err := openai.New(openai.Config{APIKey: key})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("%v %+v %#v %s", engine, engine, engine, engine); strings.Contains(got, key) {
		t.Error("a printed engine holds the key")
	}
}

func TestWithoutKey(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", key)
	server := newEndpoint(t, says("x"))
	engine := server.engine(t, func(c *openai.Config) { c.APIKey = "" })
	if _, err := engine.Reply(context.Background(), conversation, params()); err != nil {
		t.Fatal(err)
	}
	if got := server.headers[0].Get("Authorization"); got != "" {
		t.Errorf("a key was sent that is not in the configuration: %q", got)
	}
}

func TestInFlight(t *testing.T) {
	var mu sync.Mutex
	now, most := 0, 0
	answer := func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now++
		most = max(most, now)
		mu.Unlock()
		time.Sleep(5 * time.Millisecond)
		mu.Lock()
		now--
		mu.Unlock()
		says("x")(w, r)
	}
	answers := make([]func(http.ResponseWriter, *http.Request), 12)
	for i := range answers {
		answers[i] = answer
	}
	engine := newEndpoint(t, answers...).engine(t, func(c *openai.Config) { c.InFlight = 3 })
	var wg sync.WaitGroup
	for range answers {
		wg.Go(func() {
			if _, err := engine.Reply(context.Background(), conversation, params()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most > 3 {
		t.Errorf("%d calls at once, want at most 3", most)
	}
}

// A whole evaluation by the judge citations: a rate limit, a report that is at
// fault, its repair. No record of it holds the key, even where the endpoint
// repeats it.
func TestCitationsThroughTheHarness(t *testing.T) {
	const bad = `{"overall_citation_accuracy_score": 1, "total_citations_evaluated": 0, "citation_evaluations": [], "misattribution_flags": [], "summary": "` + key + `"}`
	const good = `{"overall_citation_accuracy_score": 1, "total_citations_evaluated": 1, "misattribution_flags": [], "summary": "s", "citation_evaluations": [
		{"citation_id": "1", "reasoning_step_index": 1, "reasoning_step_text": "t", "citation_exists": true, "quote_accurate": true, "context_fidelity": "accurate",
		"claim_support_strength": "fully_supported", "explanation": "` + key + `", "flagged": false}]}`
	server := newEndpoint(t, fault(429, "slow down, "+key, "", "Retry-After-Ms", "1"), says(bad), fault(500, key, ""), says("Corrected:\n```json\n"+good+"\n```"))
	h, err := harness.New(harness.Config{
		Judges: builtin.Judges(), Default: builtin.Default(), Engine: judge.EngineOpenAI, Model: "m",
		Engines: map[string]judge.Engine{judge.EngineOpenAI: server.engine(t, nil)},
		Retry:   harness.Retry{Initial: time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	trace := judge.Trace{ID: "t", Output: "The trial had 400 patients [1].", Sources: []judge.Source{{ID: "1", Text: "There were 400 patients."}}, Judges: []string{"citations"}}
	plan, err := h.Plan(&trace)
	if err != nil {
		t.Fatal(err)
	}
	e, _, err := h.Evaluate(context.Background(), &trace, plan[0])
	if err != nil {
		t.Fatal(err)
	}
	if e.Status != judge.Accepted || e.Label != "accurate" || e.Attempts != 2 || e.Repairs != 1 || e.TransportRetries != 2 {
		t.Errorf("status %s, label %s, attempts %d, repairs %d, retries %d, error %s", e.Status, e.Label, e.Attempts, e.Repairs, e.TransportRetries, e.Error)
	}
	if want := "check citations.covered: /citation_evaluations: occurrence 1, [1] in step 1, has no evaluation"; len(e.Calls) < 1 || len(e.Calls[0].Errors) != 2 || e.Calls[0].Errors[0] != want {
		t.Errorf("errors of the first attempt: %q", e.Calls[0].Errors)
	}
	record, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(record, []byte(key)) {
		t.Errorf("a record holds the key:\n%s", record)
	}
	prompt := e.Calls[0].Prompt
	for _, want := range []string{`occurrence 1: citation_id \"1\" in step 1`, "There were 400 patients.", "citation_evaluations"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("the prompt does not contain %q", want)
		}
	}
}

func TestOwnErrorsHideTheKey(t *testing.T) {
	server := newEndpoint(t, fault(401, "bad key "+key, ""))
	h, err := harness.New(harness.Config{Judges: builtin.Judges(), Engine: judge.EngineOpenAI, Model: "m",
		Engines: map[string]judge.Engine{judge.EngineOpenAI: server.engine(t, nil)}})
	if err != nil {
		t.Fatal(err)
	}
	trace := judge.Trace{ID: "t", Output: "x", Reference: "y"}
	e, _, err := h.Evaluate(context.Background(), &trace, judge.Planned{Judge: "reference", Engine: judge.EngineOpenAI, Model: "m", Judgment: judge.NoJudgment})
	if err != nil {
		t.Fatal(err)
	}
	if e.Status != judge.InReview || e.Reasons[0].Code != judge.ReasonJudgeFailed || !strings.Contains(e.Error, "answered 401: bad key [hidden]") {
		t.Errorf("evaluation: %s %v %q", e.Status, e.Reasons, e.Error)
	}
}
