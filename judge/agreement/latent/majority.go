package latent

import "fmt"

// Winner is the label that an item got most often.
type Winner struct {
	// Class is the index of the label, the lowest one in a tie; -1 without
	// labels.
	Class int
	// Tie says that another label was given as often.
	Tie bool
}

// Votes are counts of labels by item, rater and class: a rater may label an item
// several times or not at all.
type Votes [][][]int

// check names the first row that does not fit, and gives raters and classes.
func (v Votes) check() (raters, classes int, err error) {
	if len(v) == 0 || len(v[0]) == 0 || len(v[0][0]) == 0 {
		return 0, 0, fmt.Errorf("votes: there are no items, raters or classes")
	}
	raters, classes = len(v[0]), len(v[0][0])
	for i, item := range v {
		if len(item) != raters {
			return 0, 0, fmt.Errorf("votes: item %d has %d raters where item 1 has %d", i+1, len(item), raters)
		}
		for r, row := range item {
			if len(row) != classes {
				return 0, 0, fmt.Errorf("votes: item %d, rater %d has %d classes of %d", i+1, r+1, len(row), classes)
			}
			for _, c := range row {
				if c < 0 {
					return 0, 0, fmt.Errorf("votes: item %d, rater %d gave a label %d times", i+1, r+1, c)
				}
			}
		}
	}
	return raters, classes, nil
}

// Majority counts every label of an item as one vote. The error names what does not
// fit.
func Majority(v Votes) ([]Winner, error) {
	_, classes, err := v.check()
	if err != nil {
		return nil, err
	}
	out := make([]Winner, len(v))
	for i, item := range v {
		total := make([]int, classes)
		for _, row := range item {
			for k, c := range row {
				total[k] += c
			}
		}
		w := Winner{Class: -1}
		most := 0
		for k, c := range total {
			switch {
			case c > most:
				w, most = Winner{Class: k}, c
			case c == most && c > 0:
				w.Tie = true
			}
		}
		out[i] = w
	}
	return out, nil
}
