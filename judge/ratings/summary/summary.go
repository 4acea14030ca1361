package summary

import (
	"encoding/json"
	"fmt"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/resample"
	"github.com/countersign/countersign/judge/ratings"
)

// Options of a summary.
type Options struct {
	// Level is what a difference of two labels means to alpha, and whether the
	// labels are scores: nominal where it is "".
	Level agreement.Metric
	// Weights of AC2 and the other weighted coefficients: none, linear or
	// quadratic; "" means quadratic for labels with an order, and else none.
	Weights string
	// Confidence is the level of the intervals, in (0,1).
	Confidence float64
	// Seed and Replicates of the bootstrap: 0 replicates means 2,000.
	Seed       uint64
	Replicates int
}

// maxCategories is how many labels a table of counts can have to mean anything.
const maxCategories = 100

// maxCounts bounds items × labels.
const maxCounts = 40_000_000

// Statistic is one figure.
type Statistic struct {
	Name string
	agreement.Estimate
}

// Summary is what a file says.
type Summary struct {
	Items, Raters int
	// Clusters is the number of clusters that the file names, 0 for none.
	Clusters   int
	RaterNames []string
	Categories []string
	Level      agreement.Metric
	Weights    string // as chosen
	Confidence float64
	Seed       uint64
	Replicates int
	// Statistics are those of the package comment, in the order of a report.
	Statistics []Statistic
	Tests      []Test
	// Matrix is that of two raters, nil for more.
	Matrix [][]int
}

// Test is a test of how two raters differ.
type Test struct {
	Name string
	agreement.ChiSquare
}

// Of computes the summary of a table. The error says which option does not fit the
// table, and what to do.
func Of(t ratings.Table, o Options) (Summary, error) {
	if o.Level == "" {
		o.Level = agreement.MetricNominal
	}
	if o.Replicates == 0 {
		o.Replicates = resample.DefaultReplicates
	}
	values, numbers := t.Numbers()
	score := o.Level == agreement.MetricInterval || o.Level == agreement.MetricRatio
	switch o.Level {
	case agreement.MetricNominal:
	case agreement.MetricOrdinal:
		if !t.Ordered() {
			return Summary{}, fmt.Errorf("level ordinal needs labels with an order: numbers, or a JSON file that lists its categories from the lowest up")
		}
	case agreement.MetricInterval, agreement.MetricRatio:
		if !numbers {
			return Summary{}, fmt.Errorf("level %s needs labels that are numbers, and %s is none", o.Level, firstWord(t.Labels))
		}
		for _, v := range values {
			if o.Level == agreement.MetricRatio && v < 0 {
				return Summary{}, fmt.Errorf("level ratio needs numbers of 0 or more, and there is %v", v)
			}
		}
	default:
		return Summary{}, fmt.Errorf("level %q is not nominal, ordinal, interval or ratio", o.Level)
	}
	if o.Weights == "" {
		o.Weights = "none"
		if t.Ordered() {
			o.Weights = "quadratic"
		}
	}
	if !(o.Confidence > 0 && o.Confidence < 1) {
		return Summary{}, fmt.Errorf("a confidence of %v is not between 0 and 1", o.Confidence)
	}
	s := Summary{Items: t.Items(), Raters: len(t.Raters), RaterNames: t.Raters, Categories: t.Labels,
		Level: o.Level, Weights: o.Weights, Confidence: o.Confidence, Seed: o.Seed, Replicates: o.Replicates}
	for _, k := range t.Clusters {
		s.Clusters = max(s.Clusters, k+1)
	}
	c := composer{table: t, options: o, values: values, numbers: numbers, score: score, summary: &s}
	weights, err := c.weightsOf(o.Weights)
	if err != nil {
		return Summary{}, err
	}
	c.weights = weights
	if err := c.compose(); err != nil {
		return Summary{}, err
	}
	c.settle()
	return s, nil
}

func firstWord(labels []string) string {
	for _, l := range labels {
		if _, ok := (ratings.Table{Labels: []string{l}}).Numbers(); !ok {
			return fmt.Sprintf("%q", l)
		}
	}
	return "a label"
}

type composer struct {
	table          ratings.Table
	options        Options
	values         []float64
	numbers, score bool
	weights        agreement.Weights
	summary        *Summary
}

