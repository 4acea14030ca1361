package calibration

import (
	"time"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/classifier"
)

// Level is the confidence level of every interval in a report.
const Level = 0.95

// Lines under which a coefficient is not fit to be a headline: nothing covers
// its level there (simulation in the measurement notes).
const (
	MinLabels     = 50
	MinRarerClass = 10
)

// Scales of comparison.
const (
	ScaleLabels   = "labels"
	ScaleVerdicts = "verdicts"
)

// Report is how far one judge, model and prompt version agrees with people. Its
// JSON is an element of `countersign calibration --json`; what is undefined is
// null there, with the reason beside it.
type Report struct {
	Judge         string `json:"judge"`
	Model         string `json:"model"`
	PromptVersion string `json:"prompt_version"`

	// Block is the headline comparison: blind and imported human answers.
	Block

	// ConfLevel of all intervals, in (0,1).
	ConfLevel float64 `json:"conf_level"`
	// Headline says that there are labels enough for the coefficients to be
	// shown large; if not, HeadlineReason says what is missing.
	Headline       bool   `json:"headline"`
	HeadlineReason string `json:"headline_reason,omitempty"`
	// Sentence says in counts what the judge does; to be read first.
	Sentence string `json:"sentence"`
	// Notes are warnings in plain sentences; may be empty.
	Notes []string `json:"notes"`

	// NSealed evaluations with a human answer are left out, because the reader
	// may still review them blind.
	NSealed int `json:"n_sealed"`

	// Rates are the judge as a detector of what people fail, by verdicts.
	Rates Rates `json:"rates"`

	// HumanHuman is the pair of reviewers that share most items, the practical
	// ceiling of the judge; nil when no two people answered for one item.
	// HumanPairs are all pairs, those that share most first.
	HumanHuman *Pair  `json:"human_human"`
	HumanPairs []Pair `json:"human_pairs"`

	// Visible is the same comparison for answers given with the judge's verdict
	// on the screen; nil when there are none. Never part of the headline.
	Visible *Block `json:"visible"`

	// SeenMinusBlind compares both; nil when there are no visible answers.
	SeenMinusBlind *SeenMinusBlind `json:"seen_minus_blind"`

	Sampling Sampling `json:"sampling"`

	// Classifier has the same rates under their usual names; positive is fail. It
	// counts each label once, so verification bias is in it wherever review follows
	// the verdict: Population has what holds of all evaluations.
	Classifier classifier.Metrics `json:"classifier"`
	Population Population         `json:"population"`

	// Slices, OverTime and Reliability are unweighted, and without what waits blind.
	Slices      []Slice  `json:"slices"`
	OverTime    []Moment `json:"over_time"`
	Reliability []Band   `json:"reliability"`

	Options Options `json:"options"`

	// Drift is set by who knows the baselines; nil: nothing is known of them.
	Drift *Drift `json:"drift,omitempty"`

	// FirstAt and LastAt are the times of the first and last human answer.
	FirstAt *time.Time `json:"first_label_at"`
	LastAt  *time.Time `json:"last_label_at"`
}

// Block is one comparison of human answers with the judge's.
type Block struct {
	// Scale is labels or verdicts: one for all pairs of the block.
	Scale string `json:"scale"`
	// N is the number of pairs compared; NAbstained of those left out because
	// one side abstained or people's answers are tied; NIncomparable of those left out because the two
	// sides have no answer on one scale.
	N             int `json:"n"`
	NAbstained    int `json:"n_abstained"`
	NIncomparable int `json:"n_incomparable"`

	Agreement  agreement.Estimate `json:"agreement"`
	CohenKappa agreement.Kappa    `json:"cohen_kappa"`
	// KappaLinear and KappaQuadratic are there for ordinal judges.
	KappaLinear    *agreement.Kappa `json:"kappa_linear,omitempty"`
	KappaQuadratic *agreement.Kappa `json:"kappa_quadratic,omitempty"`
	// GwetAC1 stands where one label is rare and kappa is low for that reason.
	GwetAC1 agreement.Coefficient `json:"gwet_ac1"`
	// Indices of prevalence and bias, and PABAK: for scales of two labels.
	Indices agreement.Indices `json:"indices"`
	// KappaMax is the largest kappa that the totals allow; nil when undefined.
	KappaMax *float64 `json:"kappa_max"`

	Confusion Confusion `json:"confusion"`
	// PerLabel has one element for each label of Confusion, in its order.
	PerLabel []LabelAgreement `json:"per_label"`
}

// Confusion is the matrix over the declared scale, abstain labels left out:
// rows are the human answers, columns the judge's.
type Confusion struct {
	Labels []string `json:"labels"`
	Matrix [][]int  `json:"matrix"`
}

