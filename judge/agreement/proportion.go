package agreement

import (
	"fmt"
	"math"

	"github.com/countersign/countersign/judge/agreement/internal/beta"
)

// Interval is a two-sided confidence interval.
type Interval struct{ Low, High float64 }

// checkProportion refuses what is not x successes in n tries.
func checkProportion(x, n int, level float64) error {
	switch bad := checkLevel(level); {
	case bad != "":
		return fmt.Errorf("interval of a proportion: %s", bad)
	case n <= 0:
		return fmt.Errorf("interval of a proportion: n is %d, nothing was tried", n)
	case x < 0 || x > n:
		return fmt.Errorf("interval of a proportion: %d of %d is not a share", x, n)
	}
	return nil
}

// ends puts exact ends where nothing or everything succeeded (rounding would
// leave 1e-17 there) and clips to [0,1].
func ends(x, n int, low, high float64) Interval {
	low, high = max(0, low), min(1, high)
	if x == 0 {
		low = 0
	}
	if x == n {
		high = 1
	}
	return Interval{low, high}
}

// Wilson is the score interval of a proportion (Wilson 1927): the default. The
// error, here and below, says which of x, n and level cannot be.
func Wilson(x, n int, level float64) (Interval, error) {
	if err := checkProportion(x, n, level); err != nil {
		return Interval{}, err
	}
	low, high := wilson(float64(x)/float64(n), float64(n), level)
	return ends(x, n, low, high), nil
}

// WilsonShare is Wilson's interval for a share among an effective number of labels,
// which need not be whole: what weighted labels say (Kish 1965 for the number). The
// error says which of share, n and level cannot be.
func WilsonShare(share, n, level float64) (Interval, error) {
	switch bad := checkLevel(level); {
	case bad != "":
		return Interval{}, fmt.Errorf("interval of a share: %s", bad)
	case !(n > 0) || math.IsInf(n, 0):
		return Interval{}, fmt.Errorf("interval of a share: it stands on %v labels", n)
	case !(share >= 0 && share <= 1):
		return Interval{}, fmt.Errorf("interval of a share: %v is not between 0 and 1", share)
	}
	low, high := wilson(share, n, level)
	if share == 0 {
		low = 0
	}
	if share == 1 {
		high = 1
	}
	return Interval{max(0, low), min(1, high)}, nil
}

func wilson(p, n, level float64) (low, high float64) {
	z := zQuantile(level)
	centre := p + z*z/(2*n)
	half := z * math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	d := 1 + z*z/n
	return (centre - half) / d, (centre + half) / d
}

// WilsonCC is Wilson's interval with continuity correction (Newcombe 1998).
func WilsonCC(x, n int, level float64) (Interval, error) {
	if err := checkProportion(x, n, level); err != nil {
		return Interval{}, err
	}
	z, N := zQuantile(level), float64(n)
	p := float64(x) / N
	mid, d := 2*N*p+z*z, 2*(N+z*z)
	low := (mid - 1 - z*math.Sqrt(max(0, z*z-2-1/N+4*p*(N*(1-p)+1)))) / d
	high := (mid + 1 + z*math.Sqrt(max(0, z*z+2-1/N+4*p*(N*(1-p)-1)))) / d
	return ends(x, n, low, high), nil
}

// ClopperPearson is the exact interval (Clopper & Pearson 1934): at least the
// level asked for, so wider. For guaranteed bounds.
func ClopperPearson(x, n int, level float64) (Interval, error) {
	if err := checkProportion(x, n, level); err != nil {
		return Interval{}, err
	}
	tail, s, f := (1-level)/2, float64(x), float64(n-x)
	low, high := 0.0, 1.0
	if x > 0 {
		low = beta.Quantile(tail, s, f+1)
	}
	if x < n {
		high = beta.Quantile(1-tail, s+1, f)
	}
	return ends(x, n, low, high), nil
}

// AgrestiCoull is the Wald interval around Wilson's centre (Agresti & Coull
// 1998), clipped to [0,1].
func AgrestiCoull(x, n int, level float64) (Interval, error) {
	if err := checkProportion(x, n, level); err != nil {
		return Interval{}, err
	}
	z := zQuantile(level)
	N := float64(n) + z*z
	p := (float64(x) + z*z/2) / N
	half := z * math.Sqrt(p*(1-p)/N)
	return Interval{max(0, p-half), min(1, p+half)}, nil
}

// Jeffreys is the equal-tailed interval of Beta(x+1/2, n-x+1/2) (Brown, Cai &
// DasGupta 2001), without their special ends at x = 0 and x = n.
func Jeffreys(x, n int, level float64) (Interval, error) {
	if err := checkProportion(x, n, level); err != nil {
		return Interval{}, err
	}
	tail, a, b := (1-level)/2, float64(x)+0.5, float64(n-x)+0.5
	return Interval{beta.Quantile(tail, a, b), beta.Quantile(1-tail, a, b)}, nil
}

// Proportion is x of n with Wilson's interval and the Wald standard error
// sqrt(p(1-p)/n). Undefined when n is 0; x outside 0..n is undefined too.
func Proportion(x, n int, level float64) Estimate {
	if n == 0 {
		return undefined(0, "nothing to count")
	}
	if x < 0 || n < 0 || x > n {
		return undefined(n, fmt.Sprintf("%d of %d is not a share", x, n))
	}
	p := float64(x) / float64(n)
	e := Estimate{Value: p, SE: math.Sqrt(p * (1 - p) / float64(n)), N: n}
	ci, err := Wilson(x, n, level)
	if err != nil {
		return e.withoutInterval(err.Error())
	}
	e.Low, e.High, e.Method = ci.Low, ci.High, MethodWilson
	return e
}

// Agreement is the share of items on which both raters gave the same label,
// with Wilson's interval. Undefined for an empty matrix.
func Agreement(m Confusion, level float64) Estimate {
	if m.n == 0 {
		return undefined(0, noPairs)
	}
	return Proportion(m.diag, m.n, level)
}
