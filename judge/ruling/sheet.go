package ruling

import (
	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

// Kind says which workbench a sheet is for.
type Kind string

// Kinds of sheets.
const (
	Citations Kind = "citations"
	Steps     Kind = "steps"
	Reference Kind = "reference"
	Logic     Kind = "logic"
	Own       Kind = "own" // a project's own judge
)

// Sheet is all that a person can rule on in one item, with the facts that a
// workbench shows beside it.
type Sheet struct {
	Kind  Kind
	Units []Unit
	// Judged: the sheet holds a report's choices. False when it is sealed, or when
	// the judge gave no report.
	Judged bool

	// Steps of the output as the trace is shown, whatever the judge.
	Steps []evidence.Step
	// ReferenceSteps of kind Steps: the reference as we cut it.
	ReferenceSteps []evidence.Step
	// Answers of kind Steps; nil for others.
	Answers *Answers
	// Diff of kind Reference; nil for others.
	Diff *Diff

	judge   *judge.Judge
	trace   *judge.Trace
	rubric  judge.Rubric
	report  reported
	at      map[string]place // of each part that stands in a unit
	further map[string]Part  // parts that stand in none and may be ruled on all the same
}

type place struct{ unit, part int }

// Unit is what a person steps through: one citation, one pair of steps, one
// dimension. At most one of its facts is there.
type Unit struct {
	// Key is unique in the sheet: "citation/3", "pair/2", "dimension/premise_support".
	Key   string
	Title string
	Parts []Part

	Citation   *Citation
	Pair       *Pair
	Extra      *Extra
	Difference *Difference
	Dimension  *Dimension
	Finding    *judge.Finding // of an own judge
}

// Part is one question to a person.
type Part struct {
	// Key is judge.Ruling.Part: "citation/3/support". Where Many holds it has no
	// number yet: a ruling on it is Key + "/1", "/2" and so on, at most MostAdded.
	Key   string
	Title string // "Support"
	// Shortcut is the letter that moves to the next choice, or that uses the part;
	// empty: none. Choices are chosen by 1 to 9 in their order.
	Shortcut string
	Choices  []Choice
	// Judged is the judge's choice; empty: sealed, or it said nothing of the kind.
	Judged string
	// JudgeNote is what the judge says of it in words, or the judge's own word
	// where that is finer than the choice.
	JudgeNote string
	// Optional parts count in no progress, and need no ruling.
	Optional bool
	Many     bool

	// Violation that the part is about, in a dimension's unit.
	Violation *Violation

	// silent is the choice that a judge makes by saying nothing of the part; empty:
	// its silence says nothing.
	silent string
}

// Unlisted: there is a report, it lists what it found, and this part is not in it.
func (p Part) Unlisted() bool { return p.silent != "" && p.Judged == "" }

// Choice is one value of a part.
type Choice struct {
	Value  string // judge.Ruling.Value
	Text   string
	Symbol string // "=", "≈", "⌀"; empty: none
	Help   string // what the choice means, in a sentence without a full stop; may be empty
}

// Outcome is what rulings come to by the judge's own formula.
type Outcome struct {
	// Score in [0,1]; nil where the judge's score has no formula.
	Score   *float64
	Verdict judge.Verdict
	Label   string
	// Critical: a finding that fails the whole whatever the score.
	Critical bool
	// Credit in [0,1] of kind Reference; nil for others.
	Credit *float64
	// Parts are the classes of citations, reference steps or dimensions.
	Parts []judge.PartLabel
}

// Citation is what the texts say about one occurrence of a marker.
type Citation struct {
	Marker evidence.Marker
	// Claim that the marker supports, with its place in the output.
	Claim evidence.Claim
	// Source is nil when the trace has none of the marker's id.
	Source *judge.Source
	// Quote is the longest quotation of the claim, which was looked for; empty:
	// the claim quotes nothing.
	Quote string
	Kind  MatchKind
	// Match of Quote in Source.Text; the zero Match when nothing was looked for.
	Match evidence.Match
	// Passage to show: around the match, else what shares most words with the
	// claim; empty when there is no source, or none shares a word.
	Passage evidence.Excerpt
	// LeftOut is how many words of the source the quotation leaves out.
	LeftOut int
	// Altered says which number, unit or negation of a near quotation is changed;
	// empty: none.
	Altered string
	// Numbers of the claim that the source does not say, as the claim writes them.
	Numbers []string
}

// MatchKind is how a citation's quotation stands in its source.
type MatchKind string

// Kinds of matches.
const (
	MatchExact    MatchKind = "exact"
	MatchNear     MatchKind = "near"
	MatchNotFound MatchKind = "not_found"
	MatchNoQuote  MatchKind = "no_quote"
	MatchNoSource MatchKind = "no_source"
)

// Pair is a step of the reference and the steps of the output that stand for it.
type Pair struct {
	// Reference step, from 1, and Of how many: as we cut the reference, or as the
	// judge did where its cut is another.
	Reference, Of int
	// ReferenceText is the whole step, or the report's summary of it.
	ReferenceText string
	// Candidate steps as the trace is shown; empty: none is known.
	Candidate []int
	// CandidateText is what the report says of a step that is none of ours; empty
	// where Candidate tells.
	CandidateText string
	// JudgeWord is the judge's own word: CORRECT, EQUIVALENT, order_mismatch …;
	// empty when sealed.
	JudgeWord string
	// Critical: the report counts a critical error here.
	Critical bool
}

// Extra is a step of the output that stands for none of the reference.
type Extra struct {
	// Step of the output, from 1, and Of how many, as Pair.Reference.
	Step, Of  int
	Text      string
	JudgeWord string
	Critical  bool
}

// Answers are the final answers of output and reference.
type Answers struct {
	Candidate, Reference string
	// Compared: both are numbers and nothing else; Same says whether they are one.
	Compared, Same bool
}

// Dimension is a question of the rubric.
type Dimension struct {
	judge.Dimension
	// Score that the report gives, on the scale 1 to 5, unrounded; 0: none.
	Score float64
}

// Violation is a fault that the report finds in the reasoning.
type Violation struct {
	judge.Finding
	// Number in the report's order, from 1.
	Number int
	// Place of the quotation in the output. Kind is evidence.None when it is not
	// there, or when the violation quotes nothing.
	Place evidence.Match
}
