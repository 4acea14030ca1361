package rate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/countersign/countersign/judge/agreement/rate"
)

// TestDrawnAlikeIsPostStratified: labels of one probability give the figures of counts,
// whatever that probability is.
func TestDrawnAlikeIsPostStratified(t *testing.T) {
	for _, p := range []float64{1, 0.3} {
		var positive, negative rate.Drawn
		positive.Add(true, p, 40)
		positive.Add(false, p, 10)
		negative.Add(true, p, 6)
		negative.Add(false, p, 54)
		got := rate.PostStratifiedDrawn(300, 1000, positive, negative, 0.95)
		want := rate.PostStratified(300, 1000, rate.Labelled{True: 40, All: 50}, rate.Labelled{True: 6, All: 60}, 0.95)
		for _, d := range []float64{got.Value - want.Value, got.SE - want.SE, got.Low - want.Low, got.High - want.High} {
			if math.Abs(d) > 1e-12 {
				t.Errorf("probability %v: got %+v, want %+v", p, got, want)
			}
		}
		if n := positive.EffectiveN(); math.Abs(n-50) > 1e-9 || positive.N() != 50 || positive.TrueN() != 40 {
			t.Errorf("probability %v: effective n %v of %d, %d true", p, n, positive.N(), positive.TrueN())
		}
	}
	if got := rate.PostStratifiedDrawn(3, 10, rate.Drawn{}, rate.Drawn{}, 0.95); got.Defined() {
		t.Errorf("without labels it is %v", got.Value)
	}
}

// TestDrawnUnequallyIsUnbiased: people see all that is flagged and a tenth of the rest,
// and within the passed ones bad work is drawn more often. The weighted estimate holds
// the true rate as often as it says; the naive share is far off (seeded).
func TestDrawnUnequallyIsUnbiased(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	const samples, n = 600, 1500
	held, naive, weighted, truth := 0, 0.0, 0.0, 0.0
	for range samples {
		var drawn [2]rate.Drawn
		passed, good, seen, seenGood := 0, 0, 0, 0
		for range n {
			isGood := r.Float64() < 0.8
			flag := r.Float64() < 0.1
			if !isGood {
				flag = r.Float64() < 0.7
			}
			p := 0.1
			if flag || r.Float64() < 0.1 { // low confidence: seen more often
				p = 0.5
			}
			v := 1
			if flag {
				v = 0
			}
			passed += v
			if isGood {
				good++
			}
			if r.Float64() < p {
				drawn[v].Add(isGood, p, 1)
				seen++
				if isGood {
					seenGood++
				}
			}
		}
		e := rate.PostStratifiedDrawn(passed, n, drawn[1], drawn[0], 0.95)
		if e.Low <= 0.8 && 0.8 <= e.High {
			held++
		}
		naive += float64(seenGood) / float64(seen) / samples
		weighted += e.Value / samples
		truth += float64(good) / n / samples
	}
	if math.Abs(weighted-truth) > 0.01 || truth-naive < 0.15 {
		t.Errorf("weighted %.3f, naive %.3f, truth %.3f", weighted, naive, truth)
	}
	if got := float64(held) / samples; got < 0.92 || got > 0.98 {
		t.Errorf("the interval holds the truth in %.3f", got)
	}
}
