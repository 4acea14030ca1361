package drift

import (
	"fmt"
	"math"
)

// EWMA is a chart of the exponentially weighted moving average.
type EWMA struct {
	Z, Lower, Upper []float64
	// Signal is the first point outside its limits, counted from 1, or NoSignal.
	Signal int
}

// Limits says which limits a chart has.
type Limits int

// Limits that widen from the start to their final value (exact for each point), or
// that have the final value throughout.
const (
	Growing Limits = iota
	Steady
)

// ChartEWMA is z = lambda x + (1-lambda) z from mu0 on, with limits mu0 ± width
// sigma sqrt(lambda/(2-lambda) (1-(1-lambda)^(2i))) (Roberts 1959; Lucas & Saccucci
// 1990). The error says which number cannot be.
func ChartEWMA(x []float64, mu0, sigma, lambda, width float64, limits Limits) (EWMA, error) {
	if err := first(finite("an observation", x...), finite("mu0", mu0), inside("sigma", sigma, 0, math.Inf(1)),
		inside("lambda", lambda, 0, 1+1e-15), inside("width", width, 0, math.Inf(1))); err != nil {
		return EWMA{}, err
	}
	var c EWMA
	z := mu0
	for i, v := range x {
		z = lambda*v + (1-lambda)*z
		grown := 1.0
		if limits == Growing {
			grown = 1 - math.Pow(1-lambda, 2*float64(i+1))
		}
		half := width * sigma * math.Sqrt(lambda/(2-lambda)*grown)
		c.Z, c.Lower, c.Upper = append(c.Z, z), append(c.Lower, mu0-half), append(c.Upper, mu0+half)
		if c.Signal == NoSignal && (z < mu0-half || z > mu0+half) {
			c.Signal = i + 1
		}
	}
	return c, nil
}

// CUSUM is a pair of cumulative sums, both 0 or more.
type CUSUM struct {
	Up, Down []float64
	// SignalUp and SignalDown are the first points above h, from 1, or NoSignal.
	SignalUp, SignalDown int
}

// ChartCUSUM is C+ = max(0, x-(mu0+k)+C+) and C- = max(0, (mu0-k)-x+C-) (Page 1954):
// k is the slack, half of the shift to be found, h the limit, all in the unit of x.
// The error says which number cannot be.
func ChartCUSUM(x []float64, mu0, k, h float64) (CUSUM, error) {
	if err := first(finite("an observation", x...), finite("mu0", mu0),
		inside("slack", k, -1e-300, math.Inf(1)), inside("limit", h, 0, math.Inf(1))); err != nil {
		return CUSUM{}, err
	}
	var c CUSUM
	up, down := 0.0, 0.0
	for i, v := range x {
		up, down = max(0, v-(mu0+k)+up), max(0, (mu0-k)-v+down)
		c.Up, c.Down = append(c.Up, up), append(c.Down, down)
		if c.SignalUp == NoSignal && up > h {
			c.SignalUp = i + 1
		}
		if c.SignalDown == NoSignal && down > h {
			c.SignalDown = i + 1
		}
	}
	return c, nil
}

// Direction is the side to which a rate may drift.
type Direction string

// Directions.
const (
	DriftUp   Direction = "up"
	DriftDown Direction = "down"
)

// PageHinkley is a chart of the distance of a running sum from its extreme.
type PageHinkley struct {
	Statistic []float64
	Signal    int // first point above the threshold, from 1, or NoSignal
}

// ChartPageHinkley adds up how far each value lies beyond the mean of all values so
// far by more than delta, and measures the sum from its lowest point (Page 1954;
// Hinkley 1971). It needs no baseline: the mean of the series is one. The error says
// which number cannot be.
func ChartPageHinkley(x []float64, delta, threshold float64, direction Direction) (PageHinkley, error) {
	if err := first(finite("an observation", x...), finite("delta", delta),
		inside("threshold", threshold, 0, math.Inf(1))); err != nil {
		return PageHinkley{}, err
	}
	if direction != DriftUp && direction != DriftDown {
		return PageHinkley{}, fmt.Errorf("drift: direction %q is not up or down", direction)
	}
	var c PageHinkley
	mean, sum, lowest := 0.0, 0.0, 0.0
	for i, v := range x {
		mean += (v - mean) / float64(i+1)
		d := v - mean
		if direction == DriftDown {
			d = -d
		}
		sum += d - delta
		lowest = min(lowest, sum)
		c.Statistic = append(c.Statistic, sum-lowest)
		if c.Signal == NoSignal && sum-lowest > threshold {
			c.Signal = i + 1
		}
	}
	return c, nil
}
