package agreement_test

import (
	"math"
	"testing"

	"github.com/countersign/countersign/judge/agreement"
)

func TestHolm(t *testing.T) {
	for _, tt := range []struct {
		name    string
		p, want []float64
	}{
		{"none", nil, nil},
		{"one stays as it is", []float64{0.03}, []float64{0.03}},
		// R: p.adjust(c(.01, .04, .03, .005), "holm")
		{"as R has it", []float64{0.01, 0.04, 0.03, 0.005}, []float64{0.03, 0.06, 0.06, 0.02}},
		{"never above 1", []float64{0.7, 0.9}, []float64{1, 1}},
		{"ties", []float64{0.02, 0.02}, []float64{0.04, 0.04}},
	} {
		got, err := agreement.Holm(tt.p)
		if err != nil || len(got) != len(tt.want) {
			t.Fatalf("%s: %v, error %v", tt.name, got, err)
		}
		for i := range got {
			if math.Abs(got[i]-tt.want[i]) > 1e-12 {
				t.Errorf("%s: value %d is %v, want %v", tt.name, i, got[i], tt.want[i])
			}
		}
	}
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		if _, err := agreement.Holm([]float64{0.5, bad}); err == nil {
			t.Errorf("%v passed for a probability", bad)
		}
	}
}
