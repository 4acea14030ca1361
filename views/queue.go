package views

import (
	"time"

	"github.com/countersign/countersign/judge"
)

// QueuePage lists the review items, most urgent first.
type QueuePage struct {
	Frame
	Filter QueueFilter
	Rows   []QueueRow
	Paging
	// Open and Overdue count all items, whatever the filter.
	Open, Overdue int
	// Filtered says that a filter is set: an empty list then says so.
	Filtered bool
}

// QueueFilter is the GET form over the list: what can be chosen and what is.
type QueueFilter struct {
	Judges, Domains, Reasons, Runs []Choice // without the "any" entry

	Judge  string // chosen, as in the address; empty is any
	Domain string
	Stakes string // high, standard
	Reason string // a reason code
	State  string // free, adjudication; empty is all that waits
	Run    string
	Mine   bool // only what this person holds
}

// QueueRow is one review item.
type QueueRow struct {
	Href    string // of the desk
	Title   string // the trace's question or id, shortened by the caller
	TraceID string
	Run     string
	Domain  string
	Judge   string
	Version string // prompt version, whole
	Stakes  judge.Stakes
	// Reasons that may be told; Sealed says that others are kept back.
	Reasons []judge.Reason
	Sealed  bool
	State   string    // open, claimed, decided, adjudication, closed
	Since   time.Time // when it began to wait
	Due     time.Time // zero leaves it out
	// Holder of the claim; empty when it is free. Mine: it is this person.
	Holder string
	Mine   bool
	// Until the claim runs out; zero when it is free.
	Until time.Time
}
