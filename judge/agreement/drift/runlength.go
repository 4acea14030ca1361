package drift

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/integrate/quad"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// nodes of the quadrature: far more than the digits of a run length need.
const nodes = 100

// CUSUMRunLength is the mean number of points until a CUSUM of normal data in units
// of sigma signals, started at 0, if the mean has shifted by shift: by the integral
// equation of Page (1954) over Gauss-Legendre nodes (Vance 1986). Two sides combine
// as 1/ARL = 1/ARL+ + 1/ARL- (Kemp 1961). The error says which number cannot be.
func CUSUMRunLength(k, h, shift float64, twoSided bool) (float64, error) {
	if err := first(inside("slack", k, -1e-300, math.Inf(1)), inside("limit", h, 0, math.Inf(1)), finite("shift", shift)); err != nil {
		return 0, err
	}
	up, err := oneSided(k, h, shift)
	if err != nil || !twoSided {
		return up, err
	}
	down, err := oneSided(k, h, -shift)
	if err != nil {
		return 0, err
	}
	return 1 / (1/up + 1/down), nil
}

// oneSided solves L(z) = 1 + L(0) P(x <= k-z) + integral over (0,h) of L(y)
// f(y+k-z).
func oneSided(k, h, shift float64) (float64, error) {
	// Node 0 is the start; it takes the mass at 0 and no weight in the integral.
	at, weight := make([]float64, nodes+1), make([]float64, nodes+1)
	quad.Legendre{}.FixedLocations(at[1:], weight[1:], 0, h)
	x := distuv.Normal{Mu: shift, Sigma: 1}
	return solveRunLength(at, func(z float64, j int) float64 {
		if j == 0 {
			return x.CDF(k - z)
		}
		return weight[j] * x.Prob(at[j]+k-z)
	})
}

// EWMARunLength is the mean number of points until an EWMA of normal data in units
// of sigma leaves steady limits, started at the centre, if the mean has shifted by
// shift (Crowder 1987). The error says which number cannot be.
func EWMARunLength(lambda, width, shift float64) (float64, error) {
	if err := first(inside("lambda", lambda, 0, 1+1e-15), inside("width", width, 0, math.Inf(1)), finite("shift", shift)); err != nil {
		return 0, err
	}
	h := width * math.Sqrt(lambda/(2-lambda))
	at, weight := make([]float64, nodes+1), make([]float64, nodes+1) // node 0 is the centre
	quad.Legendre{}.FixedLocations(at[1:], weight[1:], -h, h)
	x := distuv.Normal{Mu: shift, Sigma: 1}
	return solveRunLength(at, func(z float64, j int) float64 {
		if j == 0 {
			return 0
		}
		return weight[j] / lambda * x.Prob((at[j]-(1-lambda)*z)/lambda)
	})
}

// solveRunLength solves L = 1 + K L at the nodes and gives L at the first.
func solveRunLength(at []float64, kernel func(z float64, j int) float64) (float64, error) {
	n := len(at)
	a, ones := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
	for i, z := range at {
		for j := range at {
			v := -kernel(z, j)
			if i == j {
				v++
			}
			a.Set(i, j, v)
		}
		ones.SetVec(i, 1)
	}
	var l mat.VecDense
	if err := l.SolveVec(a, ones); err != nil || !(l.AtVec(0) >= 1 && l.AtVec(0) < 1e12) {
		return 0, fmt.Errorf("drift: the run length is longer than can be computed: the limit is too wide")
	}
	return l.AtVec(0), nil
}
