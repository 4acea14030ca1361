package ruling

import "github.com/countersign/countersign/judge/evidence"

// Diff is how an output differs from its reference, word by word.
type Diff struct {
	// Segments in order; together they are both texts, white space apart.
	Segments    []Segment
	Differences []Difference
	// Reference and Candidate marks stand in differing parts, in order.
	Reference, Candidate []Mark
	// Whole is the range of the reference that is compared: all of it, or of
	// several right answers (" | ") the nearest.
	Whole evidence.Span
	// Unplaced are differences that the report lists and that speak of none of
	// Differences; nil when the sheet is sealed.
	Unplaced []string

	several bool
}

// Alternatives tells whether the reference gives several right answers, of which
// Whole is one.
func (d *Diff) Alternatives() bool { return d.several }

// SegmentKind says in which of two texts a segment is.
type SegmentKind string

// Kinds of segments.
const (
	Same     SegmentKind = "same"
	Deleted  SegmentKind = "del" // only in the reference
	Inserted SegmentKind = "ins" // only in the candidate
	Replaced SegmentKind = "changed"
)

// Segment is a stretch of one or both texts. A side without words is an empty
// span at the place where they would stand.
type Segment struct {
	Kind                 SegmentKind
	Reference, Candidate evidence.Span
	Difference           int // its number, from 1; 0 for Same
}

// Difference is one place where the texts differ.
type Difference struct {
	Number                       int           // from 1
	Reference, Candidate         evidence.Span // bytes of the trace's own texts
	ReferenceText, CandidateText string        // without white space around
	// Marks are the kinds of words in it that matter more, each once.
	Marks []MarkKind
}

// MarkKind says what a marked word is.
type MarkKind string

// Kinds of marks.
const (
	MarkNumber   MarkKind = "number"
	MarkUnit     MarkKind = "unit"
	MarkNegation MarkKind = "negation"
	MarkDate     MarkKind = "date"
)

// Mark is a word of a differing part that matters more than others.
type Mark struct {
	evidence.Span
	Kind MarkKind
}
