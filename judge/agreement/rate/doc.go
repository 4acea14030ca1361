// Package rate estimates how often something is true (how much of the work is
// bad) from many judge verdicts and few human labels: the judge's own rate,
// corrected by what the labels say about its errors.
//
// Which estimator is right depends on how the labels were drawn. PostStratified
// needs them random within each verdict, so it survives over-sampling of flags.
// PPI needs a uniform random sample. RoganGladen needs the judge's sensitivity and
// specificity, from items drawn by the human label; it survives a change of the
// base rate. Show judge-only, human-only and corrected next to each other, and
// where the corrected interval is not narrower than the human-only one, say that
// the judge adds nothing.
package rate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/countersign/countersign/judge/agreement"
)

// Ways an interval is made, as they stand in JSON.
const (
	MethodNormal         = "normal"
	MethodLogit          = "logit"
	MethodLangReiczigel  = "lang_reiczigel"
	noBetterThanChance   = "sensitivity and specificity do not sum to more than 1: the judge is no better than chance"
	noSpread             = "the labels leave no spread to make an interval from"
	tooFewForAVerdict    = "no label on items of one verdict, so their share is not known"
	noLabelsAtAll        = "there are no labels"
	noUnlabelledVerdicts = "there are no verdicts without labels"
)

func undefined(n int, reason string) agreement.Estimate {
	return agreement.Estimate{N: n, Undefined: reason}
}

// z is the normal quantile of a two-sided level.
func z(level float64) float64 { return -distuv.UnitNormal.Quantile((1 - level) / 2) }

func badLevel(level float64) string {
	if level > 0 && level < 1 {
		return ""
	}
	return fmt.Sprintf("confidence level %v is not between 0 and 1", level)
}

// withNormal sets value ± z SE, not clipped.
func withNormal(e agreement.Estimate, level float64) agreement.Estimate {
	switch bad := badLevel(level); {
	case bad != "":
		e.NoInterval = bad
	case !(e.SE > 0):
		e.SE, e.NoInterval = 0, noSpread
	default:
		d := z(level) * e.SE
		e.Low, e.High, e.Method = e.Value-d, e.Value+d, MethodNormal
	}
	return e
}

// withLogit sets the interval on the logit scale, which stays inside (0,1).
func withLogit(e agreement.Estimate, level float64) agreement.Estimate {
	switch bad := badLevel(level); {
	case bad != "":
		e.NoInterval = bad
	case !(e.SE > 0) || e.Value <= 0 || e.Value >= 1:
		e.SE, e.NoInterval = 0, noSpread
	default:
		mid, half := math.Log(e.Value/(1-e.Value)), z(level)*e.SE/(e.Value*(1-e.Value))
		e.Low, e.High, e.Method = logistic(mid-half), logistic(mid+half), MethodLogit
	}
	return e
}

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

func share(v float64) bool { return v >= 0 && v <= 1 }
