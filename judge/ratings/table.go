package ratings

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/countersign/countersign/judge/agreement"
)

// Limits of one file. A file beyond them is refused by name of the limit.
const (
	maxBytes  = 256 << 20
	maxCells  = 20_000_000 // items × raters
	maxRaters = 1_000
	maxLabels = 100_000
	maxText   = 1_000 // bytes of a name or label
	maxFaults = 20
)

// Missing is the code of a rating that is not there.
const Missing = -1

// Table is what a file holds: ratings of items by raters, or the confusion matrix of
// two raters.
type Table struct {
	// Labels are the scale: as the file declares it, else the labels in use,
	// numbers by size and others by their text.
	Labels []string
	// Declared says that the file gives the scale, and with it an order.
	Declared bool
	Raters   []string
	// Codes are indices into Labels, or Missing, by item and then rater; nil for a
	// confusion matrix.
	Codes []int32
	// Clusters say of each item which others it is not independent of: items of one
	// number belong together. nil where the file names none.
	Clusters []int
	// Matrix has rows for the first rater and columns for the second; nil for
	// ratings.
	Matrix [][]int

	items int // of ratings
}

// Items is the number of items: all of a ratings file, those counted in a matrix.
func (t Table) Items() int {
	if t.Matrix == nil {
		return t.items
	}
	n := 0
	for _, row := range t.Matrix {
		for _, c := range row {
			n += c
		}
	}
	return n
}

// Numbers are the labels as numbers; ok is false where one is none.
func (t Table) Numbers() (values []float64, ok bool) {
	values = make([]float64, len(t.Labels))
	for i, l := range t.Labels {
		v, err := strconv.ParseFloat(l, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, false
		}
		values[i] = v
	}
	return values, true
}

// Ordered says that the order of Labels means something: the file declares it, the
// labels are numbers, or there are at most two.
func (t Table) Ordered() bool {
	_, numbers := t.Numbers()
	return t.Declared || numbers || len(t.Labels) <= 2
}

// Confusion is the matrix of two raters, over the items that both rated.
func (t Table) Confusion() (agreement.Confusion, error) {
	if t.Matrix != nil {
		return agreement.NewConfusion(t.Labels, t.Matrix)
	}
	if len(t.Raters) != 2 {
		return agreement.Confusion{}, fmt.Errorf("a confusion matrix needs two raters, and there are %d", len(t.Raters))
	}
	q := len(t.Labels)
	counts := make([][]int, q)
	for k := range counts {
		counts[k] = make([]int, q)
	}
	for i := 0; i < len(t.Codes); i += 2 {
		if a, b := t.Codes[i], t.Codes[i+1]; a != Missing && b != Missing {
			counts[a][b]++
		}
	}
	return agreement.NewConfusion(t.Labels, counts)
}

// Pairs are the labels of two raters on the items that both rated, as indices into
// Labels, with the items' clusters (nil without). Only for ratings of two.
func (t Table) Pairs() (first, second, clusters []int) {
	for i := 0; i+1 < len(t.Codes) && len(t.Raters) == 2; i += 2 {
		if a, b := t.Codes[i], t.Codes[i+1]; a != Missing && b != Missing {
			first, second = append(first, int(a)), append(second, int(b))
			if t.Clusters != nil {
				clusters = append(clusters, t.Clusters[i/2])
			}
		}
	}
	return first, second, clusters
}

// Ratings are the ratings of any number of raters, not for a matrix.
func (t Table) Ratings() (agreement.Ratings, error) {
	return agreement.CodedRatings(t.Labels, len(t.Raters), t.Codes)
}

// sorted puts labels that no file declares in order and recodes.
func (t *Table) sorted() {
	order := make([]int, len(t.Labels))
	for i := range order {
		order[i] = i
	}
	values, numbers := t.Numbers()
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case numbers && values[a] < values[b]:
			return -1
		case numbers && values[a] > values[b]:
			return 1
		case t.Labels[a] < t.Labels[b]:
			return -1
		case t.Labels[a] > t.Labels[b]:
			return 1
		}
		return 0
	})
	labels, now := make([]string, len(order)), make([]int32, len(order))
	for to, from := range order {
		labels[to], now[from] = t.Labels[from], int32(to)
	}
	t.Labels = labels
	for i, c := range t.Codes {
		if c != Missing {
			t.Codes[i] = now[c]
		}
	}
}
