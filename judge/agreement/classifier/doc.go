// Package classifier judges the judge against people as the reference: of what
// people call bad, how much does it catch; when it flags, how often is it right;
// which threshold on its score is best; and is one judge better than another.
//
// Positive is the class that people look for: bad work. PPV and NPV move with the
// share of bad work, so those of a balanced set say nothing about production.
// A zero denominator gives an undefined figure with its reason, where scikit-learn
// gives 0.
package classifier

import (
	"github.com/countersign/countersign/judge/agreement"
)

const noInterval = "no interval is computed for this figure"

func undefined(n int, reason string) agreement.Estimate {
	return agreement.Estimate{N: n, Undefined: reason}
}

func bare(value float64, n int) agreement.Estimate {
	return agreement.Estimate{Value: value, N: n, NoInterval: noInterval}
}
