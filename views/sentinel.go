package views

import "time"

// SentinelPanel is the sentinel set of a judge.
type SentinelPanel struct {
	Frame  Frame
	Action string // empty: the reader may not change it
	// Line says what is judged again, how often, and who said so.
	Line   string
	Rounds []SentinelRow
	Form   SentinelForm
}

// SentinelForm is what a lead fills in.
type SentinelForm struct {
	Runs                    []Choice
	Run, Days, Budget       string
	RunFault, DaysFault     string
	BudgetFault, OtherFault string
}

// SentinelRow is one time that the set was judged.
type SentinelRow struct {
	Number         int
	Model, Version string
	Judged, Failed int
	CostUSD        float64
	At             time.Time
	State          string
}
