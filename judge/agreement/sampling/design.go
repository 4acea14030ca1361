package sampling

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/countersign/countersign/judge/agreement"
)

// MethodLinearLogit and MethodLinearFisherZ name intervals of weighted figures:
// linearised within strata, made on the logit scale for shares and on that of
// atanh for kappa, so that they stay inside their range.
const (
	MethodLinearLogit   = "linearised_logit"
	MethodLinearFisherZ = "linearised_fisher_z"
)

// Cell counts labels that are the same in all that figures look at: both labels
// (indices into the scale), the stratum they were drawn in and the probability of
// being drawn, in (0,1].
type Cell struct {
	Human, Judge int
	Stratum      int // any number
	Probability  float64
	N            int
}

// Design is a weighted table that knows how its labels were drawn, so that its
// figures have standard errors. It costs what its cells do, however many labels
// they count.
//
// A figure is a smooth function of the weighted counts. Its variance is that of
// the labels' first-order effects on it, weight times derivative, within each
// stratum (Woodruff 1971; Binder 1983): what a bootstrap within strata comes to,
// without draws and without a seed. A stratum with a single label, which has no
// spread of its own, is taken together with the one of the nearest chance (collapsed
// strata, Cochran 1977, 5A.12): that gives rather too much variance than too little.
type Design struct {
	Table
	drawn []Cell
}

// WeighCells counts cells by one over their inclusion probability. The error names
// the first cell that does not fit; a probability of 0 means that the population
// cannot be described, only bounded.
func WeighCells(scale []string, drawn []Cell) (Design, error) {
	q := len(scale)
	d := Design{Table: Table{labels: append([]string(nil), scale...), cells: make([][]float64, q)}}
	for k := range d.cells {
		d.cells[k] = make([]float64, q)
	}
	for i, c := range drawn {
		switch {
		case c.Human < 0 || c.Human >= q || c.Judge < 0 || c.Judge >= q:
			return Design{}, fmt.Errorf("weighted cell %d: %d and %d are not both on a scale of %d labels", i+1, c.Human, c.Judge, q)
		case c.N < 0:
			return Design{}, fmt.Errorf("weighted cell %d: %d labels are less than nothing", i+1, c.N)
		case !(c.Probability > 0 && c.Probability <= 1):
			return Design{}, fmt.Errorf("cell %d was drawn with probability %v: it must be above 0 and at most 1", i+1, c.Probability)
		case c.N == 0:
			continue
		}
		n, w := float64(c.N), 1/c.Probability
		d.cells[c.Human][c.Judge] += n * w
		d.sum += n * w
		d.square += n * w * w
		d.n += c.N
		d.drawn = append(d.drawn, c)
	}
	return d, nil
}

// Cells are the sums of weights, rows people, columns the judge.
func (d Design) Cells() [][]float64 {
	out := make([][]float64, len(d.cells))
	for i, row := range d.cells {
		out[i] = slices.Clone(row)
	}
	return out
}

// Agreement is the weighted share of equal labels (Hájek's ratio).
func (d Design) Agreement(level float64) agreement.Estimate {
	if d.n == 0 {
		return undefined(0, "no item was labelled by both")
	}
	return d.Share(func(i, j int) bool { return i == j }, func(i, j int) bool { return true }, "", level)
}

// Share is the weighted share of the labels in part among those in whole, Hájek's
// ratio with a logit interval; both are asked with the indices of people's label
// and the judge's. none is the reason where the whole is empty. N counts the labels
// in whole.
func (d Design) Share(part, whole func(human, judge int) bool, none string, level float64) agreement.Estimate {
	var over, under float64
	n := 0
	for _, c := range d.drawn {
		if !whole(c.Human, c.Judge) {
			continue
		}
		w := float64(c.N) / c.Probability
		under += w
		n += c.N
		if part(c.Human, c.Judge) {
			over += w
		}
	}
	if under == 0 {
		return undefined(0, none)
	}
	e := agreement.Estimate{Value: over / under, N: n}
	se, why := d.spread(func(c Cell) float64 {
		effect := 0.0
		if whole(c.Human, c.Judge) {
			effect = -e.Value
			if part(c.Human, c.Judge) {
				effect++
			}
		}
		return effect / under
	})
	switch {
	case !(level > 0 && level < 1):
		e.NoInterval = fmt.Sprintf("confidence level %v is not between 0 and 1", level)
	case e.Value <= 0 || e.Value >= 1:
		e.NoInterval = "all labels say the same, which gives no standard error"
	case why != "":
		e.NoInterval = why
	default:
		mid, half := math.Log(e.Value/(1-e.Value)), z(level)*se/(e.Value*(1-e.Value))
		e.SE, e.Low, e.High, e.Method = se, logistic(mid-half), logistic(mid+half), MethodLinearLogit
	}
	return e
}

