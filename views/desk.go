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
	DeskExpired      DeskState = "expired"      // this person's claim ran out; it can be claimed again
	DeskReadOnly     DeskState = "readonly"     // this role may look and not decide
)

// DeskPage is the workbench: the trace on the left, the evidence on the
// right, the decision below. Forms post to /reviews/{ID}/claim, /decision,
// /skip and /release; scripts post to /reviews/{ID}/renew.
//
// Fields of the decision form: action (confirm, override, cannot_judge,
// escalate; after a reveal keep, adopt, escalate; absent on a blind commit),
// verdict, label, support-N for citation N, reason_code, comment, confidence.
type DeskPage struct {
	Frame
	ID    string // the review's
	State DeskState
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
	// Faults, each beside its field; empty where there is none.
	VerdictFault, LabelFault, ReasonFault, CommentFault, ActionFault string
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
	Seconds    int // from claim to decision; 0 when unknown
	At         time.Time
	// Final says that nothing is left to settle: it is drawn with a double rule.
	Final bool
}
