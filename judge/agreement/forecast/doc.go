// Package forecast judges stated confidences: when the judge says 80%, is it right
// four times in five? Brier's score with Murphy's split, the reliability diagram,
// and two ways to recalibrate.
//
// An outcome is true where the stated event happened; a probability is in [0,1].
package forecast

import (
	"fmt"

	"github.com/countersign/countersign/judge/agreement"
)

const noInterval = "no interval is computed for this figure"

func undefined(n int, reason string) agreement.Estimate {
	return agreement.Estimate{N: n, Undefined: reason}
}

// refuse says why these are no forecasts, or "".
func refuse(happened []bool, p []float64) string {
	if len(happened) != len(p) {
		return fmt.Sprintf("%d outcomes and %d probabilities do not make pairs", len(happened), len(p))
	}
	if len(p) == 0 {
		return "there are no forecasts"
	}
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return fmt.Sprintf("probability %d is %v, which is not between 0 and 1", i+1, v)
		}
	}
	return ""
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
