package views

import "time"

// Drift is how one series stands against its frozen baseline.
type Drift struct {
	Frame Frame
	// Model and Version of the series, as its forms send them.
	Model, Version string
	FreezeAction   string // empty: the reader may not freeze
	// Line says what is watched since when, or what is missing.
	Line string
	// FreezeNote says what the button does now.
	FreezeNote string
	Again      bool // there is a baseline already
	Rows       []DriftRow
	Markers    []DriftMarker
	// Retest says how the sentinel set came out; empty: it was not judged.
	Retest string
}

// DriftRow is one monitor.
type DriftRow struct {
	Name, Sentence string
	Baseline       Estimate
	Now            Estimate // with its confidence sequence
	Evidence       string   // "3.2 : 1"; empty: there is none
	Alarm          bool     // an alarm is open
	State          string
}

// DriftMarker is a moment after which something may be different.
type DriftMarker struct {
	Letter      string
	At          time.Time
	What, Note  string
	Effect      string // "−0.11"; empty: it has none
	State       string // empty: it has none
	CloseAction string // empty: there is nothing to close, or the reader may not
	ID          string
}

// DriftOpen is a judge with open alarms.
type DriftOpen struct {
	Judge, Href string
	N           int
}
