package views

import "strings"

// RulingUnit is one part of an item as J and K step through them: a citation
// with its four questions, a pair of steps, a dimension, a finding.
type RulingUnit struct {
	// Key of the sheet's unit: "citation/3".
	Key string
	// Anchor is the element's id and so the part's own address: "c3". It is a
	// letter and a number, whatever the key is.
	Anchor string
	Title  string
	Parts  []RulingPart
	// Progress in a word or two: "To check", "Agreed", "2 changed", "Ruled".
	Progress string
	// Done says that nothing of it waits for a ruling.
	Done bool
}

// RulingPart is one question to a person: the judge's choice in pencil, the
// person's in ink.
type RulingPart struct {
	// Key is judge.Ruling.Part: "citation/3/support".
	Key   string
	Title string
	// Shortcut is the lower-case letter that moves to the next choice; empty: none.
	Shortcut string
	Choices  []RulingChoice
	// Judged is the judge's choice; empty: sealed, or it made none.
	Judged string
	// JudgeNote is what the judge says of it in words; empty: sealed, or nothing.
	JudgeNote string
	// Value is the person's choice; empty: none yet.
	Value string
	// Note is what the person adds in words.
	Note string
	// Locked parts are shown and not changed: a blind answer after the reveal, an
	// item that somebody else holds.
	Locked   bool
	Optional bool
	// Many parts take any number of rulings, each under Key and a number.
	Many bool
}

// RulingChoice is one value of a part.
type RulingChoice struct {
	Value  string
	Text   string
	Symbol string // "=", "≈", "⌀"; empty: none
	Help   string // what the choice means, in a sentence without a full stop; may be empty
}

// RulingField is the name of a part's field in the desk's form, and RulingNoteField
// of what the person adds to it.
func (r RulingPart) RulingField() string     { return "ruling." + r.Key }
func (r RulingPart) RulingNoteField() string { return "ruling-note." + r.Key }

// Changed says that the person chose otherwise than the judge.
func (r RulingPart) Changed() bool { return r.Value != "" && r.Judged != "" && r.Value != r.Judged }

// judged is the judge's choice as far as this page may draw it: a sealed page
// keeps it back by itself, should a caller be wrong.
func (p DeskPage) judgedOf(r RulingPart) string {
	if p.sealed() {
		return ""
	}
	return r.Judged
}

// shortcutKeys is the letter as aria-keyshortcuts and the key cap write it.
func (r RulingPart) shortcutKeys() string { return strings.ToUpper(r.Shortcut) }
