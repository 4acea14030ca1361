package openai

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/countersign/countersign/judge"
)

func TestFormatsAreWrittenOnce(t *testing.T) {
	var f formats
	p := judge.Params{SchemaName: "n", Schema: json.RawMessage(`{"type":"object","required":["a"],"properties":{"a":{"type":"string"}}}`)}
	first, err := f.of(p, jsonSchema)
	if err != nil {
		t.Fatal(err)
	}
	again, err := f.of(p, jsonSchema)
	if err != nil {
		t.Fatal(err)
	}
	if &first[0] != &again[0] {
		t.Error("the same schema is written anew")
	}
	p.SchemaName = "other"
	other, err := f.of(p, jsonSchema)
	if err != nil {
		t.Fatal(err)
	}
	if string(other) == string(first) {
		t.Error("another name gives the same format")
	}
	for i := range 3 * maxFormats {
		p.SchemaName = fmt.Sprint(i)
		if _, err := f.of(p, jsonSchema); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.known) > maxFormats {
		t.Errorf("%d formats are kept, want %d at most", len(f.known), maxFormats)
	}
}

// A schema that is no JSON is a fault of the caller: it is told at once.
func TestBrokenSchemaIsNoFailureOfTheEndpoint(t *testing.T) {
	e, err := New(Config{BaseURL: "http://127.0.0.1:1/v1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = e.Reply(t.Context(), judge.Conversation{{Role: judge.RoleUser, Content: "x"}}, judge.Params{Model: "m", SchemaName: "n", Schema: json.RawMessage(`{`)})
	if _, transport := err.(*judge.TransportError); err == nil || transport {
		t.Errorf("error %v, want one that is final", err)
	}
}

// What is sent is the conversation and the logged parameters, and nothing else;
// signs of HTML stay what they are.
func TestBody(t *testing.T) {
	e := &Engine{}
	seed := int64(7)
	sent, err := e.parametersOf(judge.Params{Model: "m<1>", MaxTokens: 5000, Seed: &seed}, dialect{})
	if err != nil {
		t.Fatal(err)
	}
	messages, err := messagesOf(judge.Conversation{{Role: "tool", Content: "a < b & \u2028"}, {Role: judge.RoleAssistant, Content: ""}})
	if err != nil {
		t.Fatal(err)
	}
	got := string(bodyOf(messages, sent))
	const want = `{"messages":[{"role":"user","content":"a < b & \u2028"},{"role":"assistant","content":""}],"model":"m<1>","temperature":0,"seed":7,"max_tokens":5000}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !json.Valid([]byte(got)) {
		t.Error("the body is no JSON")
	}
}

func BenchmarkRequest(b *testing.B) {
	e := &Engine{}
	p := judge.Params{Model: "m", MaxTokens: 4096, SchemaName: "n", Schema: json.RawMessage(`{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"object","required":["c"],"properties":{"c":{"enum":["x","y"]}}}}}}`)}
	c := judge.Conversation{{Role: judge.RoleSystem, Content: string(make([]byte, 1000))}, {Role: judge.RoleUser, Content: string(make([]byte, 4000))}}
	b.ReportAllocs()
	for b.Loop() {
		messages, err := messagesOf(c)
		if err != nil {
			b.Fatal(err)
		}
		sent, err := e.parametersOf(p, dialect{})
		if err != nil {
			b.Fatal(err)
		}
		bodyOf(messages, sent)
	}
}
