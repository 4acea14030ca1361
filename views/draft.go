package views

import "time"

// DraftConflictPage shows two drafts of one item, when another page of the same
// person saved one meanwhile.
type DraftConflictPage struct {
	Frame
	ReviewID string
	Version  int         // of the other: saving over it names it
	SavedAt  time.Time   // of the other
	Yours    []DraftLine // what was just sent
	Other    []DraftLine // what is stored
	Fields   []FieldAgain
}

// DraftLine is one thing in a draft.
type DraftLine struct{ Name, Value string }
