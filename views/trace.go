package views

import (
	"time"

	"github.com/countersign/countersign/judge"
)

// TracePage is one trace with everything that was said about it.
type TracePage struct {
	Frame
	ID        string
	ItemTitle string // its question or id, shortened by the caller
	Domain    string
	Stakes    judge.Stakes
	Run       string
	RunHref   string
	Tags      []string
	Cluster   string
	Hashes    judge.Hashes
	Trace     TraceText
	Inputs    []Input
	// Metadata as indented JSON; empty when there is none.
	Metadata    string
	Revisions   []Revision // newest first
	Evaluations []EvaluationRow
	// Judges has each judge of the project and what it made of this trace.
	Judges []JudgeOfTrace
	// MayJudge shows the form that posts to /traces/{ID}/judge, with Engines to
	// choose from.
	MayJudge bool
	Engines  []Choice
	Labels   []LabelRow
	// Sealed says that labels are kept back until this reader has answered.
	Sealed bool
}

// Revision is one content a trace has had under its id.
type Revision struct {
	N       int // from 1
	At      time.Time
	Hash    string // of the content, whole
	Href    string
	Current bool // the one on this page
}

// JudgeOfTrace says what one judge made of a trace, and if nothing, why.
type JudgeOfTrace struct {
	Judge string
	Href  string // its page; empty: the project has no such judge
	// Word says in a few words how it stands: judged, waiting, refused, not judged.
	Word string
	// Evaluations made or under way.
	Evaluations int
	// Field of the trace that keeps it from being judged; empty: none does.
	Field string
	// Why is a sentence; empty when it was judged.
	Why string
}
