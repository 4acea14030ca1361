package views

import "time"

// ReleasePage is what a release of a run stands on, and who signed. Its forms post to
// /runs/{name}/release and /runs/{name}/release/withdraw.
type ReleasePage struct {
	Frame
	Run, RunHref string
	State        ReleaseState
	Evidence     ReleaseEvidence
	// Releases are the sign-offs, the newest first.
	Releases []ReleaseRow
	// MaySign shows the forms. Affirmation is what signing means.
	MaySign     bool
	Affirmation string
	// Comment and Although are what was typed, Fault what is wrong with the field FaultIn;
	// without a field it is about all.
	Comment, Although, Fault, FaultIn string
}

// ReleaseState says whether a run is released.
type ReleaseState struct {
	State string // "", released or withdrawn
	By    string // who signed it, or withdrew it
	At    time.Time
	// Since says what changed after it was signed; empty: nothing.
	Since string
}

// ReleaseEvidence is what a release stands on now.
type ReleaseEvidence struct {
	Outcome, Sentence                               string
	Passed                                          bool
	PassRate                                        ShareLine
	Minimum                                         string // of the policy; empty: it asks for none
	Traces, Unjudged, Evaluations, Decided, Pending int
	Waiting, Overridden                             int
	// CountedUpTo stands for itself or more in Waiting and Overridden.
	CountedUpTo               int
	QueueHref, OverriddenHref string
	PolicyVersion             int
	SHA256, ResultsSHA256     string
	Rules                     []ReleaseRule
	Judges                    []ReleaseJudge
	Notes                     []string
}

// ShareLine is a share in words: its value and interval, or why there is none.
type ShareLine struct {
	Value, Interval, Method, Why string
	N                            int
}

// ReleaseRule is one rule of the gate as it came out.
type ReleaseRule struct {
	Title, Outcome, Detail string
	Passed                 bool
}

// ReleaseJudge is one judge, model and version of the run.
type ReleaseJudge struct {
	Href, Judge, Model, Version string
	Decided, Evaluations        int
	PassRate, Corrected         ShareLine
	// ByCorrected: the corrected rate is held against the minimum.
	ByCorrected bool
	Trust       TrustRow
}

// ReleaseRow is a sign-off.
type ReleaseRow struct {
	ID, Name, Role, Qualification, Affirmation, Comment, Although, SHA256 string
	At                                                                    time.Time
	// Same: what it stands on is how things are now.
	Same bool
	// Outcome, PassRate and the counts are those of its evidence.
	Outcome, PassRate                           string
	PassedThen                                  bool
	Decided, Waiting, Overridden, PolicyVersion int
	Withdrawn, WithdrawnBy                      string // reason and name; empty: it stands
	WithdrawnAt                                 time.Time
	Text, Fault                                 string // of the form that withdraws it
}

// upTo writes a count that is counted up to a bound.
func upTo(n, bound int) string {
	if n >= bound {
		return number(int64(n)) + " or more"
	}
	return number(int64(n))
}

// releaseWord is the state of a run in a few words; empty: never released.
func releaseWord(s ReleaseState) string {
	switch s.State {
	case "released":
		return "Released by " + s.By
	case "withdrawn":
		return "Release withdrawn by " + s.By
	}
	return ""
}

// judgeNames is a judge's model and version in a line.
func (j ReleaseJudge) names() string {
	return modelLine(CalibrationRow{Model: j.Model, Version: j.Version})
}

// evidenceLine is what a sign-off stood on.
func (r ReleaseRow) evidenceLine() string {
	line := "Gate: " + r.Outcome
	if r.Decided > 0 {
		line += "; " + r.PassRate + " of " + count(r.Decided, "decided evaluation passes", "decided evaluations pass")
	}
	return line + "; " + number(int64(r.Waiting)) + " waiting, " + number(int64(r.Overridden)) + " overridden; policy version " + itoa(r.PolicyVersion) + "."
}

func (r ReleaseRow) who() string {
	return itemLine(r.Role, r.Qualification)
}
