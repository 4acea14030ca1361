package agreement

import "fmt"

// Confusion is a square matrix of counts over a declared scale: how often the
// first rater gave one label (row) where the second gave another (column). The
// zero value is an empty matrix over an empty scale. A Confusion never changes.
type Confusion struct {
	labels []string
	counts [][]int
	rows   []int
	cols   []int
	n      int
	diag   int
}

// NewConfusion makes a matrix over the declared scale, in its order; labels
// that nobody used belong to it. counts is copied. The error names the first
// row or cell that does not fit: not square, a negative count, a label twice.
func NewConfusion(labels []string, counts [][]int) (Confusion, error) {
	q := len(labels)
	seen := make(map[string]bool, q)
	for _, l := range labels {
		if seen[l] {
			return Confusion{}, fmt.Errorf("confusion matrix: label %q is declared twice", l)
		}
		seen[l] = true
	}
	if len(counts) != q {
		return Confusion{}, fmt.Errorf("confusion matrix: %d rows for %d labels", len(counts), q)
	}
	m := Confusion{
		labels: append([]string(nil), labels...),
		counts: make([][]int, q),
		rows:   make([]int, q),
		cols:   make([]int, q),
	}
	for i, row := range counts {
		if len(row) != q {
			return Confusion{}, fmt.Errorf("confusion matrix: row %d has %d cells for %d labels", i+1, len(row), q)
		}
		m.counts[i] = append([]int(nil), row...)
		for j, c := range row {
			if c < 0 {
				return Confusion{}, fmt.Errorf("confusion matrix: row %d, column %d holds %d, less than nothing", i+1, j+1, c)
			}
			m.rows[i] += c
			m.cols[j] += c
			m.n += c
		}
		m.diag += row[i]
	}
	return m, nil
}

// CountPairs counts pairs of labels, first[i] with second[i], over the declared
// scale. The error names the first pair with a label outside the scale.
func CountPairs(labels, first, second []string) (Confusion, error) {
	if len(first) != len(second) {
		return Confusion{}, fmt.Errorf("pairs of labels: %d by the first rater, %d by the second", len(first), len(second))
	}
	at := make(map[string]int, len(labels))
	counts := make([][]int, len(labels))
	for i, l := range labels {
		at[l] = i
		counts[i] = make([]int, len(labels))
	}
	for i := range first {
		r, ok := at[first[i]]
		if !ok {
			return Confusion{}, fmt.Errorf("pair %d: label %q of the first rater is not on the scale", i+1, first[i])
		}
		c, ok := at[second[i]]
		if !ok {
			return Confusion{}, fmt.Errorf("pair %d: label %q of the second rater is not on the scale", i+1, second[i])
		}
		counts[r][c]++
	}
	return NewConfusion(labels, counts)
}

// N is the number of items that both raters labelled.
func (m Confusion) N() int { return m.n }

// Agreed is the number of items on which both gave the same label.
func (m Confusion) Agreed() int { return m.diag }

// Labels is a copy of the declared scale.
func (m Confusion) Labels() []string { return append([]string(nil), m.labels...) }

// Counts is a copy of the cells, rows the first rater.
func (m Confusion) Counts() [][]int {
	c := make([][]int, len(m.counts))
	for i, row := range m.counts {
		c[i] = append([]int(nil), row...)
	}
	return c
}

// Rows are the first rater's totals for each label of the scale.
func (m Confusion) Rows() []int { return append([]int(nil), m.rows...) }

// Columns are the second rater's totals for each label of the scale.
func (m Confusion) Columns() []int { return append([]int(nil), m.cols...) }

// Transpose swaps the raters.
func (m Confusion) Transpose() Confusion {
	t := make([][]int, len(m.labels))
	for i := range t {
		t[i] = make([]int, len(m.labels))
		for j := range t[i] {
			t[i][j] = m.counts[j][i]
		}
	}
	return Confusion{labels: m.labels, counts: t, rows: m.cols, cols: m.rows, n: m.n, diag: m.diag}
}

// OneVersusRest folds the scale to label k (an index) against all others.
func (m Confusion) OneVersusRest(k int) Confusion {
	a, b := m.counts[k][k], m.rows[k]-m.counts[k][k]
	c := m.cols[k] - a
	d := m.n - a - b - c
	return Confusion{
		labels: []string{m.labels[k], "not " + m.labels[k]},
		counts: [][]int{{a, b}, {c, d}},
		rows:   []int{a + b, c + d},
		cols:   []int{a + c, b + d},
		n:      m.n,
		diag:   a + d,
	}
}

// constant is the index of the only label that a rater used, or -1.
func constant(totals []int, n int) int {
	for k, t := range totals {
		if n > 0 && t == n {
			return k
		}
	}
	return -1
}
