package agreement

import (
	"fmt"
	"math"
)

// Items holds what any number of raters said about each item, as counts: how
// many raters gave item i label k. Raters may differ from item to item, and an
// item may have one label or none. The zero value has no items. An Items never
// changes.
type Items struct {
	labels []string
	counts [][]int
	given  []int // labels given to each item
}

// NewItems takes counts of items (rows) by the labels of the declared scale
// (columns). The error names the first row or cell that does not fit.
func NewItems(labels []string, counts [][]int) (Items, error) {
	it := Items{labels: append([]string(nil), labels...)}
	for i, row := range counts {
		if len(row) != len(labels) {
			return Items{}, fmt.Errorf("item %d has %d counts for %d labels", i+1, len(row), len(labels))
		}
		given := 0
		for k, c := range row {
			if c < 0 {
				return Items{}, fmt.Errorf("item %d: %d raters said %q, less than nothing", i+1, c, labels[k])
			}
			given += c
		}
		it.counts = append(it.counts, append([]int(nil), row...))
		it.given = append(it.given, given)
	}
	return it, nil
}

// CountRatings counts ratings of items (rows) by raters (columns) over the
// declared scale; an empty string is a missing rating. The error names the
// first rating that is not on the scale.
func CountRatings(labels []string, ratings [][]string) (Items, error) {
	at := make(map[string]int, len(labels))
	for k, l := range labels {
		at[l] = k
	}
	counts := make([][]int, len(ratings))
	for i, row := range ratings {
		counts[i] = make([]int, len(labels))
		for r, l := range row {
			if l == "" {
				continue
			}
			k, ok := at[l]
			if !ok {
				return Items{}, fmt.Errorf("item %d: label %q of rater %d is not on the scale", i+1, l, r+1)
			}
			counts[i][k]++
		}
	}
	return NewItems(labels, counts)
}

// rated are the items with at least one label.
func (it Items) rated() []int {
	var at []int
	for i, g := range it.given {
		if g > 0 {
			at = append(at, i)
		}
	}
	return at
}

// shares is the mean over rated items of the share of each label.
func (it Items) shares(rated []int) []float64 {
	p := make([]float64, len(it.labels))
	for _, i := range rated {
		for k, c := range it.counts[i] {
			p[k] += float64(c) / float64(it.given[i]) / float64(len(rated))
		}
	}
	return p
}

// observed is the share of agreeing pairs of labels on item i, weighted; the
// item has at least two labels.
func (it Items) observed(i int, w Weights) float64 {
	sum := 0.0
	for k, c := range it.counts[i] {
		if c == 0 {
			continue
		}
		near := 0.0
		for l, d := range it.counts[i] {
			near += w[k][l] * float64(d)
		}
		sum += float64(c) * (near - 1)
	}
	g := float64(it.given[i])
	return sum / (g * (g - 1))
}

// itemModel is a chance model over items: pe, and the part of it that item i
// carries (its mean is pe; nil where pe is fixed beforehand).
type itemModel struct {
	pe   float64
	item func(i int) float64
}

// multi computes a coefficient over items by Gwet's linearisation (2014): each
// item has a value u_i whose mean is the coefficient, var = sum (u_i - coef)² /
// (n(n-1)), and the interval is t with n-1 degrees of freedom. Items with one
// label count for chance and not for agreement.
func multi(it Items, w Weights, level float64, model func(rated []int) itemModel) Coefficient {
	rated := it.rated()
	paired := 0
	for _, i := range rated {
		if it.given[i] > 1 {
			paired++
		}
	}
	n := len(rated)
	switch {
	case paired == 0:
		return Coefficient{Estimate: undefined(n, "no item has two labels")}
	case len(it.labels) < 2:
		return Coefficient{Estimate: undefined(n, noOtherLabel)}
	case !w.fits(len(it.labels)):
		return Coefficient{Estimate: undefined(n, "the weights are not for this scale")}
	}
	c := model(rated)
	up := float64(n) / float64(paired)
	pa, perfect := 0.0, true
	agreed := make([]float64, n) // pa of the item, 0 with one label
	for at, i := range rated {
		if it.given[i] < 2 {
			continue
		}
		agreed[at] = it.observed(i, w)
		perfect = perfect && it.unanimous(i)
		pa += agreed[at] / float64(paired)
	}
	if perfect {
		pa = 1
	}
	out := Coefficient{Estimate: Estimate{N: n}, Observed: pa, Expected: c.pe}
	if 1-c.pe < 1e-12 {
		out.Undefined = "all raters used one and the same label, so chance alone would agree as often"
		return out
	}
	v := (pa - c.pe) / (1 - c.pe)
	out.Value = v
	if n < 2 {
		out.Estimate = out.withoutInterval("one item gives no interval")
		return out
	}
	sum := 0.0
	for at, i := range rated {
		u := 0.0
		if it.given[i] > 1 {
			u = up * (agreed[at] - c.pe) / (1 - c.pe)
		}
		if c.item != nil {
			u -= 2 * (1 - v) * (c.item(i) - c.pe) / (1 - c.pe)
		}
		sum += (u - v) * (u - v)
	}
	out.SE = math.Sqrt(sum / float64(n) / float64(n-1))
	if perfect && paired == n {
		out.Estimate = out.atOne(level)
		return out
	}
	out.Estimate = out.withStudent(level)
	return out
}

func (it Items) unanimous(i int) bool {
	for _, c := range it.counts[i] {
		if c != 0 && c != it.given[i] {
			return false
		}
	}
	return true
}

// Counts is a copy of the counts, items by labels of the scale.
func (it Items) Counts() [][]int {
	out := make([][]int, len(it.counts))
	cells := make([]int, len(it.counts)*len(it.labels))
	q := len(it.labels)
	for i, row := range it.counts {
		out[i] = cells[i*q : (i+1)*q : (i+1)*q]
		copy(out[i], row)
	}
	return out
}

// N is the number of items with at least one label.
func (it Items) N() int { return len(it.rated()) }

// Labels is a copy of the declared scale.
func (it Items) Labels() []string { return append([]string(nil), it.labels...) }
