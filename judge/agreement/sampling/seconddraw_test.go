package sampling

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Where all had one chance, both weights are those of the single-frame estimator.
func TestSecondDrawIsTheSingleFrameEstimatorForEqualChances(t *testing.T) {
	for _, c := range []struct {
		p       float64
		size, n int
	}{{0.05, 950, 50}, {0.2, 800, 300}, {0.01, 99000, 2000}, {0.3, 70, 70}} {
		d, err := PlanSecondDraw([]Class{{c.size, c.p}}, c.n)
		if err != nil {
			t.Fatal(err)
		}
		q := float64(c.n) / float64(c.size)
		want := 1 - (1-c.p)*(1-q)
		if got := d.Known.Chance; math.Abs(got-want) > 1e-10 {
			t.Errorf("p %v, q %v: a new label counts by %v, want %v", c.p, q, got, want)
		}
		if got := LaterChance(c.p, d.Earlier); math.Abs(got-want) > 1e-10 {
			t.Errorf("p %v, q %v: an earlier label counts by %v, want %v", c.p, q, got, want)
		}
	}
}

func TestSecondDrawEdges(t *testing.T) {
	for _, c := range []struct {
		name     string
		frame    []Class
		n        int
		known    int
		fresh    int
		earlier  float64
		knownP   float64
		newP     float64
		wantFail bool
	}{
		{name: "nothing there", n: 5},
		{name: "more than there is", frame: []Class{{10, 0}}, n: 50, fresh: 10, newP: 1},
		{name: "no chance before: they stand for the frame alone", frame: []Class{{100, 0}}, n: 20, fresh: 20, newP: 0.2},
		{name: "everything drawn: each stands for itself", frame: []Class{{95, 0.05}}, n: 95, known: 95, knownP: 1},
		{name: "a small class without a chance is not forgotten", frame: []Class{{990, 0.1}, {3, 0}}, n: 50, known: 49, fresh: 1, earlier: -1, newP: 0.333333333333},
		{name: "a chance that cannot be", frame: []Class{{10, 1}}, n: 5, wantFail: true},
		{name: "fewer than none", frame: []Class{{10, 0.5}}, n: -1, wantFail: true},
	} {
		d, err := PlanSecondDraw(c.frame, c.n)
		if (err != nil) != c.wantFail {
			t.Errorf("%s: %v", c.name, err)
		}
		if err != nil {
			continue
		}
		if d.Known.N != c.known || d.New.N != c.fresh || c.earlier >= 0 && d.Earlier != c.earlier || c.newP > 0 && math.Abs(d.New.Chance-c.newP) > 1e-9 || c.knownP > 0 && math.Abs(d.Known.Chance-c.knownP) > 1e-9 {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
	if LaterChance(0, 0.5) != 0 || LaterChance(1, 0.5) != 1 || LaterChance(0.2) != 0.2 {
		t.Error("a chance that is not known or certain changed")
	}
}

// Three audits of unequal chances, one of them 0, and two draws on top of each other:
// the weighted share has no bias, and its variance is less than that of either part.
func TestSecondDrawsStayUnbiased(t *testing.T) {
	source := rand.New(rand.NewPCG(21, 22))
	type item struct {
		audit float64
		bad   bool
	}
	var all []item
	bad := 0
	for i := range 3000 {
		audit := []float64{0.05, 0.145, 0}[i%3]
		it := item{audit, source.Float64() < []float64{0.05, 0.3, 0.5}[i%3]}
		if it.bad {
			bad++
		}
		all = append(all, it)
	}
	truth := float64(bad) / float64(len(all))
	var sum, square, naive float64
	const rounds = 400
	for range rounds {
		w := make([]float64, len(all)) // 0: not drawn
		for i, it := range all {
			if source.Float64() < it.audit {
				w[i] = 1 / it.audit
			}
		}
		before := []float64{0.05, 0.05, 0} // nobody knows of what was not drawn that it was near a boundary
		for _, n := range []int{120, 200} {
			sizes := [3]int{}
			var known, fresh []int
			for i := range all {
				if w[i] != 0 {
					continue
				}
				if sizes[i%3]++; before[i%3] > 0 {
					known = append(known, i)
				} else {
					fresh = append(fresh, i)
				}
			}
			d, err := PlanSecondDraw([]Class{{sizes[0], before[0]}, {sizes[1], before[1]}, {sizes[2], before[2]}}, n)
			if err != nil {
				t.Fatal(err)
			}
			for i := range w {
				if w[i] > 0 {
					w[i] = 1 / LaterChance(1/w[i], d.Earlier)
				}
			}
			for _, part := range []struct {
				ids []int
				Part
			}{{known, d.Known}, {fresh, d.New}} {
				source.Shuffle(len(part.ids), func(i, j int) { part.ids[i], part.ids[j] = part.ids[j], part.ids[i] })
				for _, i := range part.ids[:part.N] {
					w[i] = 1 / part.Chance
				}
			}
			q := float64(n) / float64(len(known)+len(fresh))
			for k := range before {
				before[k] = 1 - (1-before[k])*(1-q)
			}
		}
		var over, under, drawnBad, drawn float64
		for i, it := range all {
			if under += w[i]; it.bad {
				over += w[i]
			}
			if w[i] > 0 {
				if drawn++; it.bad {
					drawnBad++
				}
			}
		}
		sum += over / under
		square += (over/under - truth) * (over/under - truth)
		naive += drawnBad / drawn
	}
	sd := math.Sqrt(square / rounds)
	if bias := sum/rounds - truth; math.Abs(bias) > 4*sd/math.Sqrt(rounds) {
		t.Errorf("the share is %.4f on average, truly %.4f: off by %.1f standard errors", sum/rounds, truth, math.Abs(bias)/sd*math.Sqrt(rounds))
	}
	if off := naive/rounds - truth; math.Abs(off) < 0.005 {
		t.Errorf("without weights it would be off by %.4f only: this shows nothing", off)
	}
	if sd > 0.03 {
		t.Errorf("its spread is %.4f", sd)
	}
}
