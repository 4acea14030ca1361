package views

import (
	"time"

	"github.com/countersign/countersign/judge"
)

// DeskState says what a person can do with an item now.
type DeskState string

// Desk states.
const (
	DeskOpen         DeskState = "open"         // nobody holds it: it can be claimed
	DeskBlind        DeskState = "blind"        // held by this person, the judge's answer sealed
	DeskRevealed     DeskState = "revealed"     // own answer committed: keep, adopt or escalate
	DeskVisible      DeskState = "visible"      // held by this person, nothing sealed
	DeskAdjudication DeskState = "adjudication" // people disagree: a lead settles it
	DeskDecided      DeskState = "decided"      // signed by this person or somebody before
	DeskLost         DeskState = "lost"         // somebody else holds it or signed first
	DeskLate         DeskState = "late"         // settled by somebody else while this person worked on it: a second opinion can be added
	DeskExpired      DeskState = "expired"      // this person's claim ran out; it can be claimed again
	DeskReadOnly     DeskState = "readonly"     // this role may look and not decide
)

// DeskPage is the workbench: the trace on the left, the evidence on the
// right, the decision below. Forms post to /reviews/{ID}/claim, /decision,
// /second-opinion, /draft, /undo, /skip, /reopen and /release; scripts post to
// /reviews/{ID}/renew.
//
// Fields of the decision form: action (confirm, override, cannot_judge,
// escalate; after a reveal keep, adopt, override, escalate; empty on a blind
// commit), verdict, label, "ruling." and "ruling-note." with a part of the item,
// reason_code, severity, comment, confidence, to; then=next goes on to the next
// item.
type DeskPage struct {
	Frame
	ID    string // the review's
	State DeskState
	// PersonID is who the page is for: what it sends counts as nobody else's.
	PersonID string
	// Answered says that this person has signed an answer that stands: nothing that
	// their browser kept of the item is open any more.
	Answered bool
	// Claim is how the item stands for this reader, in the word that the stream
	// of events has for it: the script tells when that changes.
	Claim string
	// Sealed means that this reader may not know the judge's answer. Then
	// Proposal is nil, Reasons holds only what may be told, and History leaves
	// out what tells. The page keeps Proposal and telling reasons back again
	// by itself, should a caller be wrong.
	Sealed bool

	// Task is what the judge is asked, in a sentence: what a reviewer answers too.
	Task string

	// MayManage leads to where a lead assigns the item and ends claims on it.
	MayManage bool

	EvaluationID  string
	TraceID       string
	ItemTitle     string // the trace's question or id, shortened by the caller
	Judge         string
	PromptVersion string // whole; shown shortened. Not a secret of blind review
	Run           string
	Domain        string
	Stakes        judge.Stakes
	Due           time.Time // zero leaves it out
	Reasons       []judge.Reason
	ReasonsSealed bool // there are reasons that are kept back

	// LeaseSeconds are left on this person's claim of LeaseTotal seconds.
	LeaseSeconds, LeaseTotal int
	// Holder is who else holds the item, in state lost; HolderUntil when that
	// claim runs out.
	Holder      string
	HolderUntil time.Time

	Trace TraceText
	// Bench is where this person rules on the item's parts, in the shape of its
	// judge; nil when the judge's definition is not known.
	Bench Bench
	// Inputs beside the output, for every judge, but for those that the workbench
	// shows.
	Inputs []Input

	// Proposal is the judge's answer; nil while sealed, or when the judge failed.
	Proposal *Proposal
	// JudgeFault says why there is no proposal when the judge failed.
	JudgeFault string

	// HandedOn are who passed the item on, where the rest of it is sealed.
	HandedOn []HandedOn
	// Adjudicating means that this person settles what others sent up: there is
	// nobody left to send it to.
	Adjudicating bool
	// MayReopen shows, on decided items, the form that posts to
	// /reviews/{ID}/reopen, field comment.
	MayReopen bool
	// Labels of the judge, best first; empty when it has none of its own.
	Labels []Choice
	// Shown is what the page shows, by versions and hashes, as the form sends it
	// back; empty: the form says nothing of it.
	Shown string
	// ReasonCodes that an override or escalation can name.
	ReasonCodes []Choice
	// Addressees are whom an item can be escalated to: roles first, then persons.
	Addressees []Choice
	// Affirmations are the words of what signing affirms, by action.
	Affirmations []Choice
	// Bar is how the item stands by the rulings so far.
	Bar DeskBar
	// Draft is what is kept on the server of what this person typed; its zero
	// value: nothing.
	Draft DraftMark
	// OpinionLine says how many opinions the item needs and has; empty when one is
	// enough.
	OpinionLine string
	// Undo is until when the newest decision on the item can be taken back by this
	// person; zero: not.
	Undo time.Time
	// Sides are what people said so far, side by side; nil unless somebody has to
	// settle it.
	Sides *Sides
	// Questions that people asked about the item.
	Questions Thread
	// Correct is where this person rules on the reference or a source instead of
	// the judge; nil: they do not hold the item, or there is no such text.
	Correct *CorrectionForm
	// Correction is one that the item waits for, or by which it was closed.
	Correction *CorrectionRow
	// Form is what was typed, and its faults after a refused decision.
	Form DeskForm

	// Own is what this person committed, in state revealed.
	Own *Answer
	// Earlier decisions, oldest first; for adjudication and decided items.
	Earlier []Signature
	// Signed is the decision that stands, in states decided and lost.
	Signed *Signature

	// History of the item, oldest first; HistorySealed says that lines are kept back.
	History       []Event
	HistorySealed bool
}

