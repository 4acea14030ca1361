package agreement

import (
	"errors"
	"fmt"
	"math"

	"github.com/countersign/countersign/judge/agreement/internal/beta"
)

// BinomialTest is the exact two-sided p-value of x successes in n tries under a
// rate of p0: the chance of all outcomes that are no more likely than x, as R and
// SciPy define it (with their tolerance of 1e-7 for what counts as equally
// likely). The error says which of x, n and p0 cannot be.
func BinomialTest(x, n int, p0 float64) (float64, error) {
	switch {
	case n <= 0 || x < 0 || x > n:
		return 0, fmt.Errorf("binomial test: %d of %d is not a share", x, n)
	case !(p0 >= 0 && p0 <= 1):
		return 0, fmt.Errorf("binomial test: a rate of %v is not between 0 and 1", p0)
	case p0 == 0 || p0 == 1:
		if float64(x) == p0*float64(n) {
			return 1, nil
		}
		return 0, nil
	}
	logs := func(k int) float64 {
		a, _ := math.Lgamma(float64(n + 1))
		b, _ := math.Lgamma(float64(k + 1))
		c, _ := math.Lgamma(float64(n - k + 1))
		return a - b - c + float64(k)*math.Log(p0) + float64(n-k)*math.Log1p(-p0)
	}
	atMost := func(k int) float64 {
		switch {
		case k < 0:
			return 0
		case k >= n:
			return 1
		}
		return beta.Incomplete(1-p0, float64(n-k), float64(k+1))
	}
	atLeast := func(k int) float64 {
		switch {
		case k <= 0:
			return 1
		case k > n:
			return 0
		}
		return beta.Incomplete(p0, float64(k), float64(n-k+1))
	}
	limit := logs(x) + math.Log1p(1e-7)
	mode := min(n, int(float64(n+1)*p0))
	// On each side of the mode the chances fall away from it, so the first
	// outcome as rare as x is found by halving.
	first := func(from, to int) int { // the last k in [from,to] with logs(k) <= limit going up
		lo, hi := from-1, to
		for lo < hi {
			mid := lo + (hi-lo+1)/2
			if logs(mid) <= limit {
				lo = mid
			} else {
				hi = mid - 1
			}
		}
		return lo
	}
	last := func(from, to int) int { // the first k in [from,to] with logs(k) <= limit
		lo, hi := from, to+1
		for lo < hi {
			mid := lo + (hi-lo)/2
			if logs(mid) <= limit {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		return lo
	}
	switch {
	case x < mode:
		return min(1, atMost(x)+atLeast(last(mode, n))), nil
	case x > mode:
		return min(1, atMost(first(0, mode-1))+atLeast(x)), nil
	}
	return 1, nil
}

// Difference is that of two independent proportions, first minus second.
type Difference struct {
	Value float64
	// Low and High are Newcombe's interval.
	Low, High float64
	// Z and P are the test of no difference (two-sided); they mean nothing
	// when NoTest gives a reason.
	Z, P   float64
	NoTest string
}

// TwoProportions compares x1 of n1 with x2 of n2, different items each: the
// hybrid-score interval of Newcombe (1998, his method 10) and the z test with
// pooled variance. There is no test when all or none succeeded. For two judges on
// the same items use McNemar. The error says which number cannot be.
func TwoProportions(x1, n1, x2, n2 int, level float64) (Difference, error) {
	a, err := Wilson(x1, n1, level)
	b, errB := Wilson(x2, n2, level)
	if err := errors.Join(err, errB); err != nil {
		return Difference{}, fmt.Errorf("two proportions: %w", err)
	}
	p1, p2 := float64(x1)/float64(n1), float64(x2)/float64(n2)
	d := Difference{Value: p1 - p2}
	d.Low = max(-1, d.Value-math.Hypot(p1-a.Low, b.High-p2))
	d.High = min(1, d.Value+math.Hypot(a.High-p1, p2-b.Low))
	if x1+x2 == 0 || x1+x2 == n1+n2 {
		d.NoTest = "all outcomes are the same, so there is nothing to test"
		return d, nil
	}
	pool := float64(x1+x2) / float64(n1+n2)
	d.Z = d.Value / math.Sqrt(pool*(1-pool)*(1/float64(n1)+1/float64(n2)))
	d.P = twoSidedP(d.Z)
	return d, nil
}
