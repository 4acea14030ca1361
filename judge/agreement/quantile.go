package agreement

import (
	"math"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// zQuantile is the normal quantile of a two-sided level: 1.96 for 0.95.
func zQuantile(level float64) float64 { return -distuv.UnitNormal.Quantile((1 - level) / 2) }

// twoSidedP is the chance of a standard normal at least as far out as z.
func twoSidedP(z float64) float64 { return 2 * distuv.UnitNormal.Survival(math.Abs(z)) }

// tQuantile is Student's t quantile of a two-sided level, df > 0.
func tQuantile(level, df float64) float64 {
	return -distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Quantile((1 - level) / 2)
}

// gammaUpper is the regularised upper incomplete gamma function Q(a,x) for
// a > 0; 1 for x <= 0.
func gammaUpper(a, x float64) float64 {
	if x <= 0 {
		return 1
	}
	return mathext.GammaIncRegComp(a, x)
}
