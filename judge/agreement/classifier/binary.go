package classifier

import (
	"fmt"
	"math"

	"github.com/countersign/countersign/judge/agreement"
)

// Counts are items by what people say and what the judge says. None is negative.
type Counts struct {
	TruePositive  int `json:"true_positive"`  // both call it bad
	FalsePositive int `json:"false_positive"` // the judge alone
	FalseNegative int `json:"false_negative"` // people alone: missed
	TrueNegative  int `json:"true_negative"`  // neither
}

// Metrics are the figures of a two-class judge. Shares (sensitivity, specificity,
// PPV, NPV, accuracy, prevalence) carry Wilson's interval and their own N, the
// denominator; the composed ones carry none.
type Metrics struct {
	Sensitivity agreement.Estimate `json:"sensitivity"` // recall: TP/(TP+FN)
	Specificity agreement.Estimate `json:"specificity"` // TN/(TN+FP)
	PPV         agreement.Estimate `json:"ppv"`         // precision: TP/(TP+FP)
	NPV         agreement.Estimate `json:"npv"`         // TN/(TN+FN)
	Accuracy    agreement.Estimate `json:"accuracy"`
	Prevalence  agreement.Estimate `json:"prevalence"` // (TP+FN)/n
	// F1 is 2TP/(2TP+FP+FN) (van Rijsbergen 1979), MCC Matthews' correlation
	// (1975), Youden sensitivity + specificity - 1 (Youden 1950).
	F1               agreement.Estimate `json:"f1"`
	MCC              agreement.Estimate `json:"mcc"`
	BalancedAccuracy agreement.Estimate `json:"balanced_accuracy"`
	Youden           agreement.Estimate `json:"youden"`
	// Likelihood ratios: sensitivity/(1-specificity), (1-sensitivity)/specificity.
	PositiveRatio agreement.Estimate `json:"lr_pos"`
	NegativeRatio agreement.Estimate `json:"lr_neg"`
}

// Measure computes all figures. The error names a negative count.
func (c Counts) Measure(level float64) (Metrics, error) {
	if err := c.check(); err != nil {
		return Metrics{}, err
	}
	tp, fp, fn, tn := c.TruePositive, c.FalsePositive, c.FalseNegative, c.TrueNegative
	n := tp + fp + fn + tn
	share := func(x, of int, none string) agreement.Estimate {
		switch {
		case n == 0: // then neither people nor the judge said anything
			return undefined(0, "there are no items")
		case of == 0:
			return undefined(0, none)
		}
		return agreement.Proportion(x, of, level)
	}
	m := Metrics{
		Sensitivity: share(tp, tp+fn, "people call no item bad"),
		Specificity: share(tn, tn+fp, "people call every item bad"),
		PPV:         share(tp, tp+fp, "the judge flagged nothing"),
		NPV:         share(tn, tn+fn, "the judge flagged everything"),
		Accuracy:    share(tp+tn, n, "there are no items"),
		Prevalence:  share(tp+fn, n, "there are no items"),
		F1:          undefined(n, "neither people nor the judge call any item bad"),
	}
	if below := 2*tp + fp + fn; below > 0 {
		m.F1 = bare(2*float64(tp)/float64(below), n)
	}
	m.MCC = undefined(n, "people or the judge used one verdict only")
	if below := float64(tp+fp) * float64(tp+fn) * float64(tn+fp) * float64(tn+fn); below > 0 {
		m.MCC = bare((float64(tp)*float64(tn)-float64(fp)*float64(fn))/math.Sqrt(below), n)
	}
	if !m.Sensitivity.Defined() || !m.Specificity.Defined() {
		none := undefined(n, "people used one verdict only")
		m.BalancedAccuracy, m.Youden, m.PositiveRatio, m.NegativeRatio = none, none, none, none
		return m, nil
	}
	se, sp := m.Sensitivity.Value, m.Specificity.Value
	m.BalancedAccuracy = bare((se+sp)/2, n)
	m.Youden = bare(se+sp-1, n)
	m.PositiveRatio = undefined(n, "the judge flagged no good item, so the ratio has no bound")
	if fp > 0 {
		m.PositiveRatio = bare(se/(float64(fp)/float64(fp+tn)), n)
	}
	m.NegativeRatio = undefined(n, "the judge passed no good item")
	if tn > 0 {
		m.NegativeRatio = bare(float64(fn)/float64(tp+fn)/sp, n)
	}
	return m, nil
}

func (c Counts) check() error {
	for _, v := range []struct {
		name  string
		count int
	}{
		{"true positives", c.TruePositive}, {"false positives", c.FalsePositive},
		{"false negatives", c.FalseNegative}, {"true negatives", c.TrueNegative},
	} {
		if v.count < 0 {
			return fmt.Errorf("classifier: %d %s are less than nothing", v.count, v.name)
		}
	}
	return nil
}
