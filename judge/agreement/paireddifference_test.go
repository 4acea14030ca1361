package agreement_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/countersign/countersign/judge/agreement"
)

// TestPairedDifference: Agresti's approval ratings (Categorical Data Analysis, table of
// 1,600 people asked twice: 150 and 86 changed) give -0.04 with an interval of -0.06 to
// -0.02; the others are worked by hand from the formula.
func TestPairedDifference(t *testing.T) {
	for _, tt := range []struct {
		name             string
		b, c, n          int
		value, low, high float64
		within           float64
	}{
		{"approval ratings", 150, 86, 1600, -0.04, -0.06, -0.02, 0.005},
		{"21 pairs: shares 8/23 and 2/23", 7, 1, 21, -6.0 / 21, -0.508359, -0.013380, 1e-6},
		{"nobody changed", 0, 0, 20, 0, -0.125991, 0.125991, 1e-6},
		{"all changed one way stays a share", 0, 1, 1, 1, -0.733536, 1, 1e-6},
	} {
		e := agreement.PairedDifference(tt.b, tt.c, tt.n, 0.95)
		if math.Abs(e.Value-tt.value) > 1e-9 || math.Abs(e.Low-tt.low) > tt.within || math.Abs(e.High-tt.high) > tt.within {
			t.Errorf("%s: got %v (%v to %v), want %v (%v to %v)", tt.name, e.Value, e.Low, e.High, tt.value, tt.low, tt.high)
		}
		back := agreement.PairedDifference(tt.c, tt.b, tt.n, 0.95)
		if back.Value != -e.Value || math.Abs(back.Low+e.High) > 1e-12 || math.Abs(back.High+e.Low) > 1e-12 {
			t.Errorf("%s: the other way round it is %v (%v to %v)", tt.name, back.Value, back.Low, back.High)
		}
	}
	for _, bad := range [][3]int{{0, 0, 0}, {-1, 0, 3}, {2, 2, 3}} {
		if e := agreement.PairedDifference(bad[0], bad[1], bad[2], 0.95); e.Defined() {
			t.Errorf("%v gives %v, want undefined", bad, e.Value)
		}
	}
}

// TestPairedDifferenceCovers: in small samples too, and for rare changes, the interval
// holds the true difference about as often as it says (seeded, 4,000 samples each).
func TestPairedDifferenceCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for _, tt := range []struct {
		n    int
		b, c float64
	}{{30, 0.15, 0.05}, {100, 0.05, 0.02}, {200, 0.2, 0.2}, {50, 0.3, 0.1}} {
		held := 0
		const samples = 4000
		for range samples {
			b, c := 0, 0
			for range tt.n {
				switch u := r.Float64(); {
				case u < tt.b:
					b++
				case u < tt.b+tt.c:
					c++
				}
			}
			e := agreement.PairedDifference(b, c, tt.n, 0.95)
			if e.Low <= tt.c-tt.b && tt.c-tt.b <= e.High {
				held++
			}
		}
		if got := float64(held) / samples; got < 0.935 || got > 0.995 {
			t.Errorf("n %d, changes %v and %v: holds in %.3f", tt.n, tt.b, tt.c, got)
		}
	}
}
