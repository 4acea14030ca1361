package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/countersign/countersign/judge"
)

// parameters of a request: everything but the conversation. They are what is
// logged as sent, byte for byte.
type parameters struct {
	Model               string          `json:"model"`
	Temperature         *float64        `json:"temperature,omitempty"`
	Seed                *int64          `json:"seed,omitempty"`
	MaxTokens           int             `json:"max_tokens,omitempty"`
	MaxCompletionTokens int             `json:"max_completion_tokens,omitempty"`
	ResponseFormat      json.RawMessage `json:"response_format,omitempty"`
}

// parametersOf writes a call's parameters as the endpoint takes them.
func (e *Engine) parametersOf(p judge.Params, d dialect) (json.RawMessage, error) {
	out := parameters{Model: p.Model}
	if !d.noTemperature {
		out.Temperature = &p.Temperature
	}
	if !d.noSeed {
		out.Seed = p.Seed
	}
	if d.maxCompletionTokens {
		out.MaxCompletionTokens = p.MaxTokens
	} else {
		out.MaxTokens = p.MaxTokens
	}
	var err error
	if out.ResponseFormat, err = e.formats.of(p, d.format); err != nil {
		return nil, err
	}
	return encoded(out)
}

// messagesOf writes a conversation, once for all tries of a call: it is the large
// part of a request. A role that is not known is a person's.
func messagesOf(c judge.Conversation) (json.RawMessage, error) {
	turns := make(judge.Conversation, len(c))
	for i, m := range c {
		if m.Role != judge.RoleSystem && m.Role != judge.RoleAssistant {
			m.Role = judge.RoleUser
		}
		turns[i] = m
	}
	return encoded(turns)
}

// bodyOf puts the two together. Parameters are an object with a model at least.
func bodyOf(messages, parameters json.RawMessage) []byte {
	body := make([]byte, 0, len(messages)+len(parameters)+16)
	body = append(body, `{"messages":`...)
	body = append(body, messages...)
	body = append(body, ',')
	return append(body, parameters[1:]...)
}

// encoded is JSON without escapes for HTML, which would make tokens of signs.
func encoded(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("openai: write the request: %w", err)
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// maxFormats remembered; an installation has a handful of judges.
const maxFormats = 256

// formats remembers how a judge's schema is sent: rewriting it for strict mode
// is most of the work of a short call.
type formats struct {
	mu    sync.Mutex
	known map[formatKey]json.RawMessage
}

type formatKey struct {
	format       format
	name, schema string
}

// of gives the response_format of a call; nil when it is to have none.
func (f *formats) of(p judge.Params, want format) (json.RawMessage, error) {
	if want == plainText || len(p.Schema) == 0 {
		return nil, nil
	}
	if want == jsonObject {
		return json.RawMessage(`{"type":"json_object"}`), nil
	}
	key := formatKey{want, p.SchemaName, string(p.Schema)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if text, ok := f.known[key]; ok {
		return text, nil
	}
	schema, strict := strictSchema(p.Schema)
	text, err := encoded(object{
		{"type", "json_schema"},
		{"json_schema", object{{"name", p.SchemaName}, {"strict", strict}, {"schema", schema}}},
	})
	if err != nil {
		return nil, err
	}
	if f.known == nil || len(f.known) >= maxFormats {
		f.known = map[formatKey]json.RawMessage{}
	}
	f.known[key] = text
	return text, nil
}
