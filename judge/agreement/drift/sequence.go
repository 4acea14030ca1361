package drift

import (
	"math"

	"github.com/countersign/countersign/judge/agreement"
)

// Sequence is the confidence sequence that belongs to BetaBinomial: all rates whose
// e-value is still below 1/alpha. It holds the true rate at all times at once with
// probability 1-alpha, however often it is looked at (Robbins 1970). [0,1] before
// the first try. The error says which number cannot be.
func Sequence(s, n int, alpha float64, prior Prior) (agreement.Interval, error) {
	if err := first(counts(s, n), inside("alpha", alpha, 0, 1), prior.check()); err != nil {
		return agreement.Interval{}, err
	}
	S, N := float64(s), float64(n)
	limit := prior.mixture(S, N) + math.Log(alpha)
	// Rates whose likelihood is too small for what the prior predicted are out.
	return around(S, N, func(p float64) bool { return likelihood(S, N, p) <= limit }), nil
}

// around searches both ends of an interval that holds s/n; out says that a rate is
// not in it, and is monotone on either side.
func around(s, n float64, out func(float64) bool) agreement.Interval {
	if n == 0 {
		return agreement.Interval{Low: 0, High: 1}
	}
	best := s / n
	search := func(in, end float64) float64 {
		if !out(end + (in-end)*1e-15) {
			return end
		}
		outside := end
		for range 200 {
			mid := in + (outside-in)/2
			if mid == in || mid == outside {
				break
			}
			if out(mid) {
				outside = mid
			} else {
				in = mid
			}
		}
		return in
	}
	ci := agreement.Interval{Low: 0, High: 1}
	if s > 0 {
		ci.Low = search(best, 0)
	}
	if s < n {
		ci.High = search(best, 1)
	}
	return ci
}

// TwoSidedMixture is the half width that a sum of centred outcomes with intrinsic
// time v stays within at all times with probability 1-alpha: sqrt((v+rho)
// log((v+rho)/(rho alpha²))), for a normal mixture (Robbins 1970; Howard et al. 2021,
// eq. 14), narrowest near v = tuned for level tunedAlpha. The error says which
// number cannot be.
func TwoSidedMixture(v, alpha, tuned, tunedAlpha float64) (bound, rho float64, err error) {
	if err := first(inside("v", v, -1e-300, math.Inf(1)), inside("alpha", alpha, 0, 1),
		inside("tuned v", tuned, 0, math.Inf(1)), inside("tuned alpha", tunedAlpha, 0, 1)); err != nil {
		return 0, 0, err
	}
	rho = mixtureRho(tuned, tunedAlpha)
	return math.Sqrt((v + rho) * (math.Log1p(v/rho) - 2*math.Log(alpha))), rho, nil
}

// mixtureRho is the parameter that makes the bound narrowest near v (Howard et al.
// 2021, eq. 24, in the closed form of their confseq).
func mixtureRho(v, alpha float64) float64 {
	l := -2 * math.Log(alpha)
	return v / (l + math.Log(1+l))
}

// BernoulliSequence is the confidence sequence for a rate of Howard et al. (2021),
// as their confseq computes it: a mixture of likelihoods over Beta(r/(1-p), r/p),
// centred on each candidate p and narrowest near tuned tries for level tunedAlpha.
// The error says which number cannot be.
func BernoulliSequence(s, n int, alpha, tuned, tunedAlpha float64) (agreement.Interval, error) {
	if err := first(counts(s, n), inside("alpha", alpha, 0, 1),
		inside("tuned n", tuned, 0, math.Inf(1)), inside("tuned alpha", tunedAlpha, 0, 1)); err != nil {
		return agreement.Interval{}, err
	}
	S, N := float64(s), float64(n)
	return around(S, N, func(p float64) bool {
		v := p * (1 - p)
		r := max(mixtureRho(tuned*v, tunedAlpha)-v, 1e-3*v)
		prior := Prior{r / (1 - p), r / p}
		return prior.mixture(S, N)-likelihood(S, N, p) >= -math.Log(alpha)
	}), nil
}
