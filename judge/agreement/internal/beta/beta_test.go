package beta_test

import (
	"math"
	"testing"
	"time"

	"github.com/countersign/countersign/judge/agreement/internal/beta"
)

// Beta(a,1) has the distribution function x^a and Beta(1,b) has 1-(1-x)^b.
func TestClosedForms(t *testing.T) {
	for _, a := range []float64{0.5, 1, 3, 40, 1e3, 1e5, 1e6} {
		for _, p := range []float64{1e-12, 1e-6, 0.001, 0.025, 0.5, 0.975} {
			if got, want := beta.Quantile(p, a, 1), math.Exp(math.Log(p)/a); math.Abs(got-want) > 1e-12*want {
				t.Errorf("Quantile(%v, %v, 1) = %v, want %v", p, a, got, want)
			}
			if got, want := beta.Quantile(p, 1, a), -math.Expm1(math.Log1p(-p)/a); math.Abs(got-want) > 1e-9*want {
				t.Errorf("Quantile(%v, 1, %v) = %v, want %v", p, a, got, want)
			}
		}
	}
}

func TestQuantileInverts(t *testing.T) {
	for _, a := range []float64{0.5, 2, 30, 5e5} {
		for _, b := range []float64{0.5, 7, 1e3, 5e5} {
			for _, p := range []float64{1e-9, 0.025, 0.5, 0.9, 0.999} {
				x := beta.Quantile(p, a, b)
				if x > 1-1e-12 {
					continue // no number between here and 1 tells the tail apart
				}
				if got := beta.Incomplete(x, a, b); math.Abs(got-p) > 1e-6*p {
					t.Errorf("Incomplete(Quantile(%v, %v, %v)) = %v", p, a, b, got)
				}
				if sum := beta.Incomplete(x, a, b) + beta.Incomplete(1-x, b, a); math.Abs(sum-1) > 1e-6 {
					t.Errorf("both tails of Beta(%v, %v) at %v sum to %v", a, b, x, sum)
				}
			}
		}
	}
}

// Values of an F table (0.95 quantiles).
func TestFQuantile(t *testing.T) {
	for _, tt := range []struct{ d1, d2, want float64 }{
		{1, 1, 161.4476}, {1, 10, 4.9646}, {5, 2, 19.2964}, {5, 10, 3.3258}, {10, 30, 2.1646}, {3, 120, 2.6802},
	} {
		if got := beta.FQuantile(0.95, tt.d1, tt.d2); math.Abs(got-tt.want) > 6e-5*max(1, tt.want/100) {
			t.Errorf("F(%v, %v) = %v, want %v", tt.d1, tt.d2, got, tt.want)
		}
	}
	if got := beta.FQuantile(1, 2, 3); !math.IsInf(got, 1) {
		t.Errorf("the last quantile is %v", got)
	}
}

// TestQuantileOfNothing: what is no number is answered at once.
func TestQuantileOfNothing(t *testing.T) {
	start := time.Now()
	for _, q := range []float64{beta.Quantile(math.NaN(), 1, 2), beta.Quantile(0.5, math.NaN(), 2), beta.FQuantile(0.975, 3, math.NaN())} {
		if !math.IsNaN(q) {
			t.Errorf("a quantile of nothing is %v", q)
		}
	}
	if took := time.Since(start); took > time.Second {
		t.Errorf("it took %v", took)
	}
}
