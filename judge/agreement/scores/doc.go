// Package scores compares raters who give numbers: is the judge off by a constant
// (bias, limits of agreement), how large are its errors, does it agree in value
// (ICC(2,1), Lin's concordance) or only in ranking (correlations, which cannot see
// a constant shift).
//
// Pairs are complete: both slices have one length and hold finite numbers; what
// else is asked comes back undefined with a reason. Means, variances and
// correlations are gonum's.
package scores

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/countersign/countersign/judge/agreement"
)

// Ways an interval is made, as they stand in JSON.
const (
	MethodFisherZ = agreement.MethodFisherZ
	MethodF       = "f_distribution"
)

const noSpread = "a side gave one and the same score throughout, so there is nothing to correlate"

// refuse says why x and y are no pairs of scores, or "".
func refuse(x, y []float64) string {
	if len(x) != len(y) {
		return fmt.Sprintf("%d scores on one side and %d on the other do not make pairs", len(x), len(y))
	}
	if len(x) == 0 {
		return "no item was scored by both"
	}
	for i := range x {
		if !finite(x[i]) || !finite(y[i]) {
			return fmt.Sprintf("pair %d holds %v and %v, which are not both numbers", i+1, x[i], y[i])
		}
	}
	return ""
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func undefined(n int, reason string) agreement.Estimate {
	return agreement.Estimate{N: n, Undefined: reason}
}

// settled withholds what floating point could not hold: scores so large or so close
// together that their squares overflow or vanish.
func settled(e agreement.Estimate) agreement.Estimate {
	const beyond = "the scores are too large or too close together for the arithmetic"
	switch {
	case !e.Defined():
	case !finite(e.Value):
		return undefined(e.N, beyond)
	case e.HasInterval() && !(finite(e.SE) && finite(e.Low) && finite(e.High)):
		e.SE, e.Low, e.High, e.Method, e.NoInterval = 0, 0, 0, "", beyond
	}
	return e
}

// z is the normal quantile of a two-sided level.
func z(level float64) float64 { return -distuv.UnitNormal.Quantile((1 - level) / 2) }

func goodLevel(level float64) bool { return level > 0 && level < 1 }

func badLevel(level float64) string {
	return fmt.Sprintf("confidence level %v is not between 0 and 1", level)
}

// constant reports whether all scores are the same.
func constant(x []float64) bool {
	for _, v := range x {
		if v != x[0] {
			return false
		}
	}
	return true
}
