package agreement_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/countersign/countersign/judge/agreement"
)

// draws are random matrices over scales of 2 to 6 labels, the same ones in
// every run. Each cell may be empty; both raters use at least two labels.
func draws(t *testing.T, check func(t *testing.T, r *rand.Rand, counts [][]int)) {
	t.Helper()
	r := rand.New(rand.NewPCG(20, 26))
	for i := range 200 {
		q := 2 + r.IntN(5)
		counts := make([][]int, q)
		for i := range counts {
			counts[i] = make([]int, q)
			for j := range counts[i] {
				counts[i][j] = r.IntN(12)
			}
			counts[i][i] += 1 + r.IntN(30)
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) { check(t, r, counts) })
		if t.Failed() {
			return
		}
	}
}

func matrix(t testing.TB, counts [][]int) agreement.Confusion {
	t.Helper()
	m, err := agreement.NewConfusion(numbered(len(counts)), counts)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// coefficients are all two-rater coefficients of a matrix, by name.
func coefficients(m agreement.Confusion, w agreement.Weights) map[string]agreement.Estimate {
	return map[string]agreement.Estimate{
		"kappa":            agreement.CohenKappa(m, w, 0.95).Estimate,
		"scott pi":         agreement.ScottPi(m, w, 0.95).Estimate,
		"gwet ac":          agreement.GwetAC(m, w, 0.95).Estimate,
		"brennan-prediger": agreement.BrennanPrediger(m, w, 0.95).Estimate,
		"agreement":        agreement.Agreement(m, 0.95),
	}
}

// same compares value, SE and interval.
func same(t *testing.T, what string, a, b agreement.Estimate) {
	t.Helper()
	if a.Undefined != b.Undefined || a.NoInterval != b.NoInterval {
		t.Errorf("%s: %q %q against %q %q", what, a.Undefined, a.NoInterval, b.Undefined, b.NoInterval)
	}
	for _, p := range [][2]float64{{a.Value, b.Value}, {a.SE, b.SE}, {a.Low, b.Low}, {a.High, b.High}} {
		if !(math.Abs(p[0]-p[1]) < 1e-10) {
			t.Errorf("%s: %+v against %+v", what, a, b)
			return
		}
	}
}

func TestRatersAreExchangeable(t *testing.T) {
	draws(t, func(t *testing.T, _ *rand.Rand, counts [][]int) {
		m := matrix(t, counts)
		for _, w := range []agreement.Weights{agreement.Identity(len(counts)), agreement.Linear(len(counts)), agreement.Quadratic(len(counts))} {
			swapped := coefficients(m.Transpose(), w)
			for name, e := range coefficients(m, w) {
				same(t, name, e, swapped[name])
			}
		}
	})
}

func TestNominalLabelsHaveNoOrder(t *testing.T) {
	draws(t, func(t *testing.T, r *rand.Rand, counts [][]int) {
		q := len(counts)
		perm := r.Perm(q)
		shuffled := make([][]int, q)
		for i := range shuffled {
			shuffled[i] = make([]int, q)
			for j := range shuffled[i] {
				shuffled[i][j] = counts[perm[i]][perm[j]]
			}
		}
		w := agreement.Identity(q)
		after := coefficients(matrix(t, shuffled), w)
		for name, e := range coefficients(matrix(t, counts), w) {
			same(t, name, e, after[name])
		}
	})
}

func TestReversedOrderChangesNoWeightedKappa(t *testing.T) {
	draws(t, func(t *testing.T, _ *rand.Rand, counts [][]int) {
		q := len(counts)
		back := make([][]int, q)
		for i := range back {
			back[i] = make([]int, q)
			for j := range back[i] {
				back[i][j] = counts[q-1-i][q-1-j]
			}
		}
		for _, w := range []agreement.Weights{agreement.Linear(q), agreement.Quadratic(q), agreement.Ordinal(q)} {
			same(t, "kappa", agreement.CohenKappa(matrix(t, counts), w, 0.95).Estimate, agreement.CohenKappa(matrix(t, back), w, 0.95).Estimate)
		}
	})
}

// An unused label leaves kappa and pi alone and changes S and the weights: that
// is why the scale must be declared.
func TestUnusedLabel(t *testing.T) {
	draws(t, func(t *testing.T, _ *rand.Rand, counts [][]int) {
		q := len(counts)
		wider := make([][]int, q+1)
		for i := range counts {
			wider[i] = append(append([]int{}, counts[i]...), 0)
		}
		wider[q] = make([]int, q+1)
		m, more := matrix(t, counts), matrix(t, wider)
		same(t, "kappa", agreement.CohenKappa(m, agreement.Identity(q), 0.95).Estimate, agreement.CohenKappa(more, agreement.Identity(q+1), 0.95).Estimate)
		same(t, "scott pi", agreement.ScottPi(m, agreement.Identity(q), 0.95).Estimate, agreement.ScottPi(more, agreement.Identity(q+1), 0.95).Estimate)
		s, sMore := agreement.BrennanPrediger(m, agreement.Identity(q), 0.95), agreement.BrennanPrediger(more, agreement.Identity(q+1), 0.95)
		if !(sMore.Value > s.Value) {
			t.Errorf("S %v with %d labels, %v with one more: chance should fall", s.Value, q, sMore.Value)
		}
	})
	// With three labels in use, one more between them changes their distances.
	three := matrix(t, [][]int{{8, 2, 1}, {2, 7, 3}, {1, 1, 6}})
	gap := matrix(t, [][]int{{8, 2, 0, 1}, {2, 7, 0, 3}, {0, 0, 0, 0}, {1, 1, 0, 6}})
	a, b := agreement.CohenKappa(three, agreement.Linear(3), 0.95).Value, agreement.CohenKappa(gap, agreement.Linear(4), 0.95).Value
	if math.Abs(a-b) < 0.005 {
		t.Errorf("weighted kappa %v and %v: the declared scale was not used", a, b)
	}
}

func TestTwoLabelsHaveNoWeights(t *testing.T) {
	draws(t, func(t *testing.T, _ *rand.Rand, counts [][]int) {
		m := matrix(t, counts).OneVersusRest(0)
		plain := coefficients(m, agreement.Identity(2))
		for _, w := range []agreement.Weights{agreement.Linear(2), agreement.Quadratic(2), agreement.Ordinal(2)} {
			for name, e := range coefficients(m, w) {
				same(t, name, e, plain[name])
			}
		}
	})
}

func TestIntervalsNest(t *testing.T) {
	levels := []float64{0.5, 0.8, 0.9, 0.95, 0.99, 0.999}
	draws(t, func(t *testing.T, _ *rand.Rand, counts [][]int) {
		m, w := matrix(t, counts), agreement.Identity(len(counts))
		for name, f := range map[string]func(level float64) agreement.Estimate{
			"agreement": func(l float64) agreement.Estimate { return agreement.Agreement(m, l) },
			"kappa":     func(l float64) agreement.Estimate { return agreement.CohenKappa(m, w, l).Estimate },
			"gwet ac":   func(l float64) agreement.Estimate { return agreement.GwetAC(m, w, l).Estimate },
		} {
			inner := f(levels[0])
			if !inner.HasInterval() {
				continue
			}
			if !(inner.Low < inner.Value && inner.Value < inner.High) {
				t.Errorf("%s %+v lies outside its interval", name, inner)
			}
			for _, l := range levels[1:] {
				outer := f(l)
				if !(outer.Low <= inner.Low && inner.High <= outer.High) {
					t.Errorf("%s: the interval at %v does not hold that below it: %+v, %+v", name, l, outer, inner)
				}
				inner = outer
			}
		}
	})
}

// Two raters without gaps are the smallest case of many raters: the values of
// the two formulas must meet, their standard errors differ by n against n-1.
func TestTwoRatersAreManyRaters(t *testing.T) {
	draws(t, func(t *testing.T, _ *rand.Rand, counts [][]int) {
		q := len(counts)
		var rows [][]int
		for i := range counts {
			for j, c := range counts[i] {
				for range c {
					row := make([]int, q)
					row[i]++
					row[j]++
					rows = append(rows, row)
				}
			}
		}
		it, err := agreement.NewItems(numbered(q), rows)
		if err != nil {
			t.Fatal(err)
		}
		m := matrix(t, counts)
		for _, w := range []agreement.Weights{agreement.Identity(q), agreement.Quadratic(q)} {
			for name, pair := range map[string][2]agreement.Coefficient{
				"scott pi":         {agreement.ScottPi(m, w, 0.95), agreement.MultiScottPi(it, w, 0.95)},
				"gwet ac":          {agreement.GwetAC(m, w, 0.95), agreement.MultiGwetAC(it, w, 0.95)},
				"brennan-prediger": {agreement.BrennanPrediger(m, w, 0.95), agreement.MultiBrennanPrediger(it, w, 0.95)},
			} {
				two, many := pair[0], pair[1]
				if math.Abs(two.Value-many.Value) > 1e-10 {
					t.Errorf("%s: %v by two, %v by many", name, two.Value, many.Value)
				}
				n := float64(two.N)
				if scaled := two.SE * math.Sqrt(n/(n-1)); math.Abs(scaled-many.SE) > 1e-10 {
					t.Errorf("%s: SE %v by two, %v by many", name, scaled, many.SE)
				}
			}
		}
	})
}

// Kappa never passes its ceiling, and reaches it when the matrix is as diagonal
// as its totals allow.
func TestKappaStaysUnderItsCeiling(t *testing.T) {
	draws(t, func(t *testing.T, _ *rand.Rand, counts [][]int) {
		m := matrix(t, counts)
		k, top := agreement.CohenKappa(m, agreement.Identity(len(counts)), 0.95), agreement.KappaMax(m)
		if k.Value > top.Kappa+1e-12 || top.Kappa > 1+1e-12 {
			t.Errorf("kappa %v over its ceiling %v", k.Value, top.Kappa)
		}
	})
}
