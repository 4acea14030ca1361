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
	// Endpoint is the configured name of the one that was to be asked; empty: the
	// default one, or none.
	Endpoint string `json:"endpoint,omitempty"`
	Status   Status `json:"status"`
	// Shadow: it was made beside another one to be compared with, and counts for
	// nothing.
	Shadow bool `json:"shadow,omitempty"`

	// Score is in [0,1]; nil when there is no valid report.
	Score    *float64 `json:"score"`
	Verdict  Verdict  `json:"verdict"`
	Label    string   `json:"label"`
	Critical bool     `json:"critical"`
	// Undecided: the engine could not decide all that matters; Explanation is its
	// sentence on why. The verdict is then borderline unless critical, and takes no
	// part in comparisons of models.
	Undecided   bool   `json:"undecided,omitempty"`
	Explanation string `json:"explanation,omitempty"`
	// Uncited is how many steps claim something and cite nothing; nil when that
	// was not counted.
	Uncited *int `json:"uncited,omitempty"`
	// PartLabels are the classes of dimensions, citations and steps.
	PartLabels []PartLabel `json:"part_labels,omitempty"`
	// Samples is how many times the model was asked (self-consistency), and Spread
	// how far its answers lay apart; 0 and nil: it was asked once.
	Samples int     `json:"samples,omitempty"`
	Spread  *Spread `json:"spread,omitempty"`
	// PolicyVersion that routed the evaluation; 0: none of a project.
	PolicyVersion int `json:"policy_version,omitempty"`

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
	// UnpricedCalls is how many of the attempts asked a model without a price;
	// CostUSD leaves them out.
	UnpricedCalls int   `json:"unpriced_calls,omitempty"`
	LatencyMS     int64 `json:"latency_ms"`

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
// rewritten. Engines that call no model make one attempt without a prompt when
// they give a report, and none when they can't judge at all.
type Attempt struct {
	// Purpose is empty for a call that asks for the report, else
	// PurposeDecomposition or PurposeProbe.
	Purpose string `json:"purpose,omitempty"`
	Number  int    `json:"number"` // from 1
	// Sample is which of several answers the call belongs to, from 1; 0 where the
	// model is asked for one.
	Sample int `json:"sample,omitempty"`
	// StepsFrom names the evaluation whose call cut the reference into the steps
	// that this prompt shows, where that was another one.
	StepsFrom     string          `json:"steps_from,omitempty"`
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
	// Unpriced: the model has no price, so that the cost is not known.
	Unpriced  bool  `json:"unpriced,omitempty"`
	LatencyMS int64 `json:"latency_ms"`
	// TransportRetries before this call brought its reply.
	TransportRetries int `json:"transport_retries"`
	// TransportError is the newest failure of those, shortened.
	TransportError string    `json:"transport_error,omitempty"`
	StartedAt      time.Time `json:"started_at"`
}

// PurposeDecomposition marks the call that cuts a reference into steps.
const PurposeDecomposition = "decomposition"

// Spread is how far several answers of one model to one question lie apart.
type Spread struct {
	// Verdicts counts the usable answers by verdict.
	Verdicts map[Verdict]int `json:"verdicts"`
	// Unusable answers have no valid report, and no vote.
	Unusable int `json:"unusable,omitempty"`
	// Min, Max and SD of the scores of the usable ones; SD is that of the sample
	// (n-1), 0 for one.
	Min float64 `json:"min"`
	Max float64 `json:"max"`
	SD  float64 `json:"sd"`
	// Agreement is the share of the usable ones that say the commonest verdict.
	Agreement float64 `json:"agreement"`
}
