package views

import "github.com/countersign/countersign/views/chart"

// ThresholdPage shows what another band of a judge's scores would cost. Its form is a
// GET, so that what it shows has an address. Nothing is saved here.
type ThresholdPage struct {
	Frame
	Judge, Href, CalibrationHref, JSONHref string
	Form                                   ThresholdForm
	// Fault of what was asked, and Field which it is in; Refused says why the labels
	// carry no answer.
	Fault, Field, Refused string
	// Advice is what to do about a refusal.
	Advice string
	// Lead are the numbers of the chosen band as sentences.
	Lead []string
	Rows []ThresholdRow
	// Best is the recommendation as a sentence, Hero its band.
	Hero, Best string
	// NoGain says that nothing speaks for the recommendation; empty: something does.
	NoGain string
	// TryHref leads to the policy with the chosen band filled in, BestHref with the
	// recommended one; empty: for whom there is none.
	TryHref, BestHref string
	Chart             chart.Curve
	Notes, Method     []string
}

// ThresholdForm is what is asked, as in the address.
type ThresholdForm struct {
	Series                            string // model and version, one of Choices
	Choices                           []Choice
	Low, High, Cut                    string
	CostMiss, CostAlarm, CostMinute   string
	Minutes, MinutesNote              string
	PerWeek, PerWeekNote              string
	MaxHours, MaxMisses, Seed, Policy string // Policy says the band that counts now
}

// ThresholdRow is one band. Every number has its interval below it.
type ThresholdRow struct {
	Letter, Name, Band                  string
	Misses, Alarms, People, Hours, Cost Ranged
}

// Ranged is a number as it is read, its interval, and what else it comes to.
type Ranged struct{ Value, Range, More string }
