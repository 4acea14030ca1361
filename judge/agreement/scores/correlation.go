package scores

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/internal/rank"
)

// Correlation is a coefficient of association with its test against 0.
type Correlation struct {
	agreement.Estimate
	// P is the two-sided p-value; it means nothing when NoTest gives a reason.
	P      float64
	NoTest string
}

// Pearson is the product-moment correlation with Fisher's z interval, tanh(atanh
// r ± z/sqrt(n-3)) (Fisher 1921), and the p-value of t(n-2). SE is the one that
// belongs to the interval: (1-r²)/sqrt(n-3). Undefined when a side is constant.
// No interval with fewer than four pairs or for r = ±1. It ignores a constant
// shift and a factor: use it for ranking, never for agreement.
func Pearson(x, y []float64, level float64) Correlation {
	if c, bad := cannot(x, y); bad {
		return c
	}
	n := float64(len(x))
	r := max(-1, min(1, stat.Correlation(x, y, nil)))
	c := Correlation{Estimate: settled(agreement.Estimate{Value: r, N: len(x)})}
	switch {
	case !c.Defined():
		c.NoTest = c.Undefined
		return c
	case !goodLevel(level):
		c.NoInterval = badLevel(level)
	case n < 4:
		c.NoInterval = "Fisher's interval needs four pairs"
	case math.Abs(r) == 1:
		c.NoInterval = "all pairs lie on a line, so there is no spread to make an interval from"
	default:
		mid, half := math.Atanh(r), z(level)/math.Sqrt(n-3)
		c.SE = (1 - r*r) / math.Sqrt(n-3)
		c.Low, c.High, c.Method = math.Tanh(mid-half), math.Tanh(mid+half), MethodFisherZ
	}
	return c.tested(r)
}

// Spearman is Pearson's correlation of the ranks, ties at their mean rank
// (Spearman 1904), with the p-value of t(n-2). There is no interval.
func Spearman(x, y []float64) Correlation {
	if c, bad := cannot(x, y); bad {
		return c
	}
	rho := max(-1, min(1, stat.Correlation(rank.Mean(x), rank.Mean(y), nil)))
	c := Correlation{Estimate: agreement.Estimate{Value: rho, N: len(x),
		NoInterval: "no interval is computed for a rank correlation"}}
	return c.tested(rho)
}

// tested sets the p-value of Student's t with n-2 degrees of freedom.
func (c Correlation) tested(r float64) Correlation {
	switch df := float64(c.N - 2); {
	case df < 1:
		c.NoTest = "a test needs three pairs"
	case math.Abs(r) == 1:
		c.P = 0
	default:
		t := math.Abs(r) * math.Sqrt(df/((1-r)*(1+r)))
		c.P = 2 * distuv.StudentsT{Mu: 0, Sigma: 1, Nu: df}.Survival(t)
	}
	return c
}

func cannot(x, y []float64) (Correlation, bool) {
	reason := refuse(x, y)
	switch {
	case reason == "" && len(x) < 2:
		reason = "one pair has no correlation"
	case reason == "" && (constant(x) || constant(y)):
		reason = noSpread
	}
	if reason == "" {
		return Correlation{}, false
	}
	return Correlation{Estimate: undefined(len(x), reason), NoTest: reason}, true
}

// KendallTauB is (C-D)/sqrt((P-Tx)(P-Ty)) over P pairs of items: C in the same
// order on both sides, D in opposite ones, Tx and Ty tied on a side (Kendall
// 1945), counted in n log n by Knight's merge sort (1966). Undefined when a side is
// constant. There is no interval.
func KendallTauB(x, y []float64) agreement.Estimate {
	if c, bad := cannot(x, y); bad {
		return c.Estimate
	}
	n := len(x)
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		switch {
		case x[a] != x[b]:
			return sign(x[a] - x[b])
		default:
			return sign(y[a] - y[b])
		}
	})
	byX := make([]float64, n)
	for i, at := range order {
		byX[i] = y[at]
	}
	tiedX := tied(order, func(a, b int) bool { return x[a] == x[b] })
	tiedBoth := tied(order, func(a, b int) bool { return x[a] == x[b] && y[a] == y[b] })
	swaps := inversions(byX, make([]float64, n)) // sorts byX, which is y then
	for i := range order {
		order[i] = i
	}
	tiedY := tied(order, func(a, b int) bool { return byX[a] == byX[b] })
	pairs := float64(n) * float64(n-1) / 2
	balance := pairs - tiedX - tiedY + tiedBoth - 2*swaps
	return agreement.Estimate{
		Value:      balance / math.Sqrt((pairs-tiedX)*(pairs-tiedY)),
		N:          n,
		NoInterval: "no interval is computed for a rank correlation",
	}
}

func sign(v float64) int {
	switch {
	case v < 0:
		return -1
	case v > 0:
		return 1
	}
	return 0
}

// tied counts the pairs within runs of equal items.
func tied(order []int, equal func(a, b int) bool) float64 {
	sum := 0.0
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && equal(order[from], order[to]) {
			to++
		}
		sum += float64(to-from) * float64(to-from-1) / 2
		from = to
	}
	return sum
}

// inversions sorts v and counts the pairs that stood in the wrong order.
func inversions(v, spare []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	mid := len(v) / 2
	count := inversions(v[:mid], spare[:mid]) + inversions(v[mid:], spare[mid:])
	a, b := v[:mid], v[mid:]
	for at := range spare {
		if len(b) == 0 || (len(a) > 0 && a[0] <= b[0]) {
			spare[at], a = a[0], a[1:]
			continue
		}
		count += float64(len(a))
		spare[at], b = b[0], b[1:]
	}
	copy(v, spare)
	return count
}
