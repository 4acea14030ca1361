package views

import "time"

// AuditPage is the log of everything that changed something.
type AuditPage struct {
	Frame
	Check  AuditCheck
	Filter AuditFilter
	Rows   []AuditRow
	Paging
}

// AuditCheck is the result of walking the hash chain.
type AuditCheck struct {
	// Done is false when the chain was not walked for this page.
	Done   bool
	Whole  bool
	Events int
	// BrokenAt is the number of the first event that does not fit; Fault says how.
	BrokenAt int64
	Fault    string
	Head     string // hash of the last event, whole
	At       time.Time
}

// AuditFilter is the GET form over the list.
type AuditFilter struct {
	Actions []Choice // without the "any" entry

	Actor   string // a name, as typed; empty is any
	Action  string
	Subject string // an id, as typed
	From    string // day, YYYY-MM-DD
	To      string
}

// AuditRow is one event.
type AuditRow struct {
	Seq      int64
	At       time.Time
	Actor    string
	ByPerson bool
	Action   string // as people read it
	Denied   bool   // it was tried and refused
	Subject  string // kind and id
	Detail   string // optional
	Previous string // hash of the event before, whole
	Hash     string // whole
}
