package forecast

import (
	"fmt"
	"math"
	"sort"
)

// Isotonic is a rising step-and-slope function from scores to outcomes.
type Isotonic struct {
	x, y []float64 // knots, x rising, y not falling
}

// FitIsotonic is least squares under the order of x, by pooling adjacent violators
// (Ayer et al. 1955); outcomes at one x are averaged first. For recalibration with
// about a thousand labels or more (Zadrozny & Elkan 2002). Never judge the fit by
// the labels it was made from. The error says what does not fit.
func FitIsotonic(x, y []float64) (Isotonic, error) {
	if len(x) != len(y) || len(x) == 0 {
		return Isotonic{}, fmt.Errorf("isotonic fit: %d scores and %d outcomes do not make pairs", len(x), len(y))
	}
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
		if math.IsNaN(x[i]+y[i]) || math.IsInf(x[i]+y[i], 0) {
			return Isotonic{}, fmt.Errorf("isotonic fit: pair %d holds %v and %v, which are not both numbers", i+1, x[i], y[i])
		}
	}
	sort.Slice(order, func(a, b int) bool { return x[order[a]] < x[order[b]] })
	var f Isotonic
	type block struct {
		sum, n float64
		knots  int
	}
	var blocks []block
	for from := 0; from < len(order); {
		to, sum := from, 0.0
		for to < len(order) && x[order[to]] == x[order[from]] {
			sum += y[order[to]]
			to++
		}
		f.x = append(f.x, x[order[from]])
		blocks = append(blocks, block{sum, float64(to - from), 1})
		from = to
		for len(blocks) > 1 {
			a, b := blocks[len(blocks)-2], blocks[len(blocks)-1]
			if a.sum/a.n <= b.sum/b.n {
				break
			}
			blocks = append(blocks[:len(blocks)-2], block{a.sum + b.sum, a.n + b.n, a.knots + b.knots})
		}
	}
	for _, b := range blocks {
		for range b.knots {
			f.y = append(f.y, b.sum/b.n)
		}
	}
	return f, nil
}

// At is the fitted outcome at x: the knot's own, a straight line between two
// knots, and the end's beyond the ends.
func (f Isotonic) At(x float64) float64 {
	i := sort.SearchFloat64s(f.x, x)
	switch {
	case i == len(f.x):
		return f.y[i-1]
	case f.x[i] == x || i == 0:
		return f.y[i]
	}
	t := (x - f.x[i-1]) / (f.x[i] - f.x[i-1])
	return f.y[i-1] + t*(f.y[i]-f.y[i-1])
}

// Platt is the sigmoid 1/(1+exp(A s + B)).
type Platt struct{ A, B float64 }

// At is the recalibrated probability of score s.
func (f Platt) At(s float64) float64 { return 1 / (1 + math.Exp(f.A*s+f.B)) }

// FitPlatt is Platt's scaling (1999) with his smoothed targets, (n1+1)/(n1+2) and
// 1/(n0+2), by the Newton method with backtracking of Lin, Lin & Weng (2007), to
// convergence. For fewer than about a thousand labels. The error says what does not
// fit, or that one class is missing.
func FitPlatt(happened []bool, score []float64) (Platt, error) {
	if len(happened) != len(score) {
		return Platt{}, fmt.Errorf("scaling after Platt: %d outcomes and %d scores do not make pairs", len(happened), len(score))
	}
	n0, n1 := 0.0, 0.0
	low, high := math.Inf(1), math.Inf(-1)
	for i, h := range happened {
		if math.IsNaN(score[i]) || math.IsInf(score[i], 0) {
			return Platt{}, fmt.Errorf("scaling after Platt: score %d is %v, which is not a number", i+1, score[i])
		}
		low, high = min(low, score[i]), max(high, score[i])
		if h {
			n1++
		} else {
			n0++
		}
	}
	switch {
	case n0 == 0 || n1 == 0:
		return Platt{}, fmt.Errorf("scaling after Platt: only one class is there (%g and %g labels)", n0, n1)
	case low == high:
		return Platt{}, fmt.Errorf("scaling after Platt: every score is %v", low)
	}
	hit, miss := (n1+1)/(n1+2), 1/(n0+2)
	target := func(i int) float64 {
		if happened[i] {
			return hit
		}
		return miss
	}
	loss := func(a, b float64) float64 {
		sum := 0.0
		for i, s := range score {
			f, t := a*s+b, target(i)
			if f >= 0 {
				sum += t*f + math.Log1p(math.Exp(-f))
			} else {
				sum += (t-1)*f + math.Log1p(math.Exp(f))
			}
		}
		return sum
	}
	a, b := 0.0, math.Log((n0+1)/(n1+1))
	now := loss(a, b)
	for range 200 {
		var haa, hab, hbb, ga, gb float64
		for i, s := range score {
			p := Platt{a, b}.At(s)
			w, d := p*(1-p), target(i)-p
			haa += s * s * w
			hab += s * w
			hbb += w
			ga += s * d
			gb += d
		}
		haa, hbb = haa+1e-15, hbb+1e-15
		det := haa*hbb - hab*hab
		if !(math.Abs(det) > 0) || math.Max(math.Abs(ga), math.Abs(gb)) < 1e-13*float64(len(score)) {
			break
		}
		da, db := -(hbb*ga-hab*gb)/det, -(haa*gb-hab*ga)/det
		slope := ga*da + gb*db
		step := 1.0
		for ; step > 1e-12; step /= 2 {
			if next := loss(a+step*da, b+step*db); next < now+1e-4*step*slope {
				now = next
				break
			}
		}
		if step <= 1e-12 {
			// The loss is flat to the last digit: one full step settles the rest.
			if math.Abs(da)+math.Abs(db) < 1e-6 {
				a, b = a+da, b+db
			}
			break
		}
		a, b = a+step*da, b+step*db
	}
	return Platt{A: a, B: b}, nil
}
