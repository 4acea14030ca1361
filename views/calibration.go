package views

// Estimate is a statistic with its uncertainty. A nil Value is undefined, and
// Why says why: it is never shown as 0.
type Estimate struct {
	Value, Low, High *float64
	SE               *float64 // nil when there is none
	Method           string   // of the interval, for instance "Wilson", "atanh", "BCa"
	Why              string   // why the value is undefined or not shown
}

// CalibrationRow is the agreement of one judge, model and prompt version with
// people.
type CalibrationRow struct {
	Href    string
	Judge   string
	Model   string
	Version string // prompt version, whole
	// N labels compared; Abstained were left out.
	N, Abstained int
	// Enough says that there are labels enough for kappa to be a headline.
	Enough    bool
	Agreement Estimate
	Kappa     Estimate
	Trust     TrustRow
}

// CalibrationIndexPage has a row for each judge, model and prompt version.
type CalibrationIndexPage struct {
	Frame
	Rows []CalibrationRow
}

// CalibrationPage is what people made of one judge.
type CalibrationPage struct {
	Frame
	Judge string
	// JSONHref and CSVHref give every number of the page.
	JSONHref, CSVHref string
	// Series, one for each model and prompt version, the one in use first.
	Series []CalibrationSeries
	// Sentinel set of the judge.
	Sentinel *SentinelPanel
}

// CalibrationSeries is one model and prompt version of a judge. Series are
// never pooled: another model or prompt is another judge.
type CalibrationSeries struct {
	CalibrationRow
	CalibrationFigures
	// Gating is how far the series is trusted, in full.
	Gating Trust
	// Scale is what was compared: "verdicts", or "labels" of the judge.
	Scale string
	// Labels of the scale in order, best first; Matrix[i][j] counts the items
	// that people called Labels[i] and the judge Labels[j].
	Labels []string
	Matrix [][]int
	// Pairs of reviewers on the same items, the largest first.
	Pairs []HumanPair
	// Visible is the agreement of labels given with the judge's answer on
	// screen: shown apart, not counted.
	Visible CalibrationRow
	// Sampling says how the labels came to be, a sentence each.
	Sampling []string
}

// HumanPair is the agreement of two reviewers.
type HumanPair struct {
	First, Second string
	N             int
	Agreement     Estimate
	Kappa         Estimate
}
