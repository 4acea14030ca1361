// Package beta is the beta distribution, to full precision in its tails and for
// large counts. gonum is used for every other distribution; its incomplete beta
// function is off in the seventh digit at a million items, and its inverse in
// the second one far out in a tail, where exact intervals and F quantiles live.
package beta

import "math"

// Quantile is the x with Incomplete(x, a, b) = p, for p in [0,1] and a, b > 0. It
// bisects, so that it cannot run away, until no number lies between the bounds.
func Quantile(p, a, b float64) float64 {
	switch {
	case math.IsNaN(p + a + b): // a search would go on for a long time and find nothing
		return math.NaN()
	case p <= 0:
		return 0
	case p >= 1:
		return 1
	}
	lo, hi := 0.0, 1.0
	for range 1100 { // enough halvings to reach the smallest number there is
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if Incomplete(mid, a, b) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + (hi-lo)/2
}

// Incomplete is the regularised incomplete beta function I_x(a,b), by the
// continued fraction of Didonato & Morris (1992) evaluated by Lentz's method.
func Incomplete(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - Incomplete(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a

	const tiny = 1e-300
	away := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	f := d
	for m := 1.0; m < 1e6; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / away(1+even*d)
		c = away(1 + even/c)
		f *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / away(1+odd*d)
		c = away(1 + odd/c)
		step := d * c
		f *= step
		if math.IsNaN(step) || math.Abs(step-1) < 3e-16 { // one unit in the last place may alternate for ever
			break
		}
	}
	return front * f
}

// FQuantile is the p quantile of the F distribution with d1 and d2 degrees of
// freedom, both above 0; +Inf for p = 1.
func FQuantile(p, d1, d2 float64) float64 {
	x := Quantile(p, d1/2, d2/2)
	return d2 * x / (d1 * (1 - x))
}
