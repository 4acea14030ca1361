package views

import (
	"time"

	"github.com/a-h/templ"
)

// CorrectionForm is where a person says that a text which the item is judged by is
// itself wrong or outdated. Its controls have the names correction_target,
// correction_kind, correction_explanation and correction_replacement; they post to
// /reviews/{ReviewID}/correction.
type CorrectionForm struct {
	Frame
	ReviewID string
	// Form is the id of the form that the controls belong to, so that nothing else
	// that was typed is lost; empty: they have one of their own.
	Form    string
	Targets []Choice // the texts of the trace
	// Typed are what was chosen and typed before.
	Target, Kind, Explanation, Replacement string
	// Whole says that Replacement begins as the present text.
	Whole bool
	// Fault is what is wrong with it, as a sentence.
	Fault string
}

func (f CorrectionForm) owner() templ.Attributes {
	if f.Form == "" {
		return nil
	}
	return templ.Attributes{"form": f.Form}
}

// CorrectionPage is the form on a page of its own, with the text to be changed.
type CorrectionPage struct {
	CorrectionForm
	ItemTitle  string
	TargetText string // in words
}

// CorrectionsPage lists what was proposed.
type CorrectionsPage struct {
	Frame
	State string // that the list is narrowed to; empty: all
	Rows  []CorrectionRow
	Paging
}

// CorrectionRow is one of them.
type CorrectionRow struct {
	Href, ItemTitle, TraceID string
	Target, Kind             string // in words
	Proposer                 string
	At                       time.Time
	State                    string
	AnsweredBy               string
	AnsweredAt               time.Time // zero: nobody has
}

// OneCorrectionPage is a correction with what it changes.
type OneCorrectionPage struct {
	Frame
	CorrectionRow
	ID, ReviewID string
	Revision     int
	NewRevision  int // that it made; 0: none
	NewHref      string
	Explanation  string
	Answer       string
	// Unknown says that nobody has given the right text yet: the lead does.
	Unknown bool
	Before  string
	Pieces  []DiffPiece
	// MaySettle: the reader accepts or declines it. MayWithdraw: it is theirs.
	MaySettle, MayWithdraw bool
	Fault                  string // of the form that was sent
	Typed                  string // in it
}

// DiffPiece is a stretch of two texts that are compared.
type DiffPiece struct {
	Kind string // same, del, ins, or cut: so many characters are the same and left out
	Text string
}

func correctionsHref(state string) string {
	if state == "" {
		return "/corrections"
	}
	return "/corrections?state=" + state
}

// correctionState is a state in words.
func correctionState(state string) string {
	switch state {
	case "":
		return "All"
	case "withdrawn":
		return "Taken back"
	}
	return sentence(state)
}
