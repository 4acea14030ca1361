package drift

import (
	"math"

	"github.com/countersign/countersign/judge/agreement"
)

// BetaBinomialWithin is the e-value of BetaBinomial against every rate of an
// interval at once: the least of their e-values, which is the one of the rate that
// is nearest to s/n. So a baseline that was itself estimated is tested as what is
// known of it. While the true rate lies in the interval, it reaches 1/alpha with
// probability alpha at most, ever; with an interval that misses the rate with
// probability beta, a false alarm has at most alpha + beta. The error says which
// number cannot be; the interval lies in [0,1].
func BetaBinomialWithin(s, n int, null agreement.Interval, prior Prior) (Evalue, error) {
	if err := first(counts(s, n), ordered(null)); err != nil {
		return Evalue{}, err
	}
	if n == 0 {
		return Evalue{}, nil
	}
	return BetaBinomial(s, n, inOpenUnit(nearest(float64(s)/float64(n), null)), prior)
}

// BoundedMeanWithin is the e-value of n values in [0,1] with this sum against every
// mean of an interval at once. Each value less its mean is sub-Gaussian with
// variance 1/4 (Hoeffding 1963), so for v = n/4 and the distance d of the sum from
// the nearest n times mean, sqrt(rho/(v+rho)) exp(d²/(2(v+rho))) has an expectation
// of at most 1 at every time (Robbins 1970; Howard et al. 2021, eq. 14). It is
// strongest near tuned values. The error says which number cannot be.
func BoundedMeanWithin(sum float64, n int, null agreement.Interval, tuned float64) (Evalue, error) {
	if err := first(counts(0, n), inside("sum", sum, -1e-6*float64(n+1), float64(n)+1e-6*float64(n+1)),
		ordered(null), inside("tuned n", tuned, 0, math.Inf(1))); err != nil {
		return Evalue{}, err
	}
	if n == 0 {
		return Evalue{}, nil
	}
	v, rho := float64(n)/4, mixtureRho(tuned/4, tunedFor)
	d := sum - float64(n)*nearest(sum/float64(n), null)
	return Evalue{(math.Log(rho/(v+rho)) + d*d/(v+rho)) / 2}, nil
}

// tunedFor is the level for which a bounded mean's mixture is narrowest.
const tunedFor = 0.05

// BoundedMeanSequence is the confidence sequence that belongs to BoundedMeanWithin:
// it holds the mean of values in [0,1] at all times at once with probability
// 1-alpha. [0,1] before the first value. The error says which number cannot be.
func BoundedMeanSequence(sum float64, n int, alpha, tuned float64) (agreement.Interval, error) {
	if n == 0 {
		return agreement.Interval{Low: 0, High: 1}, nil
	}
	if err := first(counts(0, n), finite("sum", sum)); err != nil {
		return agreement.Interval{}, err
	}
	bound, _, err := TwoSidedMixture(float64(n)/4, alpha, tuned/4, tunedFor)
	if err != nil {
		return agreement.Interval{}, err
	}
	mean, half := sum/float64(n), bound/float64(n)
	return agreement.Interval{Low: max(0, mean-half), High: min(1, mean+half)}, nil
}

// Accumulated is the sum of e-values with the weights 1/(r(r+1)), r from 1, which
// add up to 1. It is for repeats of one comparison that depend on each other, as
// when the same items are judged again and again: it only grows, and what it grows
// to has an expectation of at most 1, so it reaches 1/alpha with probability alpha
// at most, ever (a weighted mean of e-values: Vovk & Wang 2021). Nothing before the
// first.
func Accumulated(repeats []Evalue) Evalue {
	sum := math.Inf(-1)
	for i, e := range repeats {
		r := float64(i + 1)
		sum = logAdd(sum, e.Log-math.Log(r*(r+1)))
	}
	return Evalue{sum}
}

func logAdd(a, b float64) float64 {
	if a < b {
		a, b = b, a
	}
	if math.IsInf(b, -1) {
		return a
	}
	return a + math.Log1p(math.Exp(b-a))
}

func nearest(v float64, ci agreement.Interval) float64 { return min(max(v, ci.Low), ci.High) }

// inOpenUnit keeps a rate from 0 and 1, which one label could refute.
func inOpenUnit(p float64) float64 { return min(max(p, 1e-12), 1-1e-12) }

func ordered(ci agreement.Interval) error {
	return first(inside("the low end", ci.Low, -1e-300, 1+1e-15), inside("the high end", ci.High, ci.Low-1e-300, 1+1e-15))
}
