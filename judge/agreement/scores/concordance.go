package scores

import (
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/countersign/countersign/judge/agreement"
)

// LinCCC is Lin's concordance 2 s_xy/(s_x² + s_y² + (mean x - mean y)²), variances
// over n (Lin 1989): Pearson's r, lowered by any shift and any difference of
// spread. SE after Lin (1989, corrected 2000), interval by Fisher's z. Undefined
// when both sides are constant and equal; where one is constant it is 0 without
// an interval.
func LinCCC(x, y []float64, level float64) agreement.Estimate {
	return settled(linCCC(x, y, level))
}

func linCCC(x, y []float64, level float64) agreement.Estimate {
	if reason := refuse(x, y); reason != "" {
		return undefined(len(x), reason)
	}
	n := float64(len(x))
	mx, my := stat.Mean(x, nil), stat.Mean(y, nil)
	sx, sy := stat.PopVariance(x, nil), stat.PopVariance(y, nil)
	shift := mx - my
	below := sx + sy + shift*shift
	if below == 0 {
		return undefined(len(x), "both gave one and the same score throughout")
	}
	if constant(x) || constant(y) {
		return agreement.Estimate{N: len(x), NoInterval: noSpread}
	}
	r := max(-1, min(1, stat.Correlation(x, y, nil)))
	c := 2 * r * math.Sqrt(sx*sy) / below
	e := agreement.Estimate{Value: c, N: len(x)}
	switch {
	case !goodLevel(level):
		e.NoInterval = badLevel(level)
		return e
	case len(x) < 3:
		e.NoInterval = "an interval needs three pairs"
		return e
	case r == 0 || math.Abs(c) >= 1 || math.Abs(r) == 1:
		e.NoInterval = "the scores are exactly uncorrelated or exactly equal, which gives no standard error"
		return e
	}
	u2 := shift * shift / math.Sqrt(sx*sy)
	v := ((1-r*r)*c*c*(1-c*c)/(r*r) + 2*c*c*c*(1-c)*u2/r - c*c*c*c*u2*u2/(2*r*r)) / (n - 2)
	if !(v > 0) {
		e.NoInterval = "the scores leave no spread to make an interval from"
		return e
	}
	e.SE = math.Sqrt(v)
	mid, half := math.Atanh(c), z(level)*e.SE/(1-c*c)
	e.Low, e.High, e.Method = math.Tanh(mid-half), math.Tanh(mid+half), MethodFisherZ
	return e
}
