package sampling

import (
	"fmt"
	"math"

	"github.com/countersign/countersign/judge/agreement"
)

// Table is a confusion matrix of weights: rows people, columns the judge. N counts
// the labels behind it.
type Table struct {
	labels []string
	cells  [][]float64
	n      int
	sum    float64
	square float64 // of the weights, summed
}

// Label is one item with both labels (indices into the scale) and the probability
// with which it was drawn for review, in (0,1].
type Label struct {
	Human, Judge int
	Probability  float64
}

// Weigh counts labels by one over their inclusion probability. The error names the
// first label that does not fit; a probability of 0 means that the population
// cannot be described, only bounded.
func Weigh(scale []string, drawn []Label) (Table, error) {
	human, judge, weight := make([]int, len(drawn)), make([]int, len(drawn)), make([]float64, len(drawn))
	for i, l := range drawn {
		if !(l.Probability > 0 && l.Probability <= 1) {
			return Table{}, fmt.Errorf("label %d was drawn with probability %v: it must be above 0 and at most 1", i+1, l.Probability)
		}
		human[i], judge[i], weight[i] = l.Human, l.Judge, 1/l.Probability
	}
	return NewTable(scale, human, judge, weight)
}

// NewTable counts pairs of labels (indices into the scale) by weights above 0. The
// error names the first pair that does not fit.
func NewTable(scale []string, human, judge []int, weight []float64) (Table, error) {
	q := len(scale)
	if len(human) != len(judge) || len(human) != len(weight) {
		return Table{}, fmt.Errorf("weighted labels: %d by people, %d by the judge, %d weights", len(human), len(judge), len(weight))
	}
	t := Table{labels: append([]string(nil), scale...), cells: make([][]float64, q), n: len(human)}
	for k := range t.cells {
		t.cells[k] = make([]float64, q)
	}
	for i, w := range weight {
		switch {
		case human[i] < 0 || human[i] >= q || judge[i] < 0 || judge[i] >= q:
			return Table{}, fmt.Errorf("weighted label %d: %d and %d are not both on a scale of %d labels", i+1, human[i], judge[i], q)
		case !(w > 0) || math.IsInf(w, 0):
			return Table{}, fmt.Errorf("weighted label %d: weight %v is not above 0", i+1, w)
		}
		t.cells[human[i]][judge[i]] += w
		t.sum += w
		t.square += w * w
	}
	return t, nil
}

// EffectiveN is Kish's (sum w)²/sum w² (1965): how many labels of equal weight
// would say as much. 0 without labels.
func (t Table) EffectiveN() float64 {
	if t.square == 0 {
		return 0
	}
	return t.sum * t.sum / t.square
}

// Total is the sum of the weights: the size of the population they stand for.
func (t Table) Total() float64 { return t.sum }

// Agreement is the weighted share of equal labels (Hájek's ratio).
func (t Table) Agreement() agreement.Estimate {
	if t.n == 0 {
		return undefined(0, "no item was labelled by both")
	}
	hit := 0.0
	for k := range t.cells {
		hit += t.cells[k][k]
	}
	return bare(hit/t.sum, t.n)
}

// Kappa is Cohen's kappa of the weighted table (weighted by closeness of labels
// too unless w is agreement.Identity). Undefined without labels, for a scale of one
// label, and where both sides used one and the same label.
func (t Table) Kappa(w agreement.Weights) agreement.Estimate {
	q := len(t.labels)
	switch {
	case t.n == 0:
		return undefined(0, "no item was labelled by both")
	case len(w) != q:
		return undefined(t.n, "the weights are not for this scale")
	}
	rows, cols := make([]float64, q), make([]float64, q)
	po := 0.0
	for i, row := range t.cells {
		for j, c := range row {
			p := c / t.sum
			rows[i] += p
			cols[j] += p
			po += w[i][j] * p
		}
	}
	pe := 0.0
	for i := range rows {
		for j := range cols {
			pe += w[i][j] * rows[i] * cols[j]
		}
	}
	if 1-pe < 1e-12 {
		return undefined(t.n, "people and the judge used one and the same label, so chance alone would agree as often")
	}
	return bare((po-pe)/(1-pe), t.n)
}

// Shares are weighted figures of one label against the rest: the label that
// people look for.
type Shares struct {
	Sensitivity, Specificity, PPV, NPV, Accuracy, Prevalence agreement.Estimate
}

// OneVersusRest gives them for label k (an index). The error says that k is not on
// the scale.
func (t Table) OneVersusRest(k int) (Shares, error) {
	if k < 0 || k >= len(t.labels) {
		return Shares{}, fmt.Errorf("label %d is not on a scale of %d", k, len(t.labels))
	}
	tp := t.cells[k][k]
	var fn, fp float64
	for j := range t.cells {
		if j != k {
			fn += t.cells[k][j]
			fp += t.cells[j][k]
		}
	}
	tn := max(0, t.sum-tp-fn-fp)
	if len(t.labels) == 2 {
		tn = t.cells[1-k][1-k]
	}
	ratio := func(over, under float64, none string) agreement.Estimate {
		if under == 0 {
			return undefined(0, none)
		}
		return bare(over/under, t.n)
	}
	return Shares{
		Sensitivity: ratio(tp, tp+fn, "people call no item "+t.labels[k]),
		Specificity: ratio(tn, tn+fp, "people call every item "+t.labels[k]),
		PPV:         ratio(tp, tp+fp, "the judge calls no item "+t.labels[k]),
		NPV:         ratio(tn, tn+fn, "the judge calls every item "+t.labels[k]),
		Accuracy:    ratio(tp+tn, t.sum, "there are no labels"),
		Prevalence:  ratio(tp+fn, t.sum, "there are no labels"),
	}, nil
}
