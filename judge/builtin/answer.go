package builtin

import "math"

// sameNumber compares answers: equal but for rounding in the last places of a
// double.
func sameNumber(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}