// Match is what comparing a quotation with its source found. It is evidence,
// not the judge's opinion, and so is never sealed.
type Match string

// Match kinds.
const (
	MatchNoQuote  Match = "no_quote" // the claim quotes nothing
	MatchExact    Match = "exact"
	MatchNear     Match = "near"
	MatchNotFound Match = "not_found" // the quotation is not in the source
	MatchNoSource Match = "no_source" // there is no source with that id
)

// Proposal is what the judge answered.
type Proposal struct {
	Mark
	Critical bool
	Engine   string
	Model    string
	Summary  string // the report's own summary or rationale; optional
	Findings []judge.Finding
	Checks   []judge.CheckResult
	// Report is the validated JSON, indented; empty when there is none.
	Report   string
	Attempts int
	Repairs  int
}

// DeskForm is the decision as typed so far, with the faults of a refused try.
type DeskForm struct {
	Action     string
	Verdict    judge.Verdict
	Label      string
	ReasonCode string
	Comment    string
	Confidence string // low, medium, high or empty
	Severity   string // critical, major, minor or empty: as the reason code has it
	To         string // who an escalation goes to; empty: leads
	// Chosen says that the verdict or the label is the person's own choice, other
	// than what their rulings come to: it does not follow these any more.
	Chosen bool
	// Faults, each beside its field; empty where there is none.
	VerdictFault, LabelFault, ReasonFault, CommentFault, ActionFault, SeverityFault, ToFault string
}

// DeskBar is how an item stands by a person's rulings so far. It holds nothing of
// the judge's on a sealed page.
type DeskBar struct {
	// Progress in words: "3 of 5 checked"; empty when there is nothing to rule on.
	Progress string
	// Hint is a sentence about what can be done now.
	Hint string
	// Confirmable is false when rulings differ from the judge's.
	Confirmable bool
	// Outcome says what the rulings come to by the judge's own formula; empty:
	// they do not determine it.
	Outcome string
	// Verdict and Label are that outcome.
	Verdict judge.Verdict
	Label   string
}

// DraftMark is a draft's acknowledgment.
type DraftMark struct {
	// Key names the draft in the browser: of this item and this person.
	Key     string
	Version int
	SavedAt time.Time // zero: nothing is kept
	// Restored says that the page shows what was typed before.
	Restored bool
	// Lines are the draft to read, for a page that has no form for it.
	Lines []DraftLine
}

// Sides are several people's answers on one item, for who settles it.
type Sides struct {
	Heads []SideHead // the judge first where it may be known
	Rows  []SideRow  // a row for each part that somebody ruled on
	Same  int        // parts on which all agree, which have no row
}

// SideHead is whose column it is.
type SideHead struct {
	Name  string
	Judge bool
	Mark
	Line    string // when, and why: the reason code in words
	Comment string
}

// SideRow is one part with what each said of it.
type SideRow struct {
	Title string
	Href  string // to the part on the page
	Cells []SideCell
}

// SideCell is what one side chose.
type SideCell struct {
	Text string // empty: nothing
	Note string
}

// Answer is a verdict or label that a person committed.
type Answer struct {
	Mark
	At time.Time
}

// Signature is one decision by a person.
type Signature struct {
	Name   string
	Role   string
	Action string // confirm, override, cannot_judge, escalate
	// Choice after a blind answer: keep or adopt; empty otherwise.
	Choice string
	// First is what was answered blind, before the reveal; zero otherwise.
	First      Mark
	Mark       // what it says
	ReasonCode string
	Comment    string
	Confidence string
	Blind      bool
	Severity   string // of the judge's fault; empty: none was named
	// Qualification and Affirmation are what the signature keeps, frozen.
	Qualification string
	Affirmation   string
	OverQuota     bool // a second opinion, which changes nothing
	Undone        bool // taken back
	Seconds       int  // from claim to decision; 0 when unknown
	At            time.Time
	// Final says that nothing is left to settle: it is drawn with a double rule.
	Final bool
}
