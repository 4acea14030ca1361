package summary

import (
	"math"
	"slices"

	"github.com/countersign/countersign/judge/agreement"
)

// Differences of scores are squared and summed: beyond these sizes the squares leave
// what floating point can hold, or lose their digits.
const (
	mostScore   = 1e140
	leastSpread = 1e-140
)

const beyondArithmetic = "values differ too little or too much to compute it: give them in another unit"

// squared are the statistics that are made of squared differences of scores.
var squared = append(scoreNames(true)[2:], "krippendorff_alpha")

// beyond says whether scores have sizes that squared differences cannot be made of.
func (c *composer) beyond() bool {
	if !c.score || len(c.values) < 2 {
		return false
	}
	low, high := slices.Min(c.values), slices.Max(c.values)
	return max(-low, high) > mostScore || high > low && high-low < leastSpread
}

// settle is the one place that all figures leave by: none that is no finite number, or
// that lost its digits, is told.
func (c *composer) settle() {
	beyond := c.beyond()
	for i := range c.summary.Statistics {
		s := &c.summary.Statistics[i]
		if beyond && slices.Contains(squared, s.Name) {
			s.Estimate = agreement.Estimate{N: s.N, Undefined: beyondArithmetic}
		}
		reason := s.Undefined
		s.Estimate = s.Finite()
		if reason == "" && s.Undefined != "" {
			s.Undefined = beyondArithmetic
		}
	}
	for i := range c.summary.Tests {
		t := &c.summary.Tests[i]
		if sum := t.Value + t.P; t.Undefined == "" && (math.IsNaN(sum) || math.IsInf(sum, 0)) {
			t.ChiSquare = agreement.ChiSquare{Undefined: beyondArithmetic}
		}
	}
}
