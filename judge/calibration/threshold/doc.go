// Package threshold says what another band of scores would have cost: how much bad
// work it passes, how much good work it fails, and how much it leaves to people.
//
// Labels count one over their chance of being drawn, and within each verdict of the
// judge they are brought up to the evaluations that have it (Hájek's ratio,
// post-stratified). A band is looked for on one half of the labels, chosen by
// cluster, and reported on the other. Intervals are those of a bootstrap over
// clusters within strata, with its seed kept.
//
// It never reads a database, never saves a policy, and never says a number that the
// labels cannot carry: it refuses, with the counts.
package threshold

import (
	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
)

// Label is an evaluation with people's answer.
type Label struct {
	// Score in [0,1]. Fixed: the band does not decide it (a critical error fails, no
	// score goes to a person), so it counts among all and nowhere else.
	Score float64
	Fixed bool
	// Pass is people's answer: pass, else fail.
	Pass bool
	// Probability of being drawn, in (0,1].
	Probability float64
	// Stratum are the labels that were drawn alike: any small number from 0.
	Stratum int
	// Verdict of the judge: an index into Ask.Judged.
	Verdict int
	// Cluster of the trace. It decides the half, so it must be the same for ever.
	Cluster uint64
}

// Costs in one unit, whichever: of a wrong pass, a wrong fail, a person's minute.
// None is negative.
type Costs struct {
	Miss   float64 `json:"miss"`
	Alarm  float64 `json:"alarm"`
	Minute float64 `json:"minute"`
}

// Ask is what is to be worked out.
type Ask struct {
	// Chosen is the band to look at, Now the policy's: below Low fails, from Pass on
	// passes, between them a person decides.
	Chosen, Now judge.Band
	// Cut is where passing begins when nobody is asked.
	Cut   float64
	Costs Costs
	// Minutes of a person for an item, above 0.
	Minutes float64
	// MaxPeople is the greatest share of evaluations that may go to people by their
	// score, MaxMisses that of wrong passes among all; nil: any.
	MaxPeople, MaxMisses *float64
	// Judged are the evaluations by verdict, labelled or not.
	Judged     []int
	Level      float64
	Replicates int
	Seed       uint64
}

// Half is one part of the labels.
type Half struct {
	N        int `json:"n"`
	Clusters int `json:"clusters"`
	Good     int `json:"people_passed"`
	Bad      int `json:"people_failed"`
}

// Outcome is what a band comes to, as shares of all evaluations. Misses are wrong
// passes, Alarms wrong fails, People what goes to a person for its score. Cost is
// per evaluation, in the unit of Costs.
type Outcome struct {
	Band   judge.Band         `json:"band"`
	Misses agreement.Estimate `json:"wrong_passes"`
	Alarms agreement.Estimate `json:"wrong_fails"`
	People agreement.Estimate `json:"to_people"`
	Cost   agreement.Estimate `json:"cost"`
}

// Recommended is the band of least expected cost. Low and Pass have the interval of
// the ends over replicates of the tuning half; Outcome is of the other half.
type Recommended struct {
	Outcome
	Low  agreement.Estimate `json:"low"`
	Pass agreement.Estimate `json:"pass"`
	// TunedCost is what it seemed to cost on the labels that chose it: too little on
	// average, which is why it is not the figure.
	TunedCost float64 `json:"tuned_cost"`
}

// Point is the cheapest band for at most this much of people's work, found on the
// tuning half. The numbers are of the reporting half.
type Point struct {
	Band   judge.Band `json:"band"`
	People float64    `json:"to_people"`
	Misses float64    `json:"wrong_passes"`
	Alarms float64    `json:"wrong_fails"`
	// Errors is their cost, Cost with people's time, per evaluation.
	Errors float64 `json:"error_cost"`
	Cost   float64 `json:"cost"`
}

// Report is all of it. Refused says why there is none.
type Report struct {
	Refused   string `json:"refused,omitempty"`
	Labels    int    `json:"labels"`
	Tuning    Half   `json:"tuning"`
	Reporting Half   `json:"reporting"`
	// Chosen, Now and Alone (the cut, nobody asked) are of the reporting half.
	Chosen Outcome `json:"chosen"`
	Now    Outcome `json:"now"`
	Alone  Outcome `json:"alone"`
	// Best is nil where no band keeps the limits; NoBest says so.
	Best       *Recommended `json:"recommended"`
	NoBest     string       `json:"not_recommended,omitempty"`
	Curve      []Point      `json:"curve"`
	Level      float64      `json:"conf_level"`
	Replicates int          `json:"replicates"`
	Seed       uint64       `json:"seed"`
	Step       float64      `json:"step"`
	Split      string       `json:"split"`
}
