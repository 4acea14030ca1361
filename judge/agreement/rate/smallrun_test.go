package rate_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/countersign/countersign/judge/agreement/rate"
)

// TestSmallRunsAreCovered: labels of other work correct a run of few items. The interval
// holds the rate of the work that the run comes from as often as it says, and also where
// the judge passed every item, of which the plain variance of its share is 0.
func TestSmallRunsAreCovered(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 50))
	const samples = 4000
	const right, missed = .975, .3 // of what it passes and of what it fails, what people pass
	count := func(n int, p float64) (k int) {
		for range n {
			if r.Float64() < p {
				k++
			}
		}
		return k
	}
	for _, n := range []int{20, 50} {
		for _, share := range []float64{.85, .95} {
			truth := share*right + (1-share)*missed
			held, all, allHeld := 0, 0, 0
			for range samples {
				passed := count(n, share)
				e := rate.PostStratified(passed, n, rate.Labelled{True: count(200, right), All: 200}, rate.Labelled{True: count(80, missed), All: 80}, .95)
				holds := 0
				if e.HasInterval() && e.Low <= truth && truth <= e.High {
					holds = 1
				}
				held += holds
				if passed == n {
					all, allHeld = all+1, allHeld+holds
				}
			}
			name := fmt.Sprintf("%d items, of which the judge passes %.2f", n, share)
			t.Logf("%s: %.3f, all passed: %d of %d", name, float64(held)/samples, allHeld, all)
			if got := float64(held) / samples; got < .93 {
				t.Errorf("%s: the interval holds the rate in %.3f", name, got)
			}
			if all > 100 && allHeld < all*9/10 {
				t.Errorf("%s: where all pass it holds in %d of %d", name, allHeld, all)
			}
		}
	}
	one := rate.PostStratified(20, 20, rate.Labelled{True: 195, All: 200}, rate.Labelled{}, .95)
	if !one.HasInterval() || one.Low > .85 {
		t.Errorf("20 items that all pass: %+v", one)
	}
}
