package scores

import (
	"math"

	"gonum.org/v1/gonum/stat"
)

// Errors says how far the second scores lie from the first ones.
type Errors struct {
	// Bias is the mean of first minus second, SD the standard deviation of that
	// difference (n-1). Low and High are Bland & Altman's limits of
	// agreement, Bias ± 1.96 SD: where 95% of single differences are expected.
	Bias, SD, Low, High float64
	// MAE is the mean absolute difference, RMSE the root of its mean square.
	MAE, RMSE float64
	N         int
	// Undefined says why there are none. NoLimits says why SD, Low and High
	// are not there.
	Undefined, NoLimits string
}

// Differences gives bias, limits of agreement (Bland & Altman 1986), mean absolute
// and root mean square error of x - y. Undefined without pairs; SD and limits need
// two.
func Differences(x, y []float64) Errors {
	e := differences(x, y)
	if e.Undefined == "" && !finite(e.Bias+e.SD+e.MAE+e.RMSE+e.Low+e.High) {
		return Errors{N: e.N, Undefined: "the scores are too large for the arithmetic"}
	}
	return e
}

func differences(x, y []float64) Errors {
	e := Errors{N: len(x), Undefined: refuse(x, y)}
	if e.Undefined != "" {
		return e
	}
	d := make([]float64, len(x))
	for i := range d {
		d[i] = x[i] - y[i]
		e.MAE += math.Abs(d[i]) / float64(len(x))
		e.RMSE += d[i] * d[i] / float64(len(x))
	}
	e.RMSE = math.Sqrt(e.RMSE)
	e.Bias = stat.Mean(d, nil)
	if len(d) < 2 {
		e.NoLimits = "limits of agreement need two pairs"
		return e
	}
	e.SD = stat.StdDev(d, nil)
	e.Low, e.High = e.Bias-1.96*e.SD, e.Bias+1.96*e.SD
	return e
}
