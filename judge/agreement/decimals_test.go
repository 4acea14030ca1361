package agreement_test

import (
	"math"
	"testing"

	"github.com/countersign/countersign/judge/agreement"
)

// TestDecimals: no zero has a sign, and no figure looks like the limit that it misses.
func TestDecimals(t *testing.T) {
	for v, want := range map[float64]string{-0.001: "0.00", math.Copysign(0, -1): "0.00", -0.006: "-0.01", 0.285: "0.28", 1: "1.00"} {
		if got := agreement.Decimals(v, 2); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
	for _, c := range []struct {
		v, limit float64
		want     string
	}{{0.5996, 0.6, "0.5996"}, {0.598, 0.6, "0.598"}, {0.6, 0.6, "0.60"}, {0.6 - 1e-12, 0.6, "0.60"}, {0.4, 0.6, "0.40"}, {0.6 - 1e-8, 0.6, "0.600000"}} {
		if got := agreement.DecimalsBeside(c.v, c.limit, 2); got != c.want {
			t.Errorf("%v beside %v is %q, want %q", c.v, c.limit, got, c.want)
		}
	}
}