// Kappa is Cohen's kappa of the weighted table, with an interval by atanh. It is
// undefined where Table.Kappa is; w weighs by closeness of labels.
func (d Design) Kappa(w agreement.Weights, level float64) agreement.Estimate {
	e := d.Table.Kappa(w)
	if !e.Defined() {
		return e
	}
	q := len(d.labels)
	rows, cols := make([]float64, q), make([]float64, q)
	po := 0.0
	for i, row := range d.cells {
		for j, c := range row {
			rows[i] += c / d.sum
			cols[j] += c / d.sum
			po += w[i][j] * c / d.sum
		}
	}
	byRow, byCol := make([]float64, q), make([]float64, q) // mean weight of a label against the other side
	pe := 0.0
	for i := range q {
		for j := range q {
			byRow[i] += w[i][j] * cols[j]
			byCol[j] += w[i][j] * rows[i]
			pe += w[i][j] * rows[i] * cols[j]
		}
	}
	se, why := d.spread(func(c Cell) float64 {
		observed := (w[c.Human][c.Judge] - po) / d.sum
		expected := (byRow[c.Human] + byCol[c.Judge] - 2*pe) / d.sum
		return observed/(1-pe) - (1-po)/((1-pe)*(1-pe))*expected
	})
	e.NoInterval = ""
	switch {
	case !(level > 0 && level < 1):
		e.NoInterval = fmt.Sprintf("confidence level %v is not between 0 and 1", level)
	case math.Abs(e.Value) >= 1:
		e.NoInterval = "people and the judge never differ, which gives no standard error"
	case why != "":
		e.NoInterval = why
	default:
		mid, half := math.Atanh(e.Value), z(level)*se/(1-e.Value*e.Value)
		e.SE, e.Low, e.High, e.Method = se, math.Tanh(mid-half), math.Tanh(mid+half), MethodLinearFisherZ
	}
	return e
}

// spread is the standard error of a figure on which one label of a cell has the
// given effect per unit of weight.
func (d Design) spread(effect func(Cell) float64) (se float64, why string) {
	type stratum struct {
		n           int
		sum, square float64
		chance      float64
	}
	all := map[int]*stratum{}
	var order []int // sums in one order are the same to the last bit every time
	for _, c := range d.drawn {
		s := all[c.Stratum]
		if s == nil {
			s = &stratum{chance: c.Probability}
			all[c.Stratum] = s
			order = append(order, c.Stratum)
		}
		u := effect(c) / c.Probability
		s.n += c.N
		s.sum += float64(c.N) * u
		s.square += float64(c.N) * u * u
	}
	slices.SortFunc(order, cmp.Compare[int])
	for _, k := range order {
		single := all[k]
		if single.n != 1 || len(order) == 1 {
			continue
		}
		var near *stratum
		apart := math.Inf(1)
		for _, j := range order {
			if d := math.Abs(math.Log(all[j].chance / single.chance)); all[j] != single && all[j].n > 0 && d < apart {
				near, apart = all[j], d
			}
		}
		if near == nil {
			continue
		}
		near.n, near.sum, near.square = near.n+1, near.sum+single.sum, near.square+single.square
		*single = stratum{}
	}
	variance := 0.0
	for _, k := range order {
		s := all[k]
		if s.n == 0 { // is part of another
			continue
		}
		n := float64(s.n)
		within := s.square - s.sum*s.sum/n
		if s.n == 1 {
			if s.square > 0 {
				return 0, "a single label gives no standard error"
			}
			continue
		}
		variance += n / (n - 1) * max(0, within)
	}
	if !(variance > 0) {
		return 0, "the labels leave no spread to make an interval from"
	}
	return math.Sqrt(variance), ""
}
