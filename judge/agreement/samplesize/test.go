package samplesize

import (
	"math"
)

// KappaTest is how many items two raters with two labels need to tell a kappa of
// alternative from one of null (Cantor 1996; Flack et al. 1988): [(z_a sqrt(Q0) +
// z_b sqrt(Q1))/(difference)]², Q the large-sample variance of kappa times n (Fleiss,
// Cohen & Everitt 1969). first and second are the shares of one label with each
// rater. R's irr takes the same numbers as N.cohen.kappa(first, second, alternative,
// null); its help text swaps the roles of the two kappas.
func KappaTest(firstShare, secondShare, alternative, null, alpha, power float64, twoSided bool) (Size, error) {
	if err := first(inside("share", firstShare, 0, 1), inside("share", secondShare, 0, 1),
		inside("kappa", alternative, -1, 1), inside("kappa", null, -1, 1),
		inside("alpha", alpha, 0, 1), inside("power", power, 0, 1)); err != nil {
		return Size{}, err
	}
	if alternative == null {
		return size(math.Inf(1))
	}
	if twoSided {
		alpha /= 2
	}
	q := func(k float64) float64 { return kappaVariance(firstShare, secondShare, k) }
	root := (-quantile(alpha)*math.Sqrt(q(null)) + quantile(power)*math.Sqrt(q(alternative))) / (alternative - null)
	return size(root * root)
}

// kappaVariance is n times the variance of kappa for two labels with given shares.
func kappaVariance(r1, r2, k float64) float64 {
	pe := r1*r2 + (1-r1)*(1-r2)
	po := k*(1-pe) + pe
	both := (po - 1 + r1 + r2) / 2
	cells := [2][2]float64{{both, r1 - both}, {r2 - both, 1 - r1 - r2 + both}}
	rows, cols := [2]float64{r1, 1 - r1}, [2]float64{r2, 1 - r2}
	sum := 0.0
	for i := range 2 {
		for j := range 2 {
			if i == j {
				d := (1 - pe) - (rows[i]+cols[i])*(1-po)
				sum += cells[i][j] * d * d
			} else {
				d := cols[i] + rows[j]
				sum += cells[i][j] * d * d * (1 - po) * (1 - po)
			}
		}
	}
	d := po*pe - 2*pe + po
	return (sum - d*d) / math.Pow(1-pe, 4)
}

// TwoProportions is the size of each of two groups to tell p1 from p2 by a
// two-sided test (Fleiss 1981, without continuity correction; R's
// power.prop.test).
func TwoProportions(p1, p2, alpha, power float64) (Size, error) {
	if err := first(inside("proportion", p1, 0, 1), inside("proportion", p2, 0, 1),
		inside("alpha", alpha, 0, 1), inside("power", power, 0, 1)); err != nil {
		return Size{}, err
	}
	if p1 == p2 {
		return size(math.Inf(1))
	}
	mean := (p1 + p2) / 2
	root := (-quantile(alpha/2)*math.Sqrt(2*mean*(1-mean)) + quantile(power)*math.Sqrt(p1*(1-p1)+p2*(1-p2))) / (p1 - p2)
	return size(root * root)
}
