package views

import (
	"slices"
	"time"
)

// Tab is one of the main tabs.
type Tab string

// The main tabs, in the order of the bar.
const (
	TabOverview    Tab = "overview"
	TabQueue       Tab = "queue"
	TabEvaluations Tab = "evaluations"
	TabRuns        Tab = "runs"
	TabJudges      Tab = "judges"
	TabCalibration Tab = "calibration"
	TabPolicy      Tab = "policy"
	TabImport      Tab = "import"
	TabMembers     Tab = "members"
	TabAudit       Tab = "audit"
)

// Frame is what every page has round its content. Each page struct embeds it.
type Frame struct {
	// Title of the page, without the product's name.
	Title string
	// Person is the signed-in person's name; empty when nobody is signed in,
	// which also leaves out the bar of tabs.
	Person string
	// Role in a word: Reviewer, Lead, Auditor, Admin.
	Role string
	// Current main tab; empty on pages that belong to none.
	Current Tab
	// Tabs that the role may see, in order.
	Tabs []Tab
	// QueueCount is shown on the queue's tab: open items this person may take.
	QueueCount int
	// MayReview says that the role may claim and decide; it puts the form that
	// claims the next item on the page.
	MayReview bool
	// Project the page belongs to, and the others the person is a member of.
	Project  string
	Projects []string
	// Theme is light, dark, or empty for the system's.
	Theme string
	// Density is compact or empty for the usual spacing of tables.
	Density string
	// Shortcuts says that single letters act as keys.
	Shortcuts bool
	// Markdown says that traces are shown as Markdown has them.
	Markdown bool
	// CSRF is the token each form carries in its _csrf field.
	CSRF string
	// Path of this page with its query, to come back to after a change of theme.
	Path string
	// Flash is what the last action did; its zero value shows nothing.
	Flash Notice
	// Demo shows that the data are the demonstration's.
	Demo bool
	// Version of the program, at the foot of each page.
	Version string
	// Now is the time that "in 20 min" is reckoned from.
	Now time.Time
}

// NoticeKind says how a notice is announced.
type NoticeKind string

// Notice kinds: neutral ones are read politely, bad ones at once.
const (
	NoticeInfo NoticeKind = "info"
	NoticeBad  NoticeKind = "bad"
)

// Notice is one message about something that happened.
type Notice struct {
	// Kind; empty means info.
	Kind NoticeKind
	// Title in a few words; optional.
	Title string
	// Text says what happened, what is safe and what to do. Empty: no notice.
	Text string
	// Undo is where a form posts to that takes it back; empty: it can't be.
	Undo string
	// UndoSeconds are left for that.
	UndoSeconds int
}

// Choice is one value of a select or a radio group.
type Choice struct {
	Value string // as the form sends it
	Text  string // as people read it
}

// Paging leads through a list by key, not by number: there is no last page.
type Paging struct {
	// NextHref is the address of the next page; empty on the last.
	NextHref string
	// FirstHref is the address of the first page; empty when this is it.
	FirstHref string
}

// mayImport says that the role has the tab for it.
func mayImport(f Frame) bool { return slices.Contains(f.Tabs, TabImport) }