// LabelAgreement is how the two sides use one label. Agreement is
// 2 n_kk/(n_k. + n_.k), nil where nobody used it.
type LabelAgreement struct {
	Label     string   `json:"label"`
	Human     int      `json:"human"`
	Judge     int      `json:"judge"`
	Agreement *float64 `json:"agreement"`
}

// Rates are shares with Wilson intervals; the n of each is its denominator. A
// borderline verdict of a person counts on neither side; one of the judge is
// neither a catch nor a false alarm.
type Rates struct {
	// Catches: of what people fail, the share that the judge fails.
	Catches agreement.Estimate `json:"catches"`
	// Misses: of what people fail, the share that the judge passes.
	Misses agreement.Estimate `json:"misses"`
	// FalseAlarms: of what people pass, the share that the judge fails.
	FalseAlarms agreement.Estimate `json:"false_alarms"`
	// FlagsRight: of what the judge fails and people pass or fail, the share
	// that people fail. It moves with how common failures are in the sample.
	FlagsRight agreement.Estimate `json:"flags_right"`
	// WrongPasses: of what the judge passes and people judged, the share that people
	// fail. It moves with how common failures are in the sample.
	WrongPasses agreement.Estimate `json:"wrong_passes"`
}

// Pair is the agreement of two reviewers about the same traces.
type Pair struct {
	Reviewers      [2]string          `json:"reviewers"`
	Scale          string             `json:"scale"`
	N              int                `json:"n"`
	NAbstained     int                `json:"n_abstained"`
	Agreement      agreement.Estimate `json:"agreement"`
	CohenKappa     agreement.Kappa    `json:"cohen_kappa"`
	KappaLinear    *agreement.Kappa   `json:"kappa_linear,omitempty"`
	KappaQuadratic *agreement.Kappa   `json:"kappa_quadratic,omitempty"`
}

// Sampling says how the human answers of the headline came about.
type Sampling struct {
	// Weighted is false: in the report's own figures every pair counts once,
	// whatever its chance of being reviewed. They describe the traces that were
	// labelled; Population has the weighted ones.
	Weighted bool      `json:"weighted"`
	Strata   []Stratum `json:"strata"`
	// Items are the distinct evaluations and Clusters the distinct trace
	// clusters behind the pairs; nil when they were not counted.
	Items    *int `json:"items"`
	Clusters *int `json:"clusters"`
	// FlaggedOnly says that every answer was asked for because of what the judge
	// said or because somebody wanted it: the figures hold of such traces alone.
	FlaggedOnly bool   `json:"flagged_only"`
	Text        string `json:"text"`
}

// Stratum is one way in which answers were asked for. InclusionProbability is
// in (0,1]; nil when it is not known.
type Stratum struct {
	Stratum              string   `json:"stratum"`
	N                    int      `json:"n"`
	InclusionProbability *float64 `json:"inclusion_probability"`
}

// Options are how the figures were made, so that anyone can make them again.
type Options struct {
	ConfLevel     float64 `json:"conf_level"`
	MinLabels     int     `json:"min_labels"`
	MinRarerClass int     `json:"min_rarer_class"`
	MinSlice      int     `json:"min_slice"`
	Positive      string  `json:"positive"`
	KappaInterval string  `json:"kappa_interval"`
	ShareInterval string  `json:"share_interval"`
	Weights       string  `json:"weights"`
	Variance      string  `json:"weighted_variance"`
	SliceLevel    string  `json:"slice_level"`
	WindowWeeks   int     `json:"over_time_weeks"`
	// Seed is null: nothing here is drawn.
	Seed *uint64 `json:"seed"`
}

func options() Options {
	return Options{ConfLevel: Level, MinLabels: MinLabels, MinRarerClass: MinRarerClass, MinSlice: MinSlice,
		Positive: "fail", KappaInterval: agreement.MethodFisherZ, ShareInterval: agreement.MethodWilson,
		Weights: "1/inclusion_probability", Variance: "linearised_within_strata", SliceLevel: "bonferroni_by_dimension",
		WindowWeeks: windowWeeks}
}

// Trusted says whether the judge may decide alone under a minimum kappa in
// [-1,1], and if not, why: too few labels, no kappa, or one under the minimum.
func (r Report) Trusted(minKappa float64) (ok bool, reason string) {
	kappa := r.CohenKappa.Finite()
	switch {
	case !r.Headline:
		return false, r.HeadlineReason
	case !kappa.Defined():
		return false, "kappa is undefined: " + kappa.Undefined
	case kappa.Value < minKappa:
		return false, "kappa " + agreement.DecimalsBeside(kappa.Value, minKappa, 2) + " is under the minimum of " + decimals(minKappa)
	}
	return true, ""
}
