package judge

import (
	"encoding/json"
	"time"
)

// Status of an evaluation.
type Status string

const (
	Queued   Status = "queued"
	Judging  Status = "judging"
	Refused  Status = "refused" // the trace lacks what the judge needs
	Accepted Status = "accepted"
	InReview Status = "in_review"
	Final    Status = "final"
)

// Engine names.
const (
	EngineOpenAI   = "openai"
	EngineRules    = "rules"
	EngineRecorded = "recorded"
)

// Evaluation is one judge on one trace by one engine and model. Its JSON is
// what `countersign judge`, the export and the API write.
type Evaluation struct {
	ID            string `json:"evaluation_id"`
	TraceID       string `json:"trace_id"` // the file's id
	Run           string `json:"run,omitempty"`
	Judge         string `json:"judge"`
	PromptVersion string `json:"prompt_version"`
	Engine        string `json:"engine"`
	Model         string `json:"model"`
	Status        Status `json:"status"`

	// Score is in [0,1]; nil when there is no valid report.
	Score    *float64 `json:"score"`
	Verdict  Verdict  `json:"verdict"`
	Label    string   `json:"label"`
	Critical bool     `json:"critical"`

	Reasons  []Reason        `json:"reasons"`
	Checks   []CheckResult   `json:"checks"`
	Report   json.RawMessage `json:"report"` // the validated report, or null
	Findings []Finding       `json:"findings"`

	// RefusedField and Error say in plain words what the trace lacked, or why
	// the judge failed for good.
	RefusedField string `json:"refused_field,omitempty"`
	Error        string `json:"error,omitempty"`

	Attempts         int     `json:"attempts"`
	Repairs          int     `json:"repairs"`
	TransportRetries int     `json:"transport_retries"`
	Tokens           Tokens  `json:"tokens"`
	CostUSD          float64 `json:"cost_usd"`
	LatencyMS        int64   `json:"latency_ms"`

	Hashes    Hashes     `json:"hashes"`
	StartedAt *time.Time `json:"started_at"`
	Result    *Result    `json:"result"`

	// Calls are the attempts themselves, kept whole. The list form leaves them
	// out; GET /api/v1/evaluations/{id} adds them.
	Calls []Attempt `json:"calls,omitempty"`
}

// Tokens as the endpoint counted them.
type Tokens struct {
	Prompt     int `json:"prompt"`
	Completion int `json:"completion"`
}

// Hashes tie an evaluation to the exact texts it judged: hex SHA-256.
type Hashes struct {
	Trace     string `json:"trace"`
	Candidate string `json:"candidate"`
	Reference string `json:"reference,omitempty"`
}

// Result is the final verdict of an evaluation and whose it is.
type Result struct {
	Verdict Verdict `json:"verdict"`
	Label   string  `json:"label,omitempty"`
	Source  string  `json:"source"` // judge, human or adjudication
}

// Result sources.
const (
	ByJudge        = "judge"
	ByHuman        = "human"
	ByAdjudication = "adjudication"
)

// CheckKind says what a failed check means: hard = the report contradicts
// itself or leaves out what must be there; soft = it is suspicious.
type CheckKind string

const (
	Hard CheckKind = "hard"
	Soft CheckKind = "soft"
)

// CheckResult is one named check as it came out for one report.
type CheckResult struct {
	Name   string    `json:"name"`
	Kind   CheckKind `json:"kind"`
	OK     bool      `json:"ok"`
	Detail string    `json:"detail,omitempty"`
}

// Attempt is one model call that brought a reply, kept whole and never
// rewritten. Engines that call no model make one attempt without a prompt.
type Attempt struct {
	// Purpose is empty for a call that asks for the report, or
	// PurposeDecomposition.
	Purpose       string          `json:"purpose,omitempty"`
	Number        int             `json:"number"` // from 1
	Engine        string          `json:"engine"`
	Endpoint      string          `json:"endpoint,omitempty"` // host only
	ModelAsked    string          `json:"model_asked,omitempty"`
	ModelAnswered string          `json:"model_answered,omitempty"`
	Parameters    json.RawMessage `json:"parameters,omitempty"` // as really sent
	Prompt        string          `json:"prompt,omitempty"`     // the whole conversation, as sent
	Reply         string          `json:"reply"`                // raw
	// When retention removed the prompt or the reply; nil while it is there.
	PromptRemovedAt *time.Time      `json:"prompt_removed_at,omitempty"`
	ReplyRemovedAt  *time.Time      `json:"reply_removed_at,omitempty"`
	FinishReason    string          `json:"finish_reason,omitempty"`
	Report          json.RawMessage `json:"report,omitempty"` // parsed, when it parsed
	Errors          []string        `json:"errors,omitempty"` // schema and hard-check errors
	Tokens          Tokens          `json:"tokens"`
	CostUSD         float64         `json:"cost_usd"`
	LatencyMS       int64           `json:"latency_ms"`
	// TransportRetries before this call brought its reply.
	TransportRetries int       `json:"transport_retries"`
	StartedAt        time.Time `json:"started_at"`
}

// PurposeDecomposition marks the call that cuts a reference into steps.
const PurposeDecomposition = "decomposition"
