package agreement

import (
	"fmt"
	"math"
	"slices"
)

// Scores are numbers given to items by any number of raters, for the alpha of
// measurements: where labels are so many that a table of counts would be mostly
// empty. The zero value has no items.
type Scores struct {
	items [][]float64 // those with two or more
	all   int
}

// NewScores takes the scores of each item, in any order and number. The error names
// the first that is not a finite number.
func NewScores(items [][]float64) (Scores, error) {
	s := Scores{all: len(items)}
	for i, row := range items {
		for _, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return Scores{}, fmt.Errorf("item %d has the score %v, which is not a number", i+1, v)
			}
		}
		if len(row) > 1 {
			s.items = append(s.items, append([]float64(nil), row...))
		}
	}
	return s, nil
}

// Pairable is the number of items with two scores or more: the units of a bootstrap.
func (s Scores) Pairable() int { return len(s.items) }

// AlphaOfScores is KrippendorffAlpha at level interval or ratio from the scores
// themselves; times[i] is how often the i-th item with two or more scores counts,
// nil: once each. Sums of squares make the interval's in one pass; the ratio's needs
// every pair of different scores.
func AlphaOfScores(s Scores, times []int, metric Metric) Alpha {
	if metric != MetricInterval && metric != MetricRatio {
		return Alpha{Estimate: undefined(0, fmt.Sprintf("level %q is not interval or ratio", metric))}
	}
	if times != nil && len(times) != len(s.items) {
		return Alpha{Estimate: undefined(0, fmt.Sprintf("%d items with %d numbers of times", len(s.items), len(times)))}
	}
	often := func(i int) float64 {
		if times == nil {
			return 1
		}
		return float64(times[i])
	}
	a := Alpha{}
	mean, n := 0.0, 0.0
	for i, row := range s.items {
		f := often(i)
		a.N += int(f)
		a.Pairable += int(f) * len(row)
		for _, v := range row {
			mean += f * v
		}
		n += f * float64(len(row))
	}
	if a.Pairable == 0 {
		a.Undefined = "no item has two labels"
		return a
	}
	mean /= n
	if metric == MetricInterval {
		// Sum over pairs of (x-y)² is 2 m times the squares around the mean.
		around := 0.0
		for i, row := range s.items {
			f := often(i)
			if f == 0 {
				continue
			}
			own := 0.0
			for _, v := range row {
				own += v / float64(len(row))
			}
			within := 0.0
			for _, v := range row {
				within += (v - own) * (v - own)
				around += f * (v - mean) * (v - mean)
			}
			a.Observed += f * 2 * float64(len(row)) * within / float64(len(row)-1) / n
		}
		a.Expected = 2 * around / (n - 1)
	} else if bad := a.ratio(s, often, n); bad != "" {
		a.Undefined = bad
		return a
	}
	return a.fromDisagreements(differ(s.items, often))
}

// differ says whether the items that count have two different scores.
func differ(items [][]float64, often func(int) float64) bool {
	first, found := 0.0, false
	for i, row := range items {
		if often(i) == 0 {
			continue
		}
		for _, v := range row {
			if !found {
				first, found = v, true
			}
			if v != first {
				return true
			}
		}
	}
	return false
}

// ratio sets the disagreements at level ratio.
func (a *Alpha) ratio(s Scores, often func(int) float64, n float64) string {
	difference := func(x, y float64) float64 {
		if x == y {
			return 0
		}
		d := (x - y) / (x + y)
		return d * d
	}
	total := map[float64]float64{}
	for i, row := range s.items {
		f := often(i)
		if f == 0 {
			continue
		}
		within := 0.0
		for j, x := range row {
			if x < 0 {
				return fmt.Sprintf("%v cannot be a value at level ratio", x)
			}
			total[x] += f
			for _, y := range row[:j] {
				within += 2 * difference(x, y)
			}
		}
		a.Observed += f * within / float64(len(row)-1) / n
	}
	values := make([]float64, 0, len(total))
	for x := range total {
		values = append(values, x)
	}
	slices.Sort(values) // a sum in one order is one number
	for i, x := range values {
		for _, y := range values[:i] {
			a.Expected += 2 * total[x] * total[y] * difference(x, y) / (n * (n - 1))
		}
	}
	return ""
}
