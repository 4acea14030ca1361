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
	e := agreement.Estimate{N: len(u.Kind)}
	whole := make([]int, u.Kinds)
	for _, k := range u.Kind {
		whole[k]++
	}
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
	mean, sum := 0.0, 0.0
	for _, x := range left {
		mean += x / float64(len(left))
	}
	for _, x := range left {
		sum += (x - mean) * (x - mean)
	}
	n := float64(len(left))
	e.SE = math.Sqrt((n - 1) / n * sum)
	return e, nil
}

// leaveOneOut gives the figure without each cluster; units of one kind that are
// alone give the same one, which is computed once.
func (s strata) leaveOneOut(f Statistic, whole []int) ([]float64, string) {
	const undefined = "the figure is undefined without one of the items or clusters"
	if s.clusters < 2 {
		return nil, "one item or cluster cannot be left out"
	}
	out := make([]float64, 0, s.clusters)
	counts := append([]int(nil), whole...)
	seen := map[int]float64{}
	for _, kinds := range s.single {
		for _, k := range kinds {
			v, ok := seen[k]
			if !ok {
				counts[k]--
				if v, ok = f(counts); !ok {
					return nil, undefined
				}
				counts[k]++
				seen[k] = v
			}
			out = append(out, v)
		}
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
			out = append(out, v)
		}
	}
	return out, ""
}
