package judge

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Engine is what gives reports: a Reporter or a Chat. Everything else (prompt,
// checks, repair, verdict, routing) is the harness's and the same for both.
type Engine interface {
	// Name is EngineOpenAI, EngineRules or EngineRecorded.
	Name() string
}

// Reporter is an engine that gives its report at once and cannot be asked to
// repair it: the embedded rules, and reports that came with the trace.
type Reporter interface {
	Engine
	// Report gives the report of judge j on trace t. An error means that the
	// engine failed for good (judge_failed), not that the report is bad.
	Report(ctx context.Context, j *Judge, t *Trace, p Planned) (Given, error)
}

// Given is what a Reporter gives. Exactly one of these holds: Report is set,
// Raw is set, or NoReport is true.
type Given struct {
	// Report is the report as JSON, not yet validated.
	Report json.RawMessage
	// Raw is a reply as text; the harness looks for the report in it.
	Raw string
	// NoReport: the engine cannot judge this judge's question at all. The
	// verdict is borderline, without score or label, and a person decides.
	NoReport bool
	// Undecided: there is a report, but text comparison could not decide all
	// that matters. The verdict is borderline unless critical.
	Undecided bool
	// Explanation says in a sentence why NoReport or Undecided; shown to people.
	Explanation string
}

// Chat is an engine that answers a conversation: a language model. It makes
// exactly one call for each Reply and never retries; the harness does.
type Chat interface {
	Engine
	// Reply sends the conversation. A reply cut by length, refused or empty is
	// a Reply, not an error. Every error that is not a *TransportError is
	// final; so is a *TransportError that is not Temporary.
	Reply(ctx context.Context, c Conversation, p Params) (Reply, error)
}

// Endpoint is where a Chat sends what it is asked.
type Endpoint struct {
	Name string // as the configuration calls it
	Host string // without path, query or key
}

// Located is a Chat that says where it sends texts. One that does not say may
// only be asked where the policy allows every endpoint.
type Located interface {
	Chat
	Endpoint() Endpoint
}

// EndpointOf says where an engine sends texts; the zero value: it does not say,
// or sends nothing.
func EndpointOf(e Engine) Endpoint {
	if l, ok := e.(Located); ok {
		return l.Endpoint()
	}
	return Endpoint{}
}

// Roles of a message.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Conversation in the order of its turns.
type Conversation []Message

// Params of one model call. What the endpoint does not take is left out by the
// engine, which says in Reply.Parameters what was really sent.
type Params struct {
	Model       string
	Temperature float64
	MaxTokens   int
	Seed        *int64
	// Schema of the reply and the name it is sent under.
	Schema     json.RawMessage
	SchemaName string
}

// Finish reasons that a Reply can have. Endpoints have others; they are kept
// as they came.
const (
	FinishStop     = "stop"
	FinishLength   = "length"
	FinishFiltered = "content_filter"
)

// Reply is one answer of a model with all that provenance needs.
type Reply struct {
	Text         string
	Refusal      string // the model's own refusal text, where the endpoint marks it
	FinishReason string
	Model        string // that answered
	Endpoint     string // host only, never a path, query or key
	Parameters   json.RawMessage
	Tokens       Tokens
	CostUSD      float64 // 0 when no price is configured
	Unpriced     bool    // no price is configured, so the cost is not known
	Latency      time.Duration
	StartedAt    time.Time
}

// TransportError is a call that brought no reply.
type TransportError struct {
	// Status is the HTTP status, 0 when there was no answer at all.
	Status int
	// Message is the endpoint's own message, free of keys.
	Message string
	// Temporary: trying again may help (429, 5xx, time-out, broken connection).
	Temporary bool
	// RetryAfter is how long the endpoint asked to wait; 0 when it did not.
	RetryAfter time.Duration
	Endpoint   string // host only
	// Foreign: what answered is no chat completion, such as a page for people. The
	// address may be wrong, or something stands before the endpoint for a while.
	Foreign bool
}

func (e *TransportError) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("model endpoint %s did not answer: %s", e.Endpoint, e.Message)
	}
	if e.Foreign {
		return fmt.Sprintf("what answers at %s is no model endpoint: %s", e.Endpoint, e.Message)
	}
	return fmt.Sprintf("model endpoint %s answered %d: %s", e.Endpoint, e.Status, e.Message)
}
