package openai

import (
	"encoding/json"
	"fmt"
	"strings"
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
	for i := range 3 * maxWritten {
		p.SchemaName = fmt.Sprint(i)
		if _, err := f.of(p, jsonSchema); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.known) > maxWritten {
		t.Errorf("%d formats are kept, want %d at most", len(f.known), maxWritten)
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
	messages := messagesOf(judge.Conversation{{Role: "tool", Content: "a < b & \u2028\n\"\\\x01 \xff é"}, {Role: judge.RoleAssistant, Content: ""}}, 512)
	const want = `{"messages":[{"role":"user","content":"a < b & ` + "\u2028" + `\n\"\\\u0001 ` + "\ufffd" + ` é"},{"role":"assistant","content":""}],"model":"m<1>","temperature":0,"seed":7,"max_tokens":5000}`
	got := bodyOf(messages, sent, true)
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if !json.Valid(got) {
		t.Error("the body is no JSON")
	}
	// The connection may still read the first body while another is written.
	other := bodyOf(messages, json.RawMessage(`{"model":"other"}`), false)
	if string(got) != want {
		t.Errorf("the second try wrote over the first: %s", got)
	}
	if !json.Valid(other) {
		t.Errorf("the second body is no JSON: %s", other)
	}
}

// Parameters are written once for all calls that have the same, and no call gets
// those of another.
func TestParametersAreWrittenOnce(t *testing.T) {
	e := &Engine{}
	seed, same, other := int64(7), int64(7), int64(8)
	base := judge.Params{Model: "m", MaxTokens: 5000, Seed: &seed, SchemaName: "n", Schema: json.RawMessage(`{"type":"object"}`)}
	write := func(change func(*judge.Params, *dialect)) string {
		p, d := base, dialect{}
		change(&p, &d)
		text, err := e.parametersOf(p, d)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := write(func(*judge.Params, *dialect) {})
	if again := write(func(p *judge.Params, _ *dialect) { p.Seed = &same }); again != first || len(e.written.known) != 1 {
		t.Errorf("the same parameters are %s and then %s, kept %d times", first, again, len(e.written.known))
	}
	for name, change := range map[string]func(*judge.Params, *dialect){
		"model":             func(p *judge.Params, _ *dialect) { p.Model = "other" },
		"temperature":       func(p *judge.Params, _ *dialect) { p.Temperature = 0.5 },
		"tokens":            func(p *judge.Params, _ *dialect) { p.MaxTokens = 6000 },
		"seed":              func(p *judge.Params, _ *dialect) { p.Seed = &other },
		"no seed":           func(p *judge.Params, _ *dialect) { p.Seed = nil },
		"name of schema":    func(p *judge.Params, _ *dialect) { p.SchemaName = "other" },
		"schema":            func(p *judge.Params, _ *dialect) { p.Schema = json.RawMessage(`{"type":"array"}`) },
		"format":            func(_ *judge.Params, d *dialect) { d.format = plainText },
		"temperature taken": func(_ *judge.Params, d *dialect) { d.noTemperature = true },
		"seed taken":        func(_ *judge.Params, d *dialect) { d.noSeed = true },
		"limit's name":      func(_ *judge.Params, d *dialect) { d.maxCompletionTokens = true },
	} {
		if got := write(change); got == first {
			t.Errorf("another %s gives the same parameters: %s", name, got)
		}
	}
	for i := range int64(2 * maxWritten) {
		write(func(p *judge.Params, _ *dialect) { p.Seed = &i })
	}
	if len(e.written.known) > maxWritten {
		t.Errorf("%d are kept, want %d at most", len(e.written.known), maxWritten)
	}
}

// Answers in and out of the ordinary read alike.
func TestReadAnswer(t *testing.T) {
	full := answer{text: "yes \u00e9", refusal: "no", finishReason: "stop", model: "m", tokens: judge.Tokens{Prompt: 3, Completion: 4}}
	for _, c := range []struct {
		name, body string
		want       answer
		fails      bool
	}{
		{name: "usual", body: `{"model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"yes \u00e9","refusal":"no"}}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, want: full},
		{name: "numbers in quotes", body: `{"model":"m","choices":[{"finish_reason":"stop","message":{"content":"yes \u00e9","refusal":"no"}}],"usage":{"prompt_tokens":"3","completion_tokens":"4"}}`, want: full},
		{name: "a key twice", body: `{"model":"m","id":"1","id":"2","choices":[{"finish_reason":"stop","message":{"content":"yes \u00e9","refusal":"no"}}],"usage":{"prompt_tokens":3,"completion_tokens":4}}`, want: full},
		{name: "text after it", body: `{"model":"m","choices":[{"finish_reason":"stop","message":{"content":"yes \u00e9","refusal":"no"}}],"usage":{"prompt_tokens":3,"completion_tokens":4}} {}`, fails: true},
		{name: "nulls", body: `{"model":"m","choices":[{"finish_reason":null,"message":{"content":null,"refusal":null}}],"usage":null}`, want: answer{model: "m"}},
		{name: "no choice", body: `{"model":"m","choices":[]}`, want: answer{model: "m"}},
		{name: "null", body: `null`, fails: true},
		{name: "no choices at all", body: `{"model":"m"}`, fails: true},
		{name: "not UTF-8", body: "{\"model\":\"m\",\"choices\":[{\"message\":{\"content\":\"a\xffb\"}}]}", want: answer{model: "m", text: "a\ufffdb"}},
		{name: "cut", body: `{"model":"m","choices":[{"message":{"content":"ye`, fails: true},
		{name: "a page", body: `<html>`, fails: true},
		{name: "nothing", body: ``, fails: true},
	} {
		got, err := (&Engine{secrets: strings.NewReplacer()}).completionOf(nil, []byte(c.body))
		if (err != nil) != c.fails || got != c.want {
			t.Errorf("%s: %+v, error %v; want %+v, an error: %t", c.name, got, err, c.want, c.fails)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	e := &Engine{}
	p := judge.Params{Model: "m", MaxTokens: 4096, SchemaName: "n", Schema: json.RawMessage(`{"type":"object","required":["a"],"properties":{"a":{"type":"string"},"b":{"type":"array","items":{"type":"object","required":["c"],"properties":{"c":{"enum":["x","y"]}}}}}}`)}
	c := judge.Conversation{{Role: judge.RoleSystem, Content: string(make([]byte, 1000))}, {Role: judge.RoleUser, Content: string(make([]byte, 4000))}}
	b.ReportAllocs()
	for b.Loop() {
		messages := messagesOf(c, 1024)
		sent, err := e.parametersOf(p, dialect{})
		if err != nil {
			b.Fatal(err)
		}
		bodyOf(messages, sent, true)
	}
}