func (c *composer) weightsOf(name string) (agreement.Weights, error) {
	q := len(c.table.Labels)
	if q > maxCategories {
		return nil, nil
	}
	switch name {
	case "none":
		return agreement.Identity(q), nil
	case "linear", "quadratic":
		if !c.table.Ordered() {
			return nil, fmt.Errorf("%s weights need labels with an order: numbers, or a JSON file that lists its categories from the lowest up", name)
		}
		if name == "linear" {
			return agreement.Linear(q), nil
		}
		return agreement.Quadratic(q), nil
	}
	return nil, fmt.Errorf("weights %q are not none, linear or quadratic", name)
}

func (c *composer) add(name string, e agreement.Estimate) {
	c.summary.Statistics = append(c.summary.Statistics, Statistic{name, e})
}

func (c *composer) without(reason string, names ...string) {
	for _, n := range names {
		c.add(n, agreement.Estimate{N: c.summary.Items, Undefined: reason})
	}
}

// compose fills the summary, two raters apart from more.
func (c *composer) compose() error {
	q := len(c.table.Labels)
	if q > maxCategories || (c.table.Matrix == nil && c.table.Items()*q > maxCounts) {
		c.without(fmt.Sprintf("%d different labels are too many for categories; compare them as scores (--level interval)", q), coefficients...)
		if !c.score {
			return nil
		}
		return c.scores()
	}
	if c.summary.Raters == 2 {
		if err := c.two(); err != nil {
			return err
		}
	} else if err := c.many(); err != nil {
		return err
	}
	return c.scores()
}

// MarshalJSON writes n_items, n_raters, raters, categories, level, weights,
// conf_level, seed, replicates, statistics by name (value, se, ci_low, ci_high,
// ci_method, n, reason_undefined) and, for two raters, the confusion matrix and tests
// of how they differ. What is undefined is null.
func (s Summary) MarshalJSON() ([]byte, error) {
	type figure struct {
		Value      *float64 `json:"value"`
		SE         *float64 `json:"se"`
		Low        *float64 `json:"ci_low"`
		High       *float64 `json:"ci_high"`
		Method     *string  `json:"ci_method"`
		N          int      `json:"n"`
		Undefined  *string  `json:"reason_undefined"`
		NoInterval *string  `json:"reason_no_interval,omitempty"`
	}
	type test struct {
		Value     *float64 `json:"value"`
		DF        *int     `json:"df"`
		P         *float64 `json:"p_value"`
		Undefined *string  `json:"reason_undefined"`
	}
	statistics := map[string]figure{}
	for _, one := range s.Statistics {
		f := figure{N: one.N}
		switch {
		case !one.Defined():
			f.Undefined = &one.Undefined
		case !one.HasInterval():
			f.Value, f.NoInterval = &one.Value, &one.NoInterval
			if one.SE > 0 {
				f.SE = &one.SE
			}
		default:
			f.Value, f.Low, f.High, f.Method = &one.Value, &one.Low, &one.High, &one.Method
			if one.SE > 0 || one.Method != agreement.MethodAtOne {
				f.SE = &one.SE
			}
			if one.Method == methodF { // made without a standard error
				f.SE = nil
			}
		}
		statistics[one.Name] = f
	}
	var tests map[string]test
	for _, one := range s.Tests {
		if tests == nil {
			tests = map[string]test{}
		}
		if one.Undefined != "" {
			tests[one.Name] = test{Undefined: &one.Undefined}
			continue
		}
		tests[one.Name] = test{Value: &one.Value, DF: &one.DF, P: &one.P}
	}
	return json.Marshal(struct {
		Items      int               `json:"n_items"`
		Raters     int               `json:"n_raters"`
		Clusters   int               `json:"n_clusters,omitempty"`
		Names      []string          `json:"raters"`
		Categories []string          `json:"categories"`
		Level      agreement.Metric  `json:"level"`
		Weights    string            `json:"weights"`
		Confidence float64           `json:"conf_level"`
		Seed       uint64            `json:"seed"`
		Replicates int               `json:"replicates"`
		Statistics map[string]figure `json:"statistics"`
		Tests      map[string]test   `json:"tests,omitempty"`
		Matrix     [][]int           `json:"confusion_matrix,omitempty"`
	}{s.Items, s.Raters, s.Clusters, s.RaterNames, s.Categories, s.Level, s.Weights, s.Confidence, s.Seed, s.Replicates, statistics, tests, s.Matrix})
}
