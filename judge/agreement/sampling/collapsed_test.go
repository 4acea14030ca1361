package sampling

import (
	"math/rand/v2"
	"testing"
)

// TestSingleLabelsAreTakenWithTheNearestStratum: one label that was drawn with a chance of
// its own takes no interval away, and the interval holds the truth.
func TestSingleLabelsAreTakenWithTheNearestStratum(t *testing.T) {
	scale := []string{"good", "bad"}
	whole := func(int, int) bool { return true }
	bad := func(h, _ int) bool { return h == 1 }
	r := rand.New(rand.NewPCG(7, 17))
	const runs, share = 1500, .3
	held := 0
	for range runs {
		var cells []Cell
		add := func(stratum int, p float64, n int) {
			for range n {
				h := 0
				if r.Float64() < share {
					h = 1
				}
				cells = append(cells, Cell{Human: h, Stratum: stratum, Probability: p, N: 1})
			}
		}
		add(0, .25, 60)
		add(1, .1, 1)
		add(2, 1, 30)
		d, err := WeighCells(scale, cells)
		if err != nil {
			t.Fatal(err)
		}
		e := d.Share(bad, whole, "", .95)
		if !e.HasInterval() {
			t.Fatalf("no interval: %s", e.NoInterval)
		}
		if e.Low <= share && share <= e.High {
			held++
		}
	}
	if got := float64(held) / runs; got < .93 || got > .98 {
		t.Errorf("the interval holds the truth in %.3f", got)
	}
	for _, c := range []struct {
		name  string
		cells []Cell
		has   bool
	}{
		{"two that are alone", []Cell{{Human: 0, Stratum: 0, Probability: .2, N: 1}, {Human: 1, Stratum: 1, Probability: .3, N: 1}}, true},
		{"nothing but one", []Cell{{Human: 1, Stratum: 0, Probability: .2, N: 1}}, false},
	} {
		d, err := WeighCells(scale, c.cells)
		if err != nil {
			t.Fatal(err)
		}
		if e := d.Share(bad, whole, "", .95); e.HasInterval() != c.has {
			t.Errorf("%s: %+v", c.name, e)
		}
	}
}
