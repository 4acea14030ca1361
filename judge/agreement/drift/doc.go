// Package drift watches a judge over time: e-values and confidence sequences, which
// stay valid however often somebody looks, and the control charts that people read
// (EWMA, CUSUM, Page-Hinkley) with their average run lengths.
//
// A daily significance test raises a false alarm on a steady judge in a quarter of
// all months; an e-value does so with its stated probability at most, over all
// time. The run lengths of the charts are for normal data in units of sigma: for
// agreement as 0 and 1 set their limits by simulation. A new version of judge,
// prompt or rubric is a new series; never chart across it.
package drift

import (
	"fmt"
	"math"
)

// NoSignal is the Signal of a chart that never crossed its limits.
const NoSignal = 0

func finite(name string, vs ...float64) error {
	for _, v := range vs {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("drift: %s is %v, which is not a number", name, v)
		}
	}
	return nil
}

func inside(name string, v, low, high float64) error {
	if v > low && v < high {
		return nil
	}
	return fmt.Errorf("drift: %s %v is not between %v and %v", name, v, low, high)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
