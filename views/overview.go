package views

import (
	"time"

	"github.com/countersign/countersign/judge"
)

// OverviewPage is the page a person starts from.
type OverviewPage struct {
	Frame
	// Greeting is the heading: the day, for instance "Tuesday 14 July".
	Greeting string
	// Lead is one sentence under it: what waits for this person.
	Lead string
	// Next is the most urgent item this person may take; its form posts to
	// /queue/next. Nil when nothing waits.
	Next *NextItem
	// Open and Overdue count review items.
	Open, Overdue int
	// Reasons counts open items by the first reason that may be told.
	Reasons []ReasonCount
	// SealedCount is the sum of the items whose reasons are sealed until answered.
	SealedCount int
	SealedHref  string
	// Health has a row for each judge, model and prompt version in use.
	Health []CalibrationRow
	Drift  []DriftOpen // judges with open drift alarms
	// Undelivered says to admins that messages to another system do not arrive; empty:
	// they do.
	Undelivered string
	// ShowHealth is off for roles that calibration is kept from.
	ShowHealth bool
	// Runs are the latest, newest first.
	Runs []RunRow
	// Week is what this person did in seven days; nil for roles that decide nothing.
	Week *Week
	// Statuses counts evaluations by status, in the order to be shown.
	Statuses []StatusCount
	// Elsewhere is queued work that this server can't do.
	Elsewhere []Elsewhere
	// Evaluations in the project; none makes this the empty state.
	Evaluations int
}

// NextItem is the item that waits most urgently, as far as it may be told.
type NextItem struct {
	Title   string // the trace's question or id, shortened by the caller
	TraceID string
	Judge   string
	Run     string
	Stakes  judge.Stakes
	Due     time.Time // zero leaves it out
	// Reasons that may be told; Sealed says that others are kept back.
	Reasons []judge.Reason
	Sealed  bool
	// Mine says that this person already holds it: ReviewHref leads there.
	Mine       bool
	ReviewHref string
}

// ReasonCount is one line of the queue by reason.
type ReasonCount struct {
	Code string // a reason code
	Open int
	Href string // the queue, filtered
}

// StatusCount counts the evaluations of one status.
type StatusCount struct {
	Status judge.Status
	Count  int
	Href   string // the list, filtered
}

// Week is what a reviewer did since Monday, or in another time.
type Week struct {
	Decisions     int
	Overridden    int
	Blind         int
	MedianSeconds int // time between claim and decision; 0 when there is none
}
