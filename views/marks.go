package views

import (
	"time"

	"github.com/countersign/countersign/judge"
)

// Mark is a verdict as a mark: shape, word, and where known label and score.
// Its zero value is "no verdict".
type Mark struct {
	// Verdict; empty when there is none (yet).
	Verdict judge.Verdict
	// Label is the judge's finer class; empty when there is none.
	Label string
	// Score in [0,1]; nil leaves it out.
	Score *float64
}

// Event is one line of a history, oldest first.
type Event struct {
	At       time.Time
	ByPerson bool   // a person's act is drawn in ink, a machine's in pencil
	Who      string // name of the person, judge or program
	What     string // what happened, in a few words
	Note     string // what was said with it; optional
	Hash     string // of the audit event, whole; optional, shown shortened
}

// SegmentKind says how a stretch of text is drawn.
type SegmentKind string

// Segment kinds. The cite kinds are chips that lead to their citation.
const (
	Plain     SegmentKind = ""
	Claim     SegmentKind = "claim"      // a cited claim, underlined
	ClaimHere SegmentKind = "claim-here" // the claim of the open citation
	Cite      SegmentKind = "cite"       // a marker whose claim quotes nothing
	CiteExact SegmentKind = "cite-exact" // its quotation is in the source, word for word
	CiteNear  SegmentKind = "cite-near"  // nearly so
	CiteNone  SegmentKind = "cite-none"  // quotation or source not found
	Marked    SegmentKind = "mark"       // words of the source that the trace quotes
	Near      SegmentKind = "near"       // the same, not word for word
	Omitted   SegmentKind = "omitted"    // words of the source that a quotation leaves out
	Replaced  SegmentKind = "replaced"   // words of the source that a quotation has otherwise
	Added     SegmentKind = "added"      // words of a quotation that the source has not
	Boxed     SegmentKind = "boxed"      // words about what is left out, boxed as that is
	Back      SegmentKind = "back"       // a chip at a passage of a source, back to its citation
	Far       SegmentKind = "far"        // surrounding text
	Violation SegmentKind = "violation"  // a passage that a finding points at; never while sealed
	Flag      SegmentKind = "flag"       // the number of a finding, behind its passage; never while sealed
)

// Segment is a stretch of text drawn in one way. Text is always text.
type Segment struct {
	Text string
	Kind SegmentKind
	// Style is how Markdown has it; 0 in a plain text.
	Style Style
	// Ref is, for cite kinds and Back, the number of the citation's occurrence
	// ("3"); for claims and violations the anchors of the citations or findings that
	// they belong to ("c3 c4"); for Flag the number of its finding.
	Ref string
}

// TraceText is a trace as a document.
type TraceText struct {
	Question string // empty leaves its box out
	Steps    []Step // the output, cut into steps; one step for a plain text
	// Answer is the final answer where it stands apart from the steps.
	Answer []Segment
	// Lang is the language of the trace as a BCP 47 tag; empty: not known.
	Lang string
	// Reference names the trace, revision and hash, for a copy that says where it
	// is from; empty offers none.
	Reference string
	// Markdown says that steps have blocks. PlainHref and MarkdownHref lead to the
	// one and the other; empty: there is no choice.
	Markdown                bool
	PlainHref, MarkdownHref string
}

// Step is one step of the output.
type Step struct {
	N        int // from 1
	Segments []Segment
	// Blocks are the same text as Markdown has it; none: it is drawn as written.
	Blocks []Block
}

// Input is one thing that the judge had beside the output.
type Input struct {
	// Name as people read it: Reference, Premises, Conclusion, Sources, Constraints.
	Name string
	// Items: one for a text, several for a list.
	Items []InputItem
}

// InputItem is one text of an input.
type InputItem struct {
	Heading string // a source's title or id; empty for plain texts
	Address string // a source's URL, shown as text and never as a link
	Text    []Segment
}

// Text makes the segments of a text that is not marked up.
func Text(s string) []Segment { return []Segment{{Text: s}} }

// manyParts is how many steps or citations are drawn as the page is; of more, the
// browser draws those in sight and guesses how high the others are.
const manyParts = 60
