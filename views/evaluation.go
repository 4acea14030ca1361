package views

import (
	"time"

	"github.com/countersign/countersign/judge"
)

// EvaluationPage is the whole record of one evaluation.
type EvaluationPage struct {
	Frame
	ID        string
	ItemTitle string // the trace's question or id, shortened by the caller
	TraceID   string
	TraceHref string
	Run       string
	Domain    string
	Stakes    judge.Stakes
	// Judge and its prompt version, engine and model.
	Judge         string
	PromptVersion string
	Engine        string
	Model         string
	Status        judge.Status

	// Sealed means that this reader may not know the judge's answer yet: then
	// every field from Proposed to Attempts is empty.
	Sealed bool
	// ReviewHref leads to the desk; empty when it is in no queue.
	ReviewHref string

	Trace  TraceText
	Inputs []Input

	// Proposed is the judge's verdict, label and score.
	Proposed Mark
	Critical bool
	// Shadow: it was made beside another one to be compared with, and has no result.
	Shadow bool
	// Undecided: the engine could not decide; Explanation is its sentence on why.
	Undecided   bool
	Explanation string
	// Samples is how often the model was asked, and Spread how far its answers
	// lay apart; 0 and nil: once.
	Samples int
	Spread  *Spread
	// Uncited is how many steps claim something and cite nothing; nil: not counted.
	Uncited *int
	// Parts are the judge's classes of dimensions, citations and steps.
	Parts []judge.PartLabel
	// Result is final when ResultSource is not empty: judge, human, adjudication.
	Result       Mark
	ResultSource string
	// Signed is the person's decision that stands; nil when there is none.
	Signed *Signature
	// Decisions are all that people decided, oldest first; empty while sealed.
	Decisions []SignedDecision
	Reasons   []judge.Reason
	Checks    []judge.CheckResult
	Findings  []judge.Finding
	// Report is the validated JSON, indented; empty when there is none.
	Report string
	// RefusedField and Fault say what the trace lacked, or why the judge failed.
	RefusedField string
	Fault        string
	Attempts     []Attempt

	// Labels by people on this evaluation, oldest first.
	Labels []LabelRow
	// Chain is every event on it, oldest first; the caller leaves out what tells
	// while it is sealed.
	Chain  []AuditRow
	Hashes judge.Hashes
	// Permalink is the whole address of this evaluation, with the trace's hash.
	Permalink string
	// OtherContent says that the link that led here names another hash.
	OtherContent bool

	Repairs, TransportRetries      int
	PromptTokens, CompletionTokens int
	CostUSD                        float64
	UnpricedCalls                  int // of a model without a price; CostUSD leaves them out
	LatencyMS                      int64
	// Endpoint is a configured name, PolicyVersion the policy that routed it; empty
	// and 0: the default one, and none of a project.
	Endpoint      string
	PolicyVersion int
	PolicyHref    string    // empty: not for this reader
	StartedAt     time.Time // zero when it has not begun

	// Item is its item in the queue, for a lead; nil: it waits for nobody, or this
	// reader changes nothing of it.
	Item *ItemAtWork
	Seen Seen

	// MayRetry shows the form that posts to /evaluations/{ID}/retry.
	MayRetry bool
	// MayExpose shows, while sealed, the form that posts to
	// /evaluations/{ID}/expose.
	MayExpose bool
	// MayRequest shows the form that posts to /evaluations/{ID}/request, field comment.
	MayRequest bool
}

// ItemAtWork is an item that waits, for a lead who sends it to somebody or ends the
// claim on it. Its forms post to /reviews/{ReviewID}/change, fields action (assign,
// release), user and take, and while it is settled to /reviews/{ReviewID}/reassign,
// field to.
type ItemAtWork struct {
	ReviewID     string
	Adjudicating bool
	// Holder has the claim until HolderUntil; empty: nobody.
	Holder      string
	HolderUntil time.Time
	// Assigned is who it is meant for; empty: whoever takes it.
	Assigned, AssignedID       string
	To                         string // who settles it: a value of People
	Due                        time.Time
	Opinions, OpinionsRequired int
	People                     []Choice
}

// Seen is who looked at an evaluation, the newest first.
type Seen struct {
	Told                  bool // false: not to this reader
	Rows                  []SeenRow
	OlderHref, NewestHref string
	More                  bool // older ones are kept, and told no more
}

// SeenRow is one look.
type SeenRow struct {
	Who, Where string
	Sealed     bool // the judge's answer was kept from them
	At         time.Time
}

// AttemptPage is one attempt of an evaluation, with Href to the latter.
type AttemptPage struct {
	Frame
	Href    string
	Attempt Attempt
}

// Attempt is one call that brought a reply, kept whole.
type Attempt struct {
	// Href is where its texts are, where they are not on the page; else empty.
	Href                           string
	Number                         int    // from 1
	Purpose                        string // what it asked for besides the report; empty: the report
	Sample                         int    // which of several answers it belongs to, from 1; 0: there is one
	Unpriced                       bool   // its model has no price
	Endpoint                       string
	ModelAsked                     string
	ModelAnswered                  string
	Parameters                     string // JSON, indented
	Prompt                         string
	Reply                          string
	PromptRemoved, ReplyRemoved    *time.Time // when retention removed them; nil: they were not
	FinishReason                   string
	Errors                         []string
	Retries                        int    // tries before, that brought no reply
	TransportError                 string // the newest of their failures; empty: it was not kept
	PromptTokens, CompletionTokens int
	CostUSD                        float64
	LatencyMS                      int64
	At                             time.Time
}

// LabelRow is a person's label on an evaluation or trace.
type LabelRow struct {
	Judge    string
	Reviewer string
	Mark
	Blind       bool
	Imported    bool
	Adjudicated bool
	Comment     string
	At          time.Time // zero when unknown
}

// Spread is how far several answers of one model to one question lie apart.
type Spread struct {
	Pass, Borderline, Fail int // usable answers by verdict
	Unusable               int // answers without a valid report, and without a vote
	Min, Max, SD           float64
}
