package views

import "time"

// ShadowSection is what the page of a judge tells of versions that judge beside the
// one in use.
type ShadowSection struct {
	Href      string // where it is started; stopping is under it
	Running   bool   // the first of Runs
	Runs      []ShadowRun
	Versions  []Choice // that can run
	Engines   []Choice
	MayChange bool
}

// ShadowRun is one of them.
type ShadowRun struct {
	Version, Model  string
	Share, Reason   string
	Running         bool
	Counted         bool // Queued and Waiting mean something
	Queued, Waiting int
	By              string
	Since           time.Time
	StoppedBy       string
	StoppedAt       time.Time
	StopReason      string
}
