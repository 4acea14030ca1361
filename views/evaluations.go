package views

import (
	"time"

	"github.com/countersign/countersign/judge"
)

// EvaluationsPage lists evaluations, newest first.
type EvaluationsPage struct {
	Frame
	Filter EvaluationsFilter
	Rows   []EvaluationRow
	Paging
	// Filtered says that a filter is set: an empty list then says so.
	Filtered bool
}

// EvaluationsFilter is the GET form over the list.
type EvaluationsFilter struct {
	Runs, Judges, Reasons []Choice // without the "any" entry

	Run     string // chosen, as in the address; empty is any
	Judge   string
	Status  string
	Verdict string
	Reason  string
	// Overridden is 1 for what people settled otherwise than the judge.
	Overridden string
	// Query is what the search in the bar asked for: a trace's id or a hash.
	Query string
	// Version, Engine, Model and Endpoint that judged, as in the address.
	Version, Engine, Model, Endpoint string
}

// EvaluationRow is one evaluation.
type EvaluationRow struct {
	Href    string
	Title   string // the trace's question or id, shortened by the caller
	TraceID string
	Run     string
	Judge   string
	Version string // prompt version, whole
	Model   string
	// AnsweredBy is the engine that answered where another was asked; Endpoint a
	// configured name, Samples the calls that voted where it was more than one.
	AnsweredBy string
	Endpoint   string
	Samples    int
	Shadow     bool // made beside another one to be compared with
	Status     judge.Status
	// RefusedField and Refusal say what the trace lacks and why it was refused;
	// empty: it was not.
	RefusedField, Refusal string
	// Sealed keeps Proposed, Result and telling reasons back; they are empty.
	Sealed       bool
	Proposed     Mark
	Result       Mark   // zero when not final
	ResultSource string // judge, human, adjudication
	Reasons      []judge.Reason
	At           time.Time
}
