package views

import "time"

// PlanPage says what more blind labels would tell of a judge, and draws them. The plan
// is a GET; a POST draws all of it at once.
type PlanPage struct {
	Frame
	Judge, Href, CalibrationHref, DrawHref string
	Series, Model, Version                 string
	Choices                                []Choice
	// N labels in all, or Half, the wanted half width of the miss rate in points.
	N, Half, Fault, Field string
	Rows                  []PlanRow
	Sum                   int
	Hours, Pace           string
	// Said answers a wanted width; Kappa says what the plan does to it.
	Said, Kappa string
	// Unknown labels do not say with which chance they were drawn.
	Unknown int
	MayDraw bool
	// Drawable says that the plan can be drawn, by the form with Token; Offer what that
	// means, and Visible that its labels would not be blind.
	Drawable, Visible bool
	Offer, Token      string
	Draws             []DrawRow
}

// PlanRow is what the judge gave one verdict.
type PlanRow struct {
	Verdict, Did, Rate string
	Labels, Free, N    int
	Now                Ranged // the rate of wrong verdicts; empty: not known
	NowHalf, ThenHalf  string
	Says, Hours        string
	Take               string // the field of a form that says how many to draw
}

// DrawRow is a draw that was made.
type DrawRow struct {
	Number, Waiting int
	What, By, Seed  string
	At              time.Time
}
