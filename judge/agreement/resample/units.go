package resample

import (
	"fmt"

	"github.com/countersign/countersign/judge/agreement"
)

// Units are what is drawn. Kind of each unit is below Kinds. Cluster and Stratum
// are any numbers that say what belongs together; nil: every unit is a cluster of
// its own, all are in one stratum. A cluster lies in one stratum.
type Units struct {
	Kinds            int
	Kind             []int
	Cluster, Stratum []int
	// Counts says how many units of each kind there are, in place of Kind, where
	// nothing but the kind tells units apart.
	Counts []int
}

// n is the number of units.
func (u Units) n() int {
	if u.Counts == nil {
		return len(u.Kind)
	}
	n := 0
	for _, c := range u.Counts {
		n += c
	}
	return n
}

// Whole counts all units by kind.
func (u Units) Whole() []int {
	if u.Counts != nil {
		return append([]int(nil), u.Counts...)
	}
	counts := make([]int, u.Kinds)
	for _, k := range u.Kind {
		counts[k]++
	}
	return counts
}

// Statistic gives a figure for counts of units by kind; ok is false where it is
// undefined. It may not keep or change the counts.
type Statistic func(counts []int) (value float64, ok bool)

// Distinct are n units that a statistic tells apart: counts are then how often each
// unit was drawn.
func Distinct(n int) Units {
	u := Units{Kinds: n, Kind: make([]int, n)}
	for i := range u.Kind {
		u.Kind[i] = i
	}
	return u
}

// Cells are the items of a confusion matrix, by cell: kind i*q+j for row i and
// column j. Where items form clusters use Pairs.
func Cells(m agreement.Confusion) Units {
	u := Units{}
	for _, row := range m.Counts() {
		u.Counts = append(u.Counts, row...)
	}
	u.Kinds = len(u.Counts)
	return u
}

// Pairs are items in order, first[i] and second[i] indices into a scale of q
// labels; kinds as those of Cells. The error names the first that is off the scale.
func Pairs(q int, first, second []int) (Units, error) {
	if len(first) != len(second) {
		return Units{}, fmt.Errorf("resample: %d labels by the first rater, %d by the second", len(first), len(second))
	}
	u := Units{Kinds: q * q, Kind: make([]int, len(first))}
	for i := range first {
		if first[i] < 0 || first[i] >= q || second[i] < 0 || second[i] >= q {
			return Units{}, fmt.Errorf("resample: pair %d is not on a scale of %d labels", i+1, q)
		}
		u.Kind[i] = first[i]*q + second[i]
	}
	return u, nil
}

// OfConfusion makes a statistic of a confusion matrix one of Cells or Pairs over
// the same scale.
func OfConfusion(labels []string, f func(agreement.Confusion) (float64, bool)) Statistic {
	q := len(labels)
	counts := make([][]int, q)
	return func(cells []int) (float64, bool) {
		for i := range counts {
			counts[i] = cells[i*q : (i+1)*q]
		}
		m, err := agreement.NewConfusion(labels, counts)
		if err != nil {
			return 0, false
		}
		return f(m)
	}
}

// Kappa is Cohen's kappa as a statistic of Cells or Pairs.
func Kappa(labels []string, w agreement.Weights) Statistic {
	return OfConfusion(labels, func(m agreement.Confusion) (float64, bool) {
		return agreement.CohenKappaValue(m, w)
	})
}

// Items are units with counts of labels, by distinct row, and the rows: item k of
// profiles is what units of kind k look like.
func Items(it agreement.Items) (u Units, profiles agreement.Items) {
	at := map[string]int{}
	var rows [][]int
	rowOf := it.Counts()
	u.Kind = make([]int, len(rowOf))
	var key []byte
	for i, row := range rowOf {
		key = key[:0]
		for _, c := range row {
			key = append(key, byte(c), byte(c>>8), byte(c>>16), byte(c>>24))
		}
		k, ok := at[string(key)]
		if !ok {
			k = len(rows)
			at[string(key)] = k
			rows = append(rows, row)
		}
		u.Kind[i] = k
	}
	u.Kinds = len(rows)
	profiles, err := agreement.NewItems(it.Labels(), rows)
	if err != nil {
		panic(err) // rows of one Items fit another over the same scale
	}
	return u, profiles
}

// Alpha is Krippendorff's alpha as a statistic of Items.
func Alpha(profiles agreement.Items, metric agreement.Metric, values []float64) Statistic {
	of := agreement.AlphaByTimes(profiles, metric, values)
	return func(counts []int) (float64, bool) {
		a := of(counts)
		return a.Value, a.Defined()
	}
}
