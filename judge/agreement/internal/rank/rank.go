// Package rank orders numbers for the statistics that go by ranks. It must never
// see NaN, which has no place in an order; who calls it refuses that before.
package rank

import (
	"cmp"
	"slices"
)

// Order is the indices of x from its lowest value up.
func Order(x []float64) []int {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	return order
}

// Mean gives each value its rank, 1 for the smallest, and the mean rank among ties.
func Mean(x []float64) []float64 {
	order := Order(x)
	r := make([]float64, len(x))
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && x[order[to]] == x[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			r[i] = float64(from+to+1) / 2
		}
		from = to
	}
	return r
}
