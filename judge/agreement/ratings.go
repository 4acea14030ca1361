package agreement

import "fmt"

// Ratings holds what each of several raters said about each item, and who said
// it: what Conger's and Light's kappa need and counts have lost. Any rating may
// be missing. The zero value has no items. A Ratings never changes.
type Ratings struct {
	labels []string
	raters int
	codes  [][]int // by item and rater; missing is -1
}

const missing = -1

// NewRatings takes ratings of items (rows) by raters (columns) over the declared
// scale; an empty string is a missing rating. The error names the first row or
// rating that does not fit.
func NewRatings(labels []string, rows [][]string) (Ratings, error) {
	at := make(map[string]int, len(labels))
	for k, l := range labels {
		if _, twice := at[l]; twice {
			return Ratings{}, fmt.Errorf("ratings: label %q is declared twice", l)
		}
		at[l] = k
	}
	r := Ratings{labels: append([]string(nil), labels...), codes: make([][]int, len(rows))}
	if len(rows) > 0 {
		r.raters = len(rows[0])
	}
	cells := make([]int, len(rows)*r.raters)
	for i, row := range rows {
		if len(row) != r.raters {
			return Ratings{}, fmt.Errorf("item %d has ratings for %d raters where item 1 has %d", i+1, len(row), r.raters)
		}
		codes := cells[i*r.raters : (i+1)*r.raters : (i+1)*r.raters]
		for g, l := range row {
			if l == "" {
				codes[g] = missing
				continue
			}
			k, ok := at[l]
			if !ok {
				return Ratings{}, fmt.Errorf("item %d: label %q of rater %d is not on the scale", i+1, l, g+1)
			}
			codes[g] = k
		}
		r.codes[i] = codes
	}
	return r, nil
}

// Raters is the number of raters, N that of items.
func (r Ratings) Raters() int { return r.raters }

// N is the number of items, those without any rating too.
func (r Ratings) N() int { return len(r.codes) }

// Labels is a copy of the declared scale.
func (r Ratings) Labels() []string { return append([]string(nil), r.labels...) }

// Items forgets who said what.
func (r Ratings) Items() Items {
	it := Items{
		labels: r.Labels(),
		counts: make([][]int, len(r.codes)),
		given:  make([]int, len(r.codes)),
	}
	q := len(r.labels)
	cells := make([]int, len(r.codes)*q)
	for i, codes := range r.codes {
		it.counts[i] = cells[i*q : (i+1)*q : (i+1)*q]
		for _, k := range codes {
			if k != missing {
				it.counts[i][k]++
				it.given[i]++
			}
		}
	}
	return it
}

// Pair is the confusion matrix of raters a and b (indices), over the items that
// both rated.
func (r Ratings) Pair(a, b int) Confusion {
	q := len(r.labels)
	m := Confusion{labels: r.Labels(), counts: make([][]int, q), rows: make([]int, q), cols: make([]int, q)}
	for k := range m.counts {
		m.counts[k] = make([]int, q)
	}
	for _, codes := range r.codes {
		x, y := codes[a], codes[b]
		if x == missing || y == missing {
			continue
		}
		m.counts[x][y]++
		m.rows[x]++
		m.cols[y]++
		m.n++
		if x == y {
			m.diag++
		}
	}
	return m
}

// CodedRatings takes ratings as indices into the declared scale, item after item,
// raters side by side; -1 is a missing rating. The error names the first rating that
// does not fit.
func CodedRatings(labels []string, raters int, codes []int32) (Ratings, error) {
	if raters < 1 || len(codes)%raters != 0 {
		return Ratings{}, fmt.Errorf("ratings: %d ratings do not make rows of %d", len(codes), raters)
	}
	r := Ratings{labels: append([]string(nil), labels...), raters: raters, codes: make([][]int, len(codes)/raters)}
	cells := make([]int, len(codes))
	for i, k := range codes {
		if k < missing || int(k) >= len(labels) {
			return Ratings{}, fmt.Errorf("item %d: code %d of rater %d is not on a scale of %d labels", i/raters+1, k, i%raters+1, len(labels))
		}
		cells[i] = int(k)
	}
	for i := range r.codes {
		r.codes[i] = cells[i*raters : (i+1)*raters : (i+1)*raters]
	}
	return r, nil
}
