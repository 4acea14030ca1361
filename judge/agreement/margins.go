package agreement

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/countersign/countersign/judge/agreement/internal/beta"
)

// ChiSquare is a test statistic with its degrees of freedom and p-value, or the
// reason why there is none.
type ChiSquare struct {
	Value     float64
	DF        int
	P         float64
	Undefined string
}

func chiSquare(value float64, df int) ChiSquare {
	return ChiSquare{Value: value, DF: df, P: gammaUpper(float64(df)/2, value/2)}
}

// Bowker tests whether the raters differ in a direction: whether i against j is
// as frequent as j against i, for all pairs (Bowker 1948). Pairs of labels that
// were never confused do not count as degrees of freedom. Undefined when none
// was.
func Bowker(m Confusion) ChiSquare {
	sum, df := 0.0, 0
	for i := range m.labels {
		for j := range i {
			if both := m.counts[i][j] + m.counts[j][i]; both > 0 {
				d := float64(m.counts[i][j] - m.counts[j][i])
				sum += d * d / float64(both)
				df++
			}
		}
	}
	if df == 0 {
		return ChiSquare{Undefined: "the raters never differ"}
	}
	return chiSquare(sum, df)
}

// MarginalHomogeneity tests whether both raters use the labels equally often:
// is the judge shifted towards one? By Stuart (1955) and Maxwell (1970), and by
// Bhapkar (1966), which has more power. Labels on which the raters never differ
// are left out. Undefined when no label remains, or when the differences do not
// determine the statistic (labels confused in separate groups only).
func MarginalHomogeneity(m Confusion) (stuartMaxwell, bhapkar ChiSquare) {
	var used []int
	for k := range m.labels {
		if m.rows[k]+m.cols[k] > 2*m.counts[k][k] {
			used = append(used, k)
		}
	}
	if len(used) < 2 {
		none := ChiSquare{Undefined: "the raters never differ"}
		return none, none
	}
	used = used[:len(used)-1] // the last one follows from the others
	df := len(used)
	d := make([]float64, df)
	cov := make([][]float64, df)
	for a, i := range used {
		d[a] = float64(m.rows[i] - m.cols[i])
		cov[a] = make([]float64, df)
		for b, j := range used {
			if a == b {
				cov[a][b] = float64(m.rows[i] + m.cols[i] - 2*m.counts[i][i])
			} else {
				cov[a][b] = -float64(m.counts[i][j] + m.counts[j][i])
			}
		}
	}
	x, ok := solve(cov, d)
	if !ok {
		none := ChiSquare{Undefined: "the raters confuse labels in separate groups only"}
		return none, none
	}
	sum := 0.0
	for a := range d {
		sum += d[a] * x[a]
	}
	stuartMaxwell = chiSquare(sum, df)
	if rest := 1 - sum/float64(m.n); rest > 1e-12 {
		return stuartMaxwell, chiSquare(sum/rest, df)
	}
	return stuartMaxwell, ChiSquare{Undefined: "the raters differ on every item in one direction"}
}

// solve gives x with a x = b; ok is false when a is singular.
func solve(a [][]float64, b []float64) (x []float64, ok bool) {
	n := len(b)
	m := mat.NewDense(n, n, nil)
	for i, row := range a {
		m.SetRow(i, row)
	}
	var lu mat.LU
	lu.Factorize(m)
	if !(lu.Cond() < 1e12) {
		return nil, false
	}
	var v mat.VecDense
	if err := lu.SolveVecTo(&v, false, mat.NewVecDense(n, b)); err != nil {
		return nil, false
	}
	return v.RawVector().Data, true
}

// Paired compares two judges on the same items, by the items on which only one
// of them is right (McNemar 1947; mid-p: Fagerland, Lydersen & Laake 2013).
// Use Exact for fewer than 25 such items and MidP otherwise.
type Paired struct {
	Exact, MidP float64 // two-sided p-values; 1 when no item tells them apart
	// Plain and Corrected are the chi-squares without and with continuity
	// correction; undefined when no item tells the judges apart.
	Plain, Corrected ChiSquare
}

// McNemar takes b, the items that only the first judge got right, and c, those
// that only the second did; neither is negative.
func McNemar(b, c int) Paired {
	n := b + c
	if n == 0 {
		none := ChiSquare{Undefined: "no item tells the two apart"}
		return Paired{Exact: 1, MidP: 1, Plain: none, Corrected: none}
	}
	less := min(b, c)
	// P(X <= less) of a fair coin is I_{1/2}(n-less, less+1).
	tail := beta.Incomplete(0.5, float64(n-less), float64(less+1))
	p := Paired{Exact: min(1, 2*tail), MidP: 1}
	if b != c {
		p.MidP = min(1, 2*tail-binomialHalf(less, n))
	}
	d := math.Abs(float64(b - c))
	p.Plain = chiSquare(d*d/float64(n), 1)
	p.Corrected = chiSquare(max(0, d-1)*max(0, d-1)/float64(n), 1)
	return p
}

// binomialHalf is the chance of k heads in n throws of a fair coin.
func binomialHalf(k, n int) float64 {
	a, _ := math.Lgamma(float64(n + 1))
	b, _ := math.Lgamma(float64(k + 1))
	c, _ := math.Lgamma(float64(n - k + 1))
	return math.Exp(a - b - c - float64(n)*math.Ln2)
}
