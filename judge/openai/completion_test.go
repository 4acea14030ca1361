package openai_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/openai"
)

// TestNoCompletion: whatever else comes with a 200 is told for what it is, with
// what to do, and without the key.
func TestNoCompletion(t *testing.T) {
	whole := `{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"yes"}}],"usage":{"prompt_tokens":3,"completion_tokens":1}}`
	for name, c := range map[string]struct {
		path, kind, body string
		foreign          bool
		want             []string // none: it is a reply
	}{
		"a completion":                        {"/v1", "application/json", whole, false, nil},
		"a completion of another type":        {"/v1", "text/plain; charset=utf-8", whole, false, nil},
		"a page, without /v1":                 {"", "text/html; charset=utf-8", "<!doctype html>\n<html><title>Welcome</title>", true, []string{"200 with text/html", `<!doctype html> <html>`, "lacks /v1"}},
		"a page, with it":                     {"/v1", "text/html", "<html>sign in", true, []string{"text/html", "sign in", "a proxy"}},
		"a page that repeats the key":         {"/v1", "text/html", "<html>Bearer sk-secret-1", true, []string{"[hidden]"}},
		"a long page":                         {"/v1", "text/html", strings.Repeat("<p>long", 10000), true, []string{"…"}},
		"a text":                              {"", "text/plain", "Ollama is running", true, []string{"Ollama is running", "lacks /v1"}},
		"another object":                      {"", "application/json", `{"status":"ok"}`, true, []string{`{\"status\":\"ok\"}`, "lacks /v1"}},
		"a list":                              {"/v1", "application/json", `[1,2]`, true, []string{"no chat completion"}},
		"nothing":                             {"/v1", "", "", true, []string{"without a body"}},
		"an error with the status of a reply": {"/v1", "application/json", `{"error":{"message":"the provider is overloaded"}}`, false, []string{"overloaded"}},
		"a completion that broke off":         {"/v1", "application/json", whole[:60], false, []string{"can't be read"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header()["Content-Type"] = nil // no sniffing
				if c.kind != "" {
					w.Header().Set("Content-Type", c.kind)
				}
				if _, err := w.Write([]byte(c.body)); err != nil {
					t.Error(err)
				}
			}))
			defer server.Close()
			e, err := openai.New(openai.Config{BaseURL: server.URL + c.path, APIKey: "sk-secret-1"})
			if err != nil {
				t.Fatal(err)
			}
			reply, err := e.Reply(t.Context(), judge.Conversation{{Role: judge.RoleUser, Content: "?"}}, judge.Params{Model: "m"})
			if c.want == nil {
				if err != nil || reply.Text != "yes" || reply.Tokens.Prompt != 3 {
					t.Errorf("reply %+v, error %v", reply, err)
				}
				return
			}
			var failed *judge.TransportError
			if !errors.As(err, &failed) || failed.Foreign != c.foreign || !failed.Temporary {
				t.Fatalf("error %#v, want one that is foreign: %v", err, c.foreign)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error %q, want %q in it", err, want)
				}
			}
			if strings.Contains(err.Error(), "sk-secret-1") || len(err.Error()) > 1500 {
				t.Errorf("error of %d bytes: %q", len(err.Error()), err)
			}
		})
	}
}
