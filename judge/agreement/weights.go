package agreement

import (
	"fmt"
	"math"
)

// Weights are agreement weights in [0,1] for each pair of labels of a scale: 1
// on the diagonal, less the further two labels are apart. Symmetric.
type Weights [][]float64

func weigh(q int, w func(i, j int) float64) Weights {
	m := make(Weights, q)
	for i := range m {
		m[i] = make([]float64, q)
		for j := range m[i] {
			if i == j {
				m[i][j] = 1
			} else {
				m[i][j] = w(i, j)
			}
		}
	}
	return m
}

// Identity weights make every statistic the nominal one. q is the number of
// labels on the scale, 0 or more, here and below.
func Identity(q int) Weights { return weigh(q, func(int, int) float64 { return 0 }) }

// Linear weights: 1 - |i-j|/(q-1) (Cohen 1968).
func Linear(q int) Weights {
	return weigh(q, func(i, j int) float64 { return 1 - math.Abs(float64(i-j))/float64(q-1) })
}

// Quadratic weights: 1 - (i-j)²/(q-1)² (Fleiss & Cohen 1973).
func Quadratic(q int) Weights {
	return weigh(q, func(i, j int) float64 {
		d := float64(i-j) / float64(q-1)
		return 1 - d*d
	})
}

// Ordinal weights use the order alone: 1 - M(i,j)/M(1,q), where M counts the
// pairs of labels that lie between i and j, ends included (Gwet 2014).
func Ordinal(q int) Weights {
	pairs := func(n int) float64 { return float64(n*(n-1)) / 2 }
	return weigh(q, func(i, j int) float64 {
		return 1 - pairs(max(i, j)-min(i, j)+1)/pairs(q)
	})
}

// FromDisagreement turns disagreement weights (0 on the diagonal, any positive
// scale) into agreement weights by dividing by the largest. The error names the
// first cell that does not fit.
func FromDisagreement(d [][]float64) (Weights, error) {
	largest := 0.0
	for i, row := range d {
		if len(row) != len(d) {
			return nil, fmt.Errorf("disagreement weights: row %d has %d cells of %d", i+1, len(row), len(d))
		}
		for j, v := range row {
			switch {
			case math.IsNaN(v) || math.IsInf(v, 0) || v < 0:
				return nil, fmt.Errorf("disagreement weights: row %d, column %d holds %v", i+1, j+1, v)
			case i == j && v != 0:
				return nil, fmt.Errorf("disagreement weights: label %d disagrees with itself by %v", i+1, v)
			}
			largest = max(largest, v)
		}
	}
	for i := range d {
		for j := range i {
			if d[i][j] != d[j][i] {
				return nil, fmt.Errorf("disagreement weights: %d with %d and %d with %d differ", i+1, j+1, j+1, i+1)
			}
		}
	}
	if largest == 0 {
		return nil, fmt.Errorf("disagreement weights: no two labels disagree")
	}
	return weigh(len(d), func(i, j int) float64 { return 1 - d[i][j]/largest }), nil
}

func (w Weights) sum() float64 {
	s := 0.0
	for _, row := range w {
		for _, v := range row {
			s += v
		}
	}
	return s
}

// fits reports whether w is a square matrix over q labels.
func (w Weights) fits(q int) bool {
	if len(w) != q {
		return false
	}
	for _, row := range w {
		if len(row) != q {
			return false
		}
	}
	return true
}
