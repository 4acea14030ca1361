package agreement

import (
	"math"
	"strconv"
)

// Decimals writes a figure with so many decimals, and what rounds to nothing without a
// sign: -0.001 is 0.00, which is no negative number.
func Decimals(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if back, err := strconv.ParseFloat(text, 64); err == nil && back == 0 {
		return strconv.FormatFloat(0, 'f', digits, 64)
	}
	return text
}

// DecimalsBeside writes a figure that is held against a limit: with more decimals, to 6,
// where rounding would make the two look alike.
func DecimalsBeside(v, limit float64, digits int) string {
	for ; digits < 6 && math.Abs(v-limit) > 1e-9; digits++ {
		if Decimals(v, digits) != Decimals(limit, digits) {
			break
		}
	}
	return Decimals(v, digits)
}
