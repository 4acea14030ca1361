// Package sampling turns labels drawn with unequal chances into figures of the
// population. A review queue looks at flagged work first, so agreement on what was
// reviewed says little about what was not (verification bias). Each label counts
// one over the probability with which it was drawn (Horvitz & Thompson 1952), and
// every figure is then computed from the weighted table.
//
// A stratum that was never drawn from has no weight that could stand for it:
// what depends on it is refused.
package sampling

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/countersign/countersign/judge/agreement"
)

// MethodLogit names the interval of a share corrected for verification bias.
const MethodLogit = "logit"

func undefined(n int, reason string) agreement.Estimate {
	return agreement.Estimate{N: n, Undefined: reason}
}

func bare(value float64, n int) agreement.Estimate {
	return agreement.Estimate{Value: value, N: n,
		NoInterval: "weighted figures get their interval from a bootstrap within strata"}
}

func z(level float64) float64 { return -distuv.UnitNormal.Quantile((1 - level) / 2) }

func logistic(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
