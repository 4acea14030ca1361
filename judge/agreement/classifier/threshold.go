package classifier

import (
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/internal/rank"
)

// Cut is a threshold: an item is flagged when its score reaches At.
type Cut struct {
	At float64
	Counts
}

// Cuts are all thresholds that tell items apart, from the highest score down,
// with their counts: the ROC and the precision-recall curve. nil when only one
// class is there or the input does not fit.
func Cuts(bad []bool, score []float64) []Cut {
	if refuse(bad, score) != "" {
		return nil
	}
	order := rank.Order(score)
	positives := 0
	for _, b := range bad {
		if b {
			positives++
		}
	}
	var cuts []Cut
	tp, fp := 0, 0
	for i := len(order) - 1; i >= 0; i-- {
		if bad[order[i]] {
			tp++
		} else {
			fp++
		}
		at := score[order[i]]
		if i > 0 && score[order[i-1]] == at {
			continue
		}
		cuts = append(cuts, Cut{At: at, Counts: Counts{
			TruePositive: tp, FalsePositive: fp,
			FalseNegative: positives - tp, TrueNegative: len(bad) - positives - fp,
		}})
	}
	return cuts
}

// YoudenCut is the threshold with the largest sensitivity + specificity - 1
// (Youden 1950), the highest one among equals, and that value. It is chosen on
// these items and therefore too good on them: report it on others. Use it only
// where nobody has stated the costs of an error. Undefined with one class only.
func YoudenCut(bad []bool, score []float64) (Cut, agreement.Estimate) {
	if reason := refuse(bad, score); reason != "" {
		return Cut{}, undefined(len(bad), reason)
	}
	best, j := Cut{}, -2.0
	for _, c := range Cuts(bad, score) {
		v := c.sensitivity() - c.falseAlarms()
		if v > j+1e-12 {
			best, j = c, v
		}
	}
	return best, bare(j, len(bad))
}

func (c Counts) sensitivity() float64 {
	return float64(c.TruePositive) / float64(c.TruePositive+c.FalseNegative)
}

func (c Counts) falseAlarms() float64 {
	return float64(c.FalsePositive) / float64(c.FalsePositive+c.TrueNegative)
}

// AveragePrecision is the area under the precision-recall curve as steps, sum
// (R_i - R_{i-1}) P_i, never by trapezoids, which flatter it (Davis & Goadrich
// 2006). A judge without skill reaches the share of bad items, which is Baseline.
// Undefined with one class only.
func AveragePrecision(bad []bool, score []float64) (area agreement.Estimate, baseline float64) {
	if reason := refuse(bad, score); reason != "" {
		return undefined(len(bad), reason), 0
	}
	sum, before := 0.0, 0.0
	for _, c := range Cuts(bad, score) {
		r := c.sensitivity()
		sum += (r - before) * float64(c.TruePositive) / float64(c.TruePositive+c.FalsePositive)
		before = r
		baseline = float64(c.TruePositive) / float64(len(bad)) // the last cut flags all
	}
	return bare(sum, len(bad)), baseline
}
