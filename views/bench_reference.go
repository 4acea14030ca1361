package views

import "github.com/a-h/templ"

// ReferenceBench is the workbench of the judge of equivalence: the reference and
// the candidate compared word by word, what each difference does, and the class.
type ReferenceBench struct {
	Question string // empty leaves its box out
	// Reference and Candidate are the two texts as they stand, Merged is both in
	// one. Of long texts the stretches that are the same are folded, and Merged
	// says only how much is left out.
	Reference, Candidate, Merged []DiffRun
	// Alternatives: the reference gives several right answers, and the nearest is
	// compared.
	Alternatives bool
	Differences  []DifferenceUnit
	// Unplaced are differences that the report lists and that are at none of the
	// places above, in the judge's words; none while sealed.
	Unplaced []string
	// Class asks for the equivalence class; its part is nil-valued where the judge
	// has none.
	Class RulingUnit
	// ComesTo says in a sentence what the rulings so far come to; empty: nothing yet.
	ComesTo string
}

// DiffKind says how a stretch of compared texts is drawn.
type DiffKind string

// Kinds of stretches.
const (
	DiffSame    DiffKind = ""        // in both texts
	DiffDeleted DiffKind = "del"     // only in the reference
	DiffAdded   DiffKind = "ins"     // only in the candidate
	DiffGap     DiffKind = "gap"     // nothing here; the other text has words
	DiffFolded  DiffKind = "folded"  // in both texts, long, and closed at first
	DiffLeftOut DiffKind = "leftout" // as folded, and not on this page twice
	DiffNumber  DiffKind = "number"  // of the difference before it, leading to its row
)

// DiffRun is a stretch of compared texts.
type DiffRun struct {
	Kind DiffKind
	// Difference is its number, from 1; 0 where the texts are the same.
	Difference int
	Text       []DiffWord // none of a gap
	Words      int        // of a folded or left out stretch
}

// DiffWord is text of one kind: plain, or a word that matters more than others.
type DiffWord struct {
	Text string
	// Mark is number, unit, negation or date; empty: plain.
	Mark string
}

// DifferenceUnit is one place where the texts differ.
type DifferenceUnit struct {
	RulingUnit
	Number               int // from 1
	Reference, Candidate []DiffWord
	// Unlisted: there is a report, and it says nothing of this difference.
	Unlisted bool
}

func (b *ReferenceBench) wide() bool                       { return false }
func (b *ReferenceBench) trace(p DeskPage) templ.Component { return referenceTexts(b) }
func (b *ReferenceBench) rulings(p DeskPage) templ.Component {
	return referenceRulings(p, b)
}
