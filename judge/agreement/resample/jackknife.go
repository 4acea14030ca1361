package resample

import (
	"math"

	"github.com/countersign/countersign/judge/agreement"
)

// Jackknife is the figure with the standard error of Tukey (1958), sqrt((n-1)/n sum
// (left out - mean)²), leaving out one unit (or cluster) at a time. There is no
// interval. Undefined where the figure is; no SE where it is undefined without one
// of the units. The error says what does not fit.
func Jackknife(u Units, f Statistic) (agreement.Estimate, error) {
	s, err := u.strata()
	if err != nil {
		return agreement.Estimate{}, err
	}
	e := agreement.Estimate{N: u.n()}
	whole := u.Whole()
	v, ok := f(whole)
	if !ok {
		e.Undefined = "the figure is undefined on the data themselves"
		return e, nil
	}
	e.Value = v
	e.NoInterval = "the jackknife gives a standard error and no interval"
	left, reason := s.leaveOneOut(f, whole)
	if reason != "" {
		e.NoInterval = reason
		return e, nil
	}
	n, mean, square := 0.0, 0.0, 0.0
	for _, l := range left {
		n += l.times
		mean += l.times * l.value
	}
	mean /= n
	for _, l := range left {
		square += l.times * (l.value - mean) * (l.value - mean)
	}
	e.SE = math.Sqrt((n - 1) / n * square)
	return e, nil
}

// leftOut is the figure without one of several clusters that are alike.
type leftOut struct{ value, times float64 }

// leaveOneOut gives the figure without each cluster; units of one kind that are
// alone give the same one, which is computed once.
func (s strata) leaveOneOut(f Statistic, whole []int) ([]leftOut, string) {
	const undefined = "the figure is undefined without one of the items or clusters"
	if s.clusters < 2 {
		return nil, "one item or cluster cannot be left out"
	}
	var out []leftOut
	counts := append([]int(nil), whole...)
	alone := make([]int, len(whole))
	for _, stratum := range s.single {
		for k, c := range stratum.counts {
			alone[k] += c
		}
	}
	for k, times := range alone {
		if times == 0 {
			continue
		}
		counts[k]--
		v, ok := f(counts)
		if !ok {
			return nil, undefined
		}
		counts[k]++
		out = append(out, leftOut{v, float64(times)})
	}
	for _, clusters := range s.grouped {
		for _, kinds := range clusters {
			for _, k := range kinds {
				counts[k]--
			}
			v, ok := f(counts)
			if !ok {
				return nil, undefined
			}
			for _, k := range kinds {
				counts[k]++
			}
			out = append(out, leftOut{v, 1})
		}
	}
	return out, ""
}
