package views

import "github.com/a-h/templ"

// Bench is the workbench of one kind of judge: what stands between the desk's head
// and its decision bar. Each kind has a struct of its own, made by package web.
//
// Radios and notes of a bench belong to the form "decision" (see ruling and
// rulingNote). An element with data-unit (its value the unit's key) and the
// unit's anchor as its id is a part that J and K step through; inside it a
// fieldset with data-key answers to its letter, and one with data-digits to
// numbers. data-progress-of is kept up by the script.
type Bench interface {
	// wide is one pane over the whole width; trace then draws all of it.
	wide() bool
	// trace draws the text under review.
	trace(p DeskPage) templ.Component
	// rulings draws what is ruled on, beside the trace; unused when wide.
	rulings(p DeskPage) templ.Component
}

// GenericBench is the workbench of a project's own judge: its label and its
// findings.
type GenericBench struct {
	// Label asks for one of the judge's labels; nil when it has none.
	Label *RulingUnit
	// Findings of the report, each to be upheld or rejected; none while sealed.
	Findings []FindingUnit
}

// FindingUnit is a finding of the report that a person rules on.
type FindingUnit struct {
	RulingUnit
	Severity string
	Class    string // the finding's kind in the judge's own words; may be empty
	Step     int    // of the output, from 1; 0: none
	Quote    string
	// Explanation is the judge's.
	Explanation string
}

func (b *GenericBench) wide() bool { return false }
func (b *GenericBench) trace(p DeskPage) templ.Component {
	return traceDocument(unmarked(p.Trace, p.sealed()), "")
}
func (b *GenericBench) rulings(p DeskPage) templ.Component { return genericRulings(p, b) }
