package agreement

import (
	"encoding/json"
	"math"
)

// Coefficient is a chance-corrected agreement (pa - pe)/(1 - pe): the estimate,
// and what it is made of.
type Coefficient struct {
	Estimate
	// Observed is pa, Expected pe: the (weighted) agreement seen and the one
	// that chance alone would give. Both are there when N > 0, even where
	// the coefficient is undefined.
	Observed, Expected float64
}

// chanceModel is what tells the coefficients of this family apart: pe, and the
// part of pe that each cell carries, whose mean over the cells is pe again (0
// where pe is fixed beforehand).
type chanceModel struct {
	pe   float64
	cell func(i, j int) float64
}

// corrected computes (pa-pe)/(1-pe) and its standard error
// sqrt(Var(w_ij - 2(1-v) e_ij) / n) / (1-pe), the variance taken over the
// cells. This is the delta method in one line: with the chance models below it
// is Fleiss, Cohen & Everitt (1969) for kappa and Gwet (2014) for the others.
func corrected(m Confusion, w Weights, c chanceModel) Coefficient {
	n := float64(m.n)
	pa := m.weighted(w)
	out := Coefficient{Estimate: Estimate{N: m.n}, Observed: pa, Expected: c.pe}
	if 1-c.pe < 1e-12 {
		out.Undefined = oneLabelInUse
		return out
	}
	v := (pa - c.pe) / (1 - c.pe)
	x := func(i, j int) float64 { return w[i][j] - 2*(1-v)*c.cell(i, j) }
	mean := 0.0
	m.each(func(i, j int, p float64) { mean += p * x(i, j) })
	spread := 0.0
	m.each(func(i, j int, p float64) { d := x(i, j) - mean; spread += p * d * d })
	out.Value, out.SE = v, math.Sqrt(spread/n)/(1-c.pe)
	return out
}

// each visits the cells that are not empty with their share of all items.
func (m Confusion) each(visit func(i, j int, share float64)) {
	for i, row := range m.counts {
		for j, c := range row {
			if c > 0 {
				visit(i, j, float64(c)/float64(m.n))
			}
		}
	}
}

func (m Confusion) weighted(w Weights) float64 {
	sum := 0.0
	for i, row := range m.counts {
		for j, c := range row {
			sum += w[i][j] * float64(c)
		}
	}
	return sum / float64(m.n)
}

// refuse is the reason why no coefficient can be computed at all, or "".
func (m Confusion) refuse(w Weights) string {
	switch {
	case m.n == 0:
		return noPairs
	case len(m.labels) < 2:
		return noOtherLabel
	case !w.fits(len(m.labels)):
		return "the weights are not for this scale"
	}
	return ""
}

// pooled is the share of each label over both raters.
func (m Confusion) pooled() []float64 {
	p := make([]float64, len(m.labels))
	for k := range p {
		p[k] = float64(m.rows[k]+m.cols[k]) / float64(2*m.n)
	}
	return p
}

func coefficientOf(m Confusion, w Weights, level float64, model func() chanceModel) Coefficient {
	if reason := m.refuse(w); reason != "" {
		return Coefficient{Estimate: undefined(m.n, reason)}
	}
	c := corrected(m, w, model())
	if !c.Defined() {
		return c
	}
	if m.diag == m.n {
		c.Estimate = c.atOne(level)
		return c
	}
	c.Estimate = c.withStudent(level)
	return c
}

// ScottPi is Scott's pi (1955), weighted unless w is Identity: chance from the
// pooled shares of both raters. SE and the t(n-1) interval after Gwet (2014).
func ScottPi(m Confusion, w Weights, level float64) Coefficient {
	return coefficientOf(m, w, level, func() chanceModel {
		p := m.pooled()
		wp := make([]float64, len(p))
		pe := 0.0
		for k := range p {
			for l := range p {
				wp[k] += w[k][l] * p[l]
			}
			pe += p[k] * wp[k]
		}
		return chanceModel{pe, func(i, j int) float64 { return (wp[i] + wp[j]) / 2 }}
	})
}

// GwetAC is Gwet's AC1 (2008) with Identity weights and AC2 (2014) with others:
// pe = sum(w)/(q(q-1)) sum p(1-p) over the pooled shares, q the declared labels.
// Where all used one label it is 1, as in irrCAC: pe is 0 then.
func GwetAC(m Confusion, w Weights, level float64) Coefficient {
	return coefficientOf(m, w, level, func() chanceModel {
		p, q := m.pooled(), float64(len(m.labels))
		t := w.sum() / (q * (q - 1))
		pe := 0.0
		for _, v := range p {
			pe += t * v * (1 - v)
		}
		return chanceModel{pe, func(i, j int) float64 { return t * (1 - (p[i]+p[j])/2) }}
	})
}

// BrennanPrediger is Bennett's S (Bennett, Alpert & Goldstein 1954) with
// Identity weights, Brennan & Prediger (1981, weighted: Gwet 2014) with others:
// every declared label is equally likely by chance, pe = sum(w)/q².
func BrennanPrediger(m Confusion, w Weights, level float64) Coefficient {
	return coefficientOf(m, w, level, func() chanceModel {
		q := float64(len(m.labels))
		return chanceModel{w.sum() / (q * q), func(int, int) float64 { return 0 }}
	})
}

// MarshalJSON writes the estimate's fields with observed and expected.
func (c Coefficient) MarshalJSON() ([]byte, error) { return json.Marshal(c.wire()) }

type coefficientJSON struct {
	Figure
	Observed *float64 `json:"observed"`
	Expected *float64 `json:"expected"`
}

func (c Coefficient) wire() coefficientJSON {
	out := coefficientJSON{Figure: c.Estimate.Figure()}
	if c.N > 0 {
		out.Observed, out.Expected = &c.Observed, &c.Expected
	}
	return out
}
