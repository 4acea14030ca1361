package harness

import (
	"maps"
	"slices"
	"time"

	"github.com/countersign/countersign/judge"
)

// DryRunResult says what a policy would have sent to people.
type DryRunResult struct {
	// Evaluations is how many were routed again. NotJudged were queued or refused,
	// Unreadable made by a version of a judge that cannot be run here any more;
	// neither is in any other number.
	Evaluations int `json:"evaluations"`
	NotJudged   int `json:"not_judged,omitempty"`
	Unreadable  int `json:"unreadable,omitempty"`
	// SealedLeftOut were not looked at because their verdict is still kept from who
	// asks; the caller fills it in.
	SealedLeftOut int `json:"sealed_left_out"`
	// Refused would not have been judged: the policy does not name the endpoint.
	// OtherVerdict would have had another verdict, by another band.
	Refused      int `json:"refused"`
	OtherVerdict int `json:"other_verdict"`

	Before Load `json:"before"`
	After  Load `json:"after"`
	// By reason (in the queue's order), by judge and by stakes (by name). An
	// evaluation with several reasons counts in each.
	ByReason []Moved `json:"by_reason"`
	ByJudge  []Moved `json:"by_judge"`
	ByStakes []Moved `json:"by_stakes"`

	NewlySent    Changes `json:"newly_sent"`
	NoLongerSent Changes `json:"no_longer_sent"`

	// Oldest and Newest are when the evaluations were judged. PerWeek is the load
	// at that rate, before and after; nil when they lie less than a day apart,
	// which says nothing of a week.
	Oldest  time.Time `json:"oldest,omitzero"`
	Newest  time.Time `json:"newest,omitzero"`
	PerWeek *Weekly   `json:"per_week,omitempty"`
}

// Load is how many reviews there are and how long they take people.
type Load struct {
	Sent  int     `json:"sent"`
	Hours float64 `json:"hours"`
}

func (l *Load) add(sent bool, hours float64) {
	if sent {
		l.Sent++
		l.Hours += hours
	}
}

// Weekly is a load in a week.
type Weekly struct {
	BeforeSent  float64 `json:"before_sent"`
	AfterSent   float64 `json:"after_sent"`
	BeforeHours float64 `json:"before_hours"`
	AfterHours  float64 `json:"after_hours"`
}

// Moved is a number of evaluations sent to people before and after.
type Moved struct {
	Name   string `json:"name"`
	Before int    `json:"before"`
	After  int    `json:"after"`
}

// Changes are evaluations whose way differs: how many, and the first of them.
type Changes struct {
	Count int      `json:"count"`
	First []Change `json:"first"`
}

// Change is one evaluation whose way differs, with the reasons that sent it or
// would send it.
type Change struct {
	EvaluationID string   `json:"evaluation_id"`
	TraceID      string   `json:"trace_id"`
	Judge        string   `json:"judge"`
	Reasons      []string `json:"reasons"`
}

// mostChanges are named of each kind.
const mostChanges = 100

func (c *Changes) add(e *judge.Evaluation, traceID string, reasons []judge.Reason) {
	c.Count++
	if len(c.First) == mostChanges {
		return
	}
	change := Change{EvaluationID: e.ID, TraceID: traceID, Judge: e.Judge}
	for _, r := range reasons {
		if !slices.Contains(change.Reasons, r.Code) {
			change.Reasons = append(change.Reasons, r.Code)
		}
	}
	c.First = append(c.First, change)
}

// tallies count by name.
type tallies map[string]*Moved

func (t tallies) add(name string, before, after bool) {
	s := t[name]
	if s == nil {
		s = &Moved{Name: name}
		t[name] = s
	}
	if before {
		s.Before++
	}
	if after {
		s.After++
	}
}

// in gives the tallies in an order of names.
func (t tallies) in(order []string) []Moved {
	list := []Moved{}
	for _, name := range order {
		if s := t[name]; s != nil {
			list = append(list, *s)
		}
	}
	return list
}

func (t tallies) sorted() []Moved { return t.in(slices.Sorted(maps.Keys(t))) }

// Result is what was found so far.
func (d *DryRun) Result() DryRunResult {
	r := d.result
	r.ByReason, r.ByJudge, r.ByStakes = d.reasons.in(judge.ReasonCodes()), d.judges.sorted(), d.stakes.sorted()
	r.Oldest, r.Newest = d.oldest, d.newest
	if span := r.Newest.Sub(r.Oldest); span >= 24*time.Hour {
		weeks := span.Hours() / (7 * 24)
		r.PerWeek = &Weekly{
			BeforeSent: float64(r.Before.Sent) / weeks, AfterSent: float64(r.After.Sent) / weeks,
			BeforeHours: r.Before.Hours / weeks, AfterHours: r.After.Hours / weeks,
		}
	}
	return r
}
