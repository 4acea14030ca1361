package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

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

// parametersOf writes a call's parameters as the endpoint takes them. They are
// the same for every trace of a judge, so they are written once.
func (e *Engine) parametersOf(p judge.Params, d dialect) (json.RawMessage, error) {
	return e.written.of(p, d, func() (json.RawMessage, error) {
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
	})
}

// messagesOf writes a conversation, once for all tries of a call: it is the large
// part of a request. A role that is not known is a person's. Text that is not
// UTF-8 is sent with U+FFFD in its place. There is room behind it for room bytes.
func messagesOf(c judge.Conversation, room int) []byte {
	size := room + 16
	for _, m := range c {
		size += len(m.Content) + len(m.Content)/16 + 64 // escapes take some
	}
	b := append(make([]byte, 0, size), `{"messages":[`...)
	for i, m := range c {
		if m.Role != judge.RoleSystem && m.Role != judge.RoleAssistant {
			m.Role = judge.RoleUser
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"role":"`...), m.Role...), `","content":`...)
		// The error says that there was text to replace, which it did.
		b, _ = jsontext.AppendQuote(b, m.Content)
		b = append(b, '}')
	}
	return append(b, ']', ',')
}

// bodyOf puts the two together. Parameters are an object with a model at least.
// The room behind the messages is used by the first try alone: the connection may
// still read the body of a try that was answered early.
func bodyOf(messages []byte, parameters json.RawMessage, first bool) []byte {
	if !first {
		messages = messages[:len(messages):len(messages)]
	}
	return append(messages, parameters[1:]...)
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

// maxWritten are remembered of each; an installation has a handful of judges.
const maxWritten = 256

// written remembers parameters as they were written.
type written struct {
	mu    sync.Mutex
	known map[writtenKey]json.RawMessage
}

type writtenKey struct {
	model, name, schema string
	temperature         float64
	maxTokens           int
	seeded              bool
	seed                int64
	dialect             dialect
}

// of gives parameters, which write makes when they are not known.
func (w *written) of(p judge.Params, d dialect, write func() (json.RawMessage, error)) (json.RawMessage, error) {
	key := writtenKey{
		model: p.Model, name: p.SchemaName, schema: string(p.Schema),
		temperature: p.Temperature, maxTokens: p.MaxTokens, dialect: d,
	}
	if p.Seed != nil {
		key.seeded, key.seed = true, *p.Seed
	}
	w.mu.Lock()
	text, ok := w.known[key]
	w.mu.Unlock()
	if ok {
		return text, nil
	}
	text, err := write()
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known == nil || len(w.known) >= maxWritten {
		w.known = map[writtenKey]json.RawMessage{}
	}
	w.known[key] = text
	return text, nil
}

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
	if f.known == nil || len(f.known) >= maxWritten {
		f.known = map[formatKey]json.RawMessage{}
	}
	f.known[key] = text
	return text, nil
}
