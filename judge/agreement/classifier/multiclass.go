package classifier

import (
	"math"

	"github.com/countersign/countersign/judge/agreement"
)

// Multiclass are the figures of a judge with several labels, from a matrix with
// people as rows and the judge as columns.
type Multiclass struct {
	// Macro figures are plain means over the labels in use: a rare label counts
	// as much as a common one. WeightedF1 weighs by how often people used each.
	MacroF1, WeightedF1, MacroPrecision, MacroRecall agreement.Estimate
	// MicroF1 is accuracy, for one label an item.
	MicroF1 agreement.Estimate
	// MCC is Gorodkin's R_K (2004).
	MCC agreement.Estimate
}

// MeasureMulticlass computes them. A label that neither side used is left out;
// one that only people used makes macro precision undefined, and one that only
// the judge used makes macro recall undefined (scikit-learn counts 0 there).
func MeasureMulticlass(m agreement.Confusion) Multiclass {
	n := m.N()
	if n == 0 {
		none := undefined(0, "no item was labelled by both")
		return Multiclass{none, none, none, none, none, none}
	}
	counts, rows, cols, labels := m.Counts(), m.Rows(), m.Columns(), m.Labels()
	N := float64(n)
	var f1, weighted, precision, recall, used float64
	noPrecision, noRecall := "", ""
	trace, product, squareRows, squareCols := 0.0, 0.0, 0.0, 0.0
	for k := range counts {
		hit, row, col := float64(counts[k][k]), float64(rows[k]), float64(cols[k])
		trace += hit
		product += row * col
		squareRows += row * row
		squareCols += col * col
		if row+col == 0 {
			continue
		}
		used++
		f := 2 * hit / (row + col)
		f1 += f
		weighted += f * row / N
		if col > 0 {
			precision += hit / col
		} else {
			noPrecision = "the judge never said " + quote(labels[k])
		}
		if row > 0 {
			recall += hit / row
		} else {
			noRecall = "people never said " + quote(labels[k])
		}
	}
	mean := func(sum float64, none string) agreement.Estimate {
		if none != "" {
			return undefined(n, none)
		}
		return bare(sum/used, n)
	}
	out := Multiclass{
		MacroF1: mean(f1, ""), WeightedF1: bare(weighted, n),
		MacroPrecision: mean(precision, noPrecision), MacroRecall: mean(recall, noRecall),
		MicroF1: bare(trace/N, n),
		MCC:     undefined(n, "people or the judge used one label only"),
	}
	if below := (N*N - squareRows) * (N*N - squareCols); below > 0 {
		out.MCC = bare((trace*N-product)/math.Sqrt(below), n)
	}
	return out
}

func quote(label string) string { return "\u201c" + label + "\u201d" }
