package agreement

import (
	"fmt"
	"math"
	"slices"
)

// Holm adjusts the p-values of several tests so that each may be held against the
// level that was meant for all of them (Holm 1979): the smallest is multiplied by how
// many there are, the next by one less, and none is below one before it. The result
// keeps the order that was given, each in [0,1]. The error names a value that is
// no probability.
func Holm(p []float64) ([]float64, error) {
	order := make([]int, len(p))
	for i, v := range p {
		if math.IsNaN(v) || v < 0 || v > 1 {
			return nil, fmt.Errorf("p-value %d is %v and not between 0 and 1", i+1, v)
		}
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case p[a] < p[b]:
			return -1
		case p[a] > p[b]:
			return 1
		}
		return 0
	})
	adjusted, least := make([]float64, len(p)), 0.0
	for place, i := range order {
		least = max(least, min(1, float64(len(p)-place)*p[i]))
		adjusted[i] = least
	}
	return adjusted, nil
}
