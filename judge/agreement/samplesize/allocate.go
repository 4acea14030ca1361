package samplesize

import (
	"fmt"
	"math"
	"sort"
)

// Stratum is a part of the population to draw labels from.
type Stratum struct {
	Size int     // items in it, 0 or more
	SD   float64 // spread of what is measured there: sqrt(p(1-p)) for a share
}

// Allocate shares out n labels by Neyman (1934): to each stratum in proportion to
// Size × SD, with at least floor labels (or all of a smaller one), never more than
// it holds. The result sums to n, or to the whole population if that is smaller.
// With every SD at 0 it allocates by size. The error names what does not fit; the
// floors alone may ask for more than n.
func Allocate(n, floor int, strata []Stratum) ([]int, error) {
	if n < 0 || floor < 0 {
		return nil, fmt.Errorf("allocation: %d labels with a floor of %d cannot be", n, floor)
	}
	weights, total, room, floors := make([]float64, len(strata)), 0.0, 0, 0
	for i, s := range strata {
		if s.Size < 0 || !(s.SD >= 0) || math.IsInf(s.SD, 0) {
			return nil, fmt.Errorf("allocation: stratum %d has %d items with a spread of %v", i+1, s.Size, s.SD)
		}
		weights[i] = float64(s.Size) * s.SD
		total += weights[i]
		room += s.Size
		floors += min(floor, s.Size)
	}
	if floors > n {
		return nil, fmt.Errorf("allocation: %d labels are %d too few for %d in each stratum", n, floors-n, floor)
	}
	n = min(n, room)
	if total == 0 {
		for i, s := range strata {
			weights[i] = float64(s.Size)
		}
	}
	// share is what stratum i gets when a unit of weight gets t labels.
	share := func(i int, t float64) float64 {
		return max(float64(min(floor, strata[i].Size)), min(float64(strata[i].Size), t*weights[i]))
	}
	sum := func(t float64) float64 {
		all := 0.0
		for i := range strata {
			all += share(i, t)
		}
		return all
	}
	lo, hi := 0.0, 1.0
	for range 1000 {
		if sum(hi) >= float64(n) {
			break
		}
		lo, hi = hi, hi*2
	}
	for range 200 {
		if mid := lo + (hi-lo)/2; sum(mid) < float64(n) {
			lo = mid
		} else {
			hi = mid
		}
	}
	out, order, left := make([]int, len(strata)), make([]int, len(strata)), n
	rest := make([]float64, len(strata))
	for i := range strata {
		v := share(i, lo)
		out[i] = int(v + 1e-9)
		rest[i], order[i] = v-float64(out[i]), i
		left -= out[i]
	}
	sort.SliceStable(order, func(a, b int) bool { return rest[order[a]] > rest[order[b]] })
	// One more to the largest remainders; what strata with spread cannot hold goes
	// to those without.
	for left > 0 {
		for _, i := range order {
			if left > 0 && out[i] < strata[i].Size {
				out[i]++
				left--
			}
		}
	}
	return out, nil
}
