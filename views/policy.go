package views

import (
	"time"

	"github.com/countersign/countersign/judge"
)

// PolicyPage is a project's policy: what is sent to people and when, and where
// texts may go. Its forms post to /policy and /policy/dry-run: the one with the
// hidden field form=fields sends the fields of PolicyFields, the other form=yaml
// sends yaml; both send version and comment.
type PolicyPage struct {
	Frame
	// Version on this page; Present is the one that counts now.
	Version, Present int
	Author, Comment  string
	At               time.Time
	// MayChange shows the buttons that save; without it everything is to read.
	MayChange bool
	Fields    PolicyFields
	Rules     []PolicyRule
	// Reviewing is what holds for those who review: due times, opinions, blindness,
	// who is given an item. In each matter the first row that fits counts, but for who
	// is given an item, where each that fits has to be met.
	Reviewing []ReviewRule
	// YAML is the whole policy as in the form; it may be unsaved or at fault.
	YAML string
	// Note is what the person wrote as the comment.
	Note string
	// Faults of what was sent, FaultsIn the form that has them: fields or yaml.
	Faults   []PolicyFault
	FaultsIn string
	// Warnings are sentences on what of the policy holds for nothing here.
	Warnings []string
	// Conflict is the policy that somebody saved meanwhile; nil: nobody did.
	Conflict *PolicyConflict
	// Unsaved says that the forms hold something that is not stored.
	Unsaved bool
	// Last, Judge and Domain choose the evaluations of a dry run.
	Last          string
	Judge, Domain string
	Judges        []Choice
	DryRun        *DryRun // nil: none was asked for
	History       []PolicyVersion
	// Refused is how many evaluations were refused for their endpoint and may be
	// queued again: a form posts to /policy/requeue. Shown to those who may change.
	MayRequeue bool
}

// ReviewRule is one row of what holds for those who review; an empty reason, domain or
// stakes stands for any.
type ReviewRule struct {
	About, Reason, Domain string
	Stakes                judge.Stakes
	Says                  string
}

// PolicyFault is one thing wrong with a policy.
type PolicyFault struct {
	Line int // of the YAML; 0: no line
	Text string
}

// PolicyConflict is what another person saved first.
type PolicyConflict struct {
	Version int
	Author  string
	At      time.Time
	YAML    string
}

// PolicyFields are the project's level as text, as the form holds it.
type PolicyFields struct {
	RandomAudit, BoundaryAudit string // per cent
	BoundaryWidth, Seed        string
	Blind, BlindShare          string // never, always, share; per cent
	DueHigh, DueStandard       string // hours
	Lease                      string // minutes
	Opinions                   string // people who answer one item
	CannotJudge                string // people
	Undo                       string // seconds
	OpinionRules, ReasonCodes  int    // of the YAML, which the form leaves as they are
	Domains                    string // by commas
	EndpointsNamed             bool   // else each that is configured
	Endpoints                  string // by commas
	Known                      string // endpoints of this server, to choose from
	Models                     string // by commas, each model or model@endpoint
	Samples, Temperature       string
	Budget                     string // US dollars; empty: none
	// MinKappa, SliceKappa as numbers, MinLabels, SliceLabels, MaxMissRate in per cent:
	// the rules of trust.
	MinKappa, MinLabels, MaxMissRate, SliceLabels, SliceKappa string
	ReleasePassRate                                           string // per cent; empty: none is asked for
	Between                                                   string // models, versions, both
	Recorded                                                  bool
	BlindRules                                                int // of the YAML, which the form leaves as they are
	DueRules, Assignment                                      int // the same
	Reasons                                                   []PolicyReason
}

// PolicyReason is a reason and what the project's level says of it, by stakes:
// empty (as usual), on, off, or a severity.
type PolicyReason struct {
	Code           string
	High, Standard string
	// UsualHigh and UsualStandard are what empty means.
	UsualHigh, UsualStandard string
	// Fixed says why it can't be switched; empty: it can.
	Fixed string
	// Severities are offered beside on and off.
	Severities bool
}

// PolicyRule is an exception for a judge, a domain or both, in words.
type PolicyRule struct {
	Judge, Domain string
	Says          []string
}

// PolicyVersion is one line of the history.
type PolicyVersion struct {
	Version int
	Href    string
	Author  string
	Comment string
	At      time.Time
	Shown   bool
}

// DryRun is what another policy would have sent to people.
type DryRun struct {
	// Evaluations that were routed again, of Asked; the others were sealed for this
	// reader or made by a judge that can't be run here.
	Evaluations, Asked, Sealed, Unreadable, Refused, OtherVerdict int
	From, To                                                      time.Time // zero: unknown
	Lines                                                         []DryRunLine
	ByReason, ByJudge, ByStakes                                   []DryRunLine
	NewlySent, NoLonger                                           DryRunChanges
	// Week has numbers for seven days; empty when too short a time was looked at.
	Week []DryRunLine
	// Pace says where the hours come from, a sentence each.
	Pace []string
}

// DryRunLine is a number now and under the other policy.
type DryRunLine struct {
	Name                  string
	Before, After, Change string
}

// DryRunChanges are the evaluations whose way differs; Rows are the first of them.
type DryRunChanges struct {
	Count int
	Rows  []DryRunChange
}

// DryRunChange is one of them.
type DryRunChange struct {
	Href, TraceID, Judge string
	Reasons              []string
}
