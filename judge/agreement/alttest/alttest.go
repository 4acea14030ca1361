// Package alttest asks whether a judge may stand in for a human annotator (Calderon,
// Reichart & Dror 2025, arXiv:2501.10970): each human is held out in turn, and both
// the human and the judge are compared with the remaining ones.
package alttest

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"
)

// Score says how well an answer fits those of the other humans; larger is better.
type Score func(answer float64, others []float64) float64

// NegativeRMSE is the score for ratings: minus the root mean square distance.
func NegativeRMSE(answer float64, others []float64) float64 {
	sum := 0.0
	for _, o := range others {
		sum += (answer - o) * (answer - o)
	}
	return -math.Sqrt(sum / float64(len(others)))
}

// Match is the score for labels (as numbers): the share of others who say the same.
func Match(answer float64, others []float64) float64 {
	same := 0.0
	for _, o := range others {
		if o == answer {
			same++
		}
	}
	return same / float64(len(others))
}

// Options of Test; the defaults are those of the paper.
type Options struct {
	Score Score // no default
	// Epsilon is the advantage granted to the judge for costing less: 0.1 to
	// 0.2 for experts, 0 to be strict.
	Epsilon float64
	// FDR is the false discovery rate over the humans; 0 means 0.05.
	FDR float64
	// MinHumans is the number of humans that an item needs, 0 means 2; MinItems
	// the number of such items that a human needs, 0 means 30.
	MinHumans, MinItems int
}

// Human is the comparison with one annotator held out.
type Human struct {
	Index int // column
	Items int
	// JudgeWins is how often the judge fits the others at least as well as this
	// human, HumanWins the other way round; ties count for both.
	JudgeWins, HumanWins float64
	// P tests that JudgeWins is not above HumanWins - epsilon (one-sided t).
	P float64
	// Beaten says that the test rejects, after Benjamini & Yekutieli (2001).
	Beaten bool
}

// Result of the test.
type Result struct {
	Humans []Human
	// WinningRate is the share of humans that are Beaten: the judge passes at
	// 0.5. AdvantageProbability is the mean of JudgeWins.
	WinningRate, AdvantageProbability float64
	Undefined                         string
}

// Passes reports whether the judge may stand in for a human.
func (r Result) Passes() bool { return r.Undefined == "" && r.WinningRate >= 0.5 }

// Test compares judge (one answer an item, NaN for none) with humans (items by
// annotators, NaN for none). Humans with too few items are left out. Undefined with
// fewer than three humans left, or for input that does not fit.
func Test(humans [][]float64, judge []float64, o Options) Result {
	if o.FDR == 0 {
		o.FDR = 0.05
	}
	if o.MinHumans == 0 {
		o.MinHumans = 2
	}
	if o.MinItems == 0 {
		o.MinItems = 30
	}
	switch {
	case o.Score == nil:
		return Result{Undefined: "no score is given"}
	case len(humans) != len(judge):
		return Result{Undefined: fmt.Sprintf("%d items by humans and %d by the judge", len(humans), len(judge))}
	case len(humans) == 0:
		return Result{Undefined: "there are no items"}
	case !(o.FDR > 0 && o.FDR < 1) || !(o.Epsilon >= 0):
		return Result{Undefined: fmt.Sprintf("a false discovery rate of %v with an epsilon of %v cannot be", o.FDR, o.Epsilon)}
	}
	columns := len(humans[0])
	for i, row := range humans {
		if len(row) != columns {
			return Result{Undefined: fmt.Sprintf("item %d has %d humans where item 1 has %d", i+1, len(row), columns)}
		}
	}
	var out Result
	for h := range columns {
		if one, ok := compare(humans, judge, h, o); ok {
			out.Humans = append(out.Humans, one)
		}
	}
	n := len(out.Humans)
	if n < 3 {
		return Result{Undefined: fmt.Sprintf("%d humans have %d items or more, where the test needs three", n, o.MinItems)}
	}
	beaten := yekutieli(out.Humans, o.FDR)
	for i := range out.Humans {
		out.Humans[i].Beaten = beaten[i]
		if beaten[i] {
			out.WinningRate += 1 / float64(n)
		}
		out.AdvantageProbability += out.Humans[i].JudgeWins / float64(n)
	}
	out.WinningRate = min(1, out.WinningRate)
	return out
}

// compare holds out human h.
func compare(humans [][]float64, judge []float64, h int, o Options) (Human, bool) {
	one := Human{Index: h}
	var gap []float64 // human wins minus judge wins, item by item
	for i, row := range humans {
		var others []float64
		for k, v := range row {
			if k != h && !math.IsNaN(v) {
				others = append(others, v)
			}
		}
		if math.IsNaN(row[h]) || math.IsNaN(judge[i]) || len(others) == 0 || len(others)+1 < o.MinHumans {
			continue
		}
		byJudge, byHuman := o.Score(judge[i], others), o.Score(row[h], others)
		j, m := 0.0, 0.0
		if byJudge >= byHuman {
			j = 1
		}
		if byHuman >= byJudge {
			m = 1
		}
		one.JudgeWins += j
		one.HumanWins += m
		gap = append(gap, m-j)
	}
	one.Items = len(gap)
	if one.Items < o.MinItems || one.Items < 2 {
		return one, false
	}
	n := float64(one.Items)
	one.JudgeWins /= n
	one.HumanWins /= n
	mean, sd := stat.MeanStdDev(gap, nil)
	switch {
	case sd > 0:
		t := (mean - o.Epsilon) / (sd / math.Sqrt(n))
		one.P = distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}.CDF(t)
	case mean < o.Epsilon: // every item says the same
		one.P = 0
	default:
		one.P = 1
	}
	return one, true
}

// yekutieli tells which tests reject at a false discovery rate under any dependence:
// all up to the largest i with p_(i) <= i q/(m sum 1/j) (Benjamini & Yekutieli 2001).
func yekutieli(humans []Human, q float64) []bool {
	m := len(humans)
	order := make([]int, m)
	harmonic := 0.0
	for i := range order {
		order[i] = i
		harmonic += 1 / float64(i+1)
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case humans[a].P < humans[b].P:
			return -1
		case humans[a].P > humans[b].P:
			return 1
		}
		return 0
	})
	last := -1
	for i, at := range order {
		if humans[at].P <= float64(i+1)*q/(float64(m)*harmonic) {
			last = i
		}
	}
	reject := make([]bool, m)
	for _, at := range order[:last+1] {
		reject[at] = true
	}
	return reject
}
