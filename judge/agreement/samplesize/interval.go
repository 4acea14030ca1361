package samplesize

import (
	"math"

	"github.com/countersign/countersign/judge/agreement"
)

// Kappa is how many items two raters must both label for an interval of kappa ±
// half: z² Q/half², Q = (1-k)[(1-k)(1-2k) + k(2-k)/(2p(1-p))], with p the share of
// one of two labels, the same for both (Donner & Eliasziw 1992).
func Kappa(kappa, prevalence, half, level float64) (Size, error) {
	if err := first(inside("kappa", kappa, -1, 1), inside("prevalence", prevalence, 0, 1),
		inside("half width", half, 0, 2), inside("level", level, 0, 1)); err != nil {
		return Size{}, err
	}
	return size(z(level) * z(level) * spread(kappa, prevalence) / (half * half))
}

// KappaHalfWidth is the half width that n items give: the inverse of Kappa.
func KappaHalfWidth(kappa, prevalence float64, n int, level float64) (float64, error) {
	if err := first(inside("kappa", kappa, -1, 1), inside("prevalence", prevalence, 0, 1),
		inside("n", float64(n), 0, math.Inf(1)), inside("level", level, 0, 1)); err != nil {
		return 0, err
	}
	return z(level) * math.Sqrt(spread(kappa, prevalence)/float64(n)), nil
}

func spread(k, p float64) float64 {
	return (1 - k) * ((1-k)*(1-2*k) + k*(2-k)/(2*p*(1-p)))
}

// Proportion is how many items make Wilson's interval around a share of p no wider
// than ± half: the smallest n with that half width at x = p n, a real number.
func Proportion(p, half, level float64) (Size, error) {
	if err := first(inside("proportion", p, -1e-300, 1+1e-15), inside("half width", half, 0, 0.5),
		inside("level", level, 0, 1)); err != nil {
		return Size{}, err
	}
	lo, hi := 0, 1
	for WilsonHalfWidth(p, hi, level) > half {
		lo, hi = hi, hi*2
		if hi > 1<<50 {
			return size(math.Inf(1))
		}
	}
	for hi-lo > 1 {
		if mid := lo + (hi-lo)/2; WilsonHalfWidth(p, mid, level) > half {
			lo = mid
		} else {
			hi = mid
		}
	}
	return Size{N: hi, Exact: float64(hi)}, nil
}

// WilsonHalfWidth is half the width of Wilson's interval for a share of p among n
// items, n above 0, level in (0,1): what n labels would tell.
func WilsonHalfWidth(p float64, n int, level float64) float64 {
	v, N := z(level), float64(n)
	return v * math.Sqrt(p*(1-p)/N+v*v/(4*N*N)) / (1 + v*v/N)
}

// ProportionWald is z² p(1-p)/half², the textbook's size; too small near 0 and 1.
func ProportionWald(p, half, level float64) (Size, error) {
	if err := first(inside("proportion", p, 0, 1), inside("half width", half, 0, 1), inside("level", level, 0, 1)); err != nil {
		return Size{}, err
	}
	return size(z(level) * z(level) * p * (1 - p) / (half * half))
}

// Width is the half width of Wilson's interval for x of n, and Size the labels of
// the same share that would bring it down to half; what a planner says in one
// sentence. The error says which number cannot be.
func Width(x, n int, half, level float64) (now float64, needed Size, err error) {
	ci, err := agreement.Wilson(x, n, level)
	if err != nil {
		return 0, Size{}, err
	}
	needed, err = Proportion(float64(x)/float64(n), half, level)
	return (ci.High - ci.Low) / 2, needed, err
}
