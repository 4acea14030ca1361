package views

import (
	"strconv"
	"time"

	"github.com/countersign/countersign/judge"
)

// QueuePage lists the review items, most urgent first.
type QueuePage struct {
	Frame
	Tabs   []QueueTab
	Views  []SavedView
	Filter QueueFilter
	Rows   []QueueRow
	Paging
	// Open and Overdue count all items, whatever the filter.
	Open, Overdue int
	// Filtered says that a filter is set; Shown are those filters in words, and
	// Filters is the query of the list's address, without the cursor of a page.
	Filtered bool
	Shown    []string
	Filters  string
	// MayChange shows what a lead can do to the selected rows.
	MayChange bool
	// Fault is why that was refused; its zero value shows nothing.
	Fault QueueFault
}

// changeHref is where a change of the selected rows goes, and back from.
func (p QueuePage) changeHref() string { return with("/queue/change", p.Filters) }

func with(path, query string) string {
	if query == "" {
		return path
	}
	return path + "?" + query
}

// MyWorkPage is what one person has to do and how they get on.
type MyWorkPage struct {
	Frame
	Tabs     []QueueTab
	Held     []QueueRow
	Assigned []QueueRow // and not held by this person
	ForLead  int        // what waits for a lead, to leads
	Skipped  int        // today
	Drafts   int        // items with words of this person that are not signed
	ForMe    int        // what was sent to this person by name
	// Corrections wait for a lead; 0 to others.
	Corrections int
	// Asked are open questions to this person, Answers what others said to theirs.
	Asked, Answers []Said
	Next           *NextItem // what claiming the next item gives; nil: nothing, and Why says why
	Today          Week
	Week           Week
	// Why sorts the Waiting items by what keeps each from this person.
	Waiting int
	Why     []WhyLine
}

// Said is a question or an answer that stands on an item.
type Said struct {
	Who       string
	Text      string
	At        time.Time
	ItemTitle string
	Href      string // where it stands on the desk
}

// WhyLine is how many items are not for a person, and why.
type WhyLine struct {
	N    int
	Text string // goes on from "12 items "
	Href string // a list of exactly those; empty: none
}

// QueueTab is a list of the queue with the number of its rows.
type QueueTab struct {
	Text    string
	Href    string
	Count   int
	More    bool // there may be more than Count
	Current bool
}

// SavedView is a set of filters under a name.
type SavedView struct {
	ID, Name, Href string
	Owner          string // who shares it
	Shared, Mine   bool
	MayDelete      bool
	Current        bool
}

// QueueFault says why nothing was changed, and which items are in the way.
type QueueFault struct {
	Title, Text string
	Items       []RefusedItem
}

// RefusedItem is an item that can't be changed, and why, as a sentence.
type RefusedItem struct{ Href, Title, TraceID, Why string }

// QueueFilter is the GET form over the list: what can be chosen and what is.
type QueueFilter struct {
	Judges, Domains, Reasons, Runs []Choice // without the "any" entry
	States, Waitings, People       []Choice
	Assignees                      []Choice // whom items can be assigned to

	Judge    string // chosen, as in the address; empty is any
	Domain   string
	Stakes   string // high, standard
	Reason   string // a reason code
	Lead     string // the first reason's code, kept when the form is sent
	State    string
	Run      string
	Held     string
	Assigned string
	Waiting  string
	Overdue  bool
	Blind    string // yes, no
	Priority string // 1, 2, 3
	// More says that one of the filters is set that stand behind "More filters".
	More bool
}

// QueueRow is one review item.
type QueueRow struct {
	ID      string
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
	Blind   bool
	State   string    // open, claimed, decided, adjudication, closed
	Since   time.Time // when it began to wait
	Due     time.Time // zero leaves it out
	// Priority is 1 to 3, 0 where it would tell what is sealed; SetPriority says
	// that a lead set it.
	Priority    int
	SetPriority bool
	// Assigned is who it is meant for, or was sent to; empty: whoever takes it.
	Assigned string
	// Opinions that were given, of those that are required.
	Opinions, OpinionsRequired int
	// Holder of the claim; empty when it is free. Mine: it is this person.
	Holder string
	Mine   bool
	// Until the claim runs out; zero when it is free.
	Until time.Time
	// Selected ticks its box.
	Selected bool
}

// priority is the word in the row.
func (r QueueRow) priority() string {
	if r.Priority == 0 {
		return "–"
	}
	return "P" + strconv.Itoa(r.Priority)
}

func (r QueueRow) priorityTitle() string {
	switch {
	case r.SetPriority:
		return "set by a lead"
	case r.Priority == 0:
		return "not told until you answer"
	}
	return "by reason"
}

// count is the number on a tab.
func (t QueueTab) count() string {
	n := number(int64(t.Count))
	if t.More {
		return n + "+"
	}
	return n
}

// Span is a duration in words, in at most two units.
func Span(d time.Duration) string { return span(d) }
