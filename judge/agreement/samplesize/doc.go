// Package samplesize answers how many labels are needed: for an interval of a
// wanted width, for a test that finds a difference, and where to draw them.
//
// A size is given exactly (a real number) and rounded up to labels. The error says
// which number cannot be.
package samplesize

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Size is a number of labels: Exact as the formula gives it, N rounded up.
type Size struct {
	N     int
	Exact float64
}

// size rounds up, forgiving the last digits of floating point.
func size(exact float64) (Size, error) {
	if math.IsNaN(exact) || exact > 1e15 {
		return Size{}, fmt.Errorf("sample size: no finite number of labels is enough")
	}
	return Size{N: max(1, int(math.Ceil(exact-1e-9))), Exact: exact}, nil
}

// quantile is the normal quantile of probability p.
func quantile(p float64) float64 { return distuv.UnitNormal.Quantile(p) }

func z(level float64) float64 { return -quantile((1 - level) / 2) }

func inside(name string, v, low, high float64) error {
	if v > low && v < high {
		return nil
	}
	return fmt.Errorf("sample size: %s %v is not between %v and %v", name, v, low, high)
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
