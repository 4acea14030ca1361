package judge

// Reading is the normalised result of a report: what every judge yields. It
// holds facts and decides nothing: what a person must see follows from them and
// from the policy, in the harness.
type Reading struct {
	Score    float64 // in [0,1]
	Label    string  // empty when the judge has no class for it
	Critical bool
	Findings []Finding
	// Verdict is set by judges whose labels fix it (own judges with label
	// verdicts); empty means: from the score, by the band.
	Verdict Verdict
	// Parts are what below_threshold looks at: the overall score and each
	// citation, or each dimension. Nil: the score alone.
	Parts []Part
	// PartLabels are the classes of parts, for agreement on parts.
	PartLabels []PartLabel
	// Misattribution is the gravest of the report; nil: there is none, or it is
	// not this judge's question.
	Misattribution *Misattribution
	// SubstantiveDifference says what differs from the reference where the class
	// is substantive_difference; empty: it is not.
	SubstantiveDifference string
	// UncitedSteps are the numbers of the steps that claim something and cite
	// nothing, in order. Nil: not this judge's question; empty: there is none.
	UncitedSteps []int
}

// Part is a value that a report gives for one part of a trace or of a rubric.
type Part struct {
	Name  string  // as people read it: "overall", "citation 2, [7]", "premise_support"
	Value float64 // on the part's own scale
	Max   float64 // the best value of that scale; 0: 1
}

// Share is the value as a share of its scale's best.
func (p Part) Share() float64 {
	if p.Max == 0 {
		return p.Value
	}
	return p.Value / p.Max
}

// PartLabel is the class of one part: a dimension's score, a citation's support,
// a step's judgment.
type PartLabel struct {
	Kind  string `json:"kind"`  // a constant below
	Key   string `json:"key"`   // dimension name, citation occurrence or step number
	Label string `json:"label"` // the judge's class for it
}

// Kinds of labelled parts.
const (
	PartDimension = "dimension"
	PartCitation  = "citation" // key: occurrence in the trace, from 1
	PartStep      = "step"     // key: reference step, from 1
)

// Misattribution is a citation whose source does not say what it is cited for.
type Misattribution struct {
	Severity string // SeverityMinor, SeverityMajor or SeverityCritical
	Detail   string
}

// Severities, as findings and reports name them.
const (
	SeverityMinor    = "minor"
	SeverityMajor    = "major"
	SeverityCritical = "critical"
)

// SeverityRank orders severities: 1 minor, 2 major, 3 critical, 0 any other text.
func SeverityRank(severity string) int {
	switch severity {
	case SeverityMinor:
		return 1
	case SeverityMajor:
		return 2
	case SeverityCritical:
		return 3
	}
	return 0
}

// Line is where a part's share of its scale becomes too low.
type Line struct {
	At        float64 // in [0,1]
	Inclusive bool    // a share of exactly At is too low as well
}

// Below reports whether a share lies under the line, give or take epsilon.
func (l Line) Below(share float64) bool {
	if l.Inclusive {
		return share <= l.At+epsilon
	}
	return share < l.At-epsilon
}
