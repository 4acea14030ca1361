package forecast

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/countersign/countersign/judge/agreement"
)

// Binning is how a reliability diagram groups its forecasts.
type Binning string

// Ways to bin: into parts of [0,1] of one width, or into parts that hold one share
// of the forecasts each (quantiles of type 7).
const (
	Uniform  Binning = "uniform"
	Quantile Binning = "quantile"
)

// Bin is one point of a reliability diagram. Bins are closed on the right, the
// first on both sides, as in scikit-learn.
type Bin struct {
	Low, High float64 // its edges
	Count     int
	Stated    float64            // mean probability
	Observed  agreement.Estimate // share that happened, with Wilson's interval
}

// Curve is a reliability diagram with the figures made from it.
type Curve struct {
	Bins []Bin // those that hold forecasts, from the lowest up
	// Empty is the number of bins that hold none.
	Empty int
	// ECE is the mean distance of Stated and Observed, weighed by Count (Naeini
	// et al. 2015), MCE the largest. Both depend on the bins and are too
	// high in small samples: a judge without any fault shows an ECE of .10
	// at n = 100 with ten bins. Never a headline.
	ECE, MCE  float64
	N         int
	Undefined string
}

// Reliability groups forecasts into bins, one or more.
func Reliability(happened []bool, p []float64, bins int, by Binning, level float64) Curve {
	c := Curve{N: len(p), Undefined: refuse(happened, p)}
	switch {
	case c.Undefined != "":
		return c
	case bins < 1:
		c.Undefined = fmt.Sprintf("%d bins hold nothing", bins)
		return c
	case by != Uniform && by != Quantile:
		c.Undefined = fmt.Sprintf("binning %q is not uniform or quantile", by)
		return c
	}
	edges := make([]float64, bins+1)
	sorted := slices.Sorted(slices.Values(p))
	for i := range edges {
		f := float64(i) * (1 / float64(bins))
		if by == Uniform {
			edges[i] = f
			continue
		}
		at := f * float64(len(sorted)-1)
		lo := min(len(sorted)-1, int(at))
		hi := min(len(sorted)-1, lo+1)
		edges[i] = sorted[lo] + (at-float64(lo))*(sorted[hi]-sorted[lo])
	}
	count, hits, stated := make([]int, bins), make([]int, bins), make([]float64, bins)
	for i, v := range p {
		k := sort.SearchFloat64s(edges[1:bins], v)
		count[k]++
		stated[k] += v
		if happened[i] {
			hits[k]++
		}
	}
	for k, n := range count {
		if n == 0 {
			c.Empty++
			continue
		}
		b := Bin{Low: edges[k], High: edges[k+1], Count: n, Stated: stated[k] / float64(n),
			Observed: agreement.Proportion(hits[k], n, level)}
		off := math.Abs(b.Stated - b.Observed.Value)
		c.ECE += off * float64(n) / float64(len(p))
		c.MCE = max(c.MCE, off)
		c.Bins = append(c.Bins, b)
	}
	return c
}
