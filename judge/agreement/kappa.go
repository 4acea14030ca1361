package agreement

import (
	"encoding/json"
	"fmt"
	"math"
)

// Kappa is Cohen's kappa with its standard errors and the test against 0.
type Kappa struct {
	Coefficient
	// SE0 is the standard error if the true kappa were 0: for the test, never
	// for an interval. Z = Value/SE0, P its two-sided p-value. They mean
	// nothing when NoTest gives a reason or kappa is undefined.
	SE0, Z, P float64
	NoTest    string
}

// CohenKappa is Cohen's kappa (1960), weighted (1968) unless w is Identity:
// (po-pe)/(1-pe), pe from each rater's own shares. SE and SE0 after Fleiss,
// Cohen & Everitt (1969). The interval is Fisher's z, tanh(atanh k ± z
// SE/(1-k²)), which covers better than Wald's in small samples; Wald and
// Student give the others.
//
// Undefined for an empty matrix and where both used one and the same label.
// Where one rater used one label only and the other did not, kappa is 0 by
// construction: SE and SE0 are 0, and there is no test and no interval. At
// kappa = 1 the interval is [Clopper-Pearson lower bound of agreement, 1].
func CohenKappa(m Confusion, w Weights, level float64) Kappa {
	if reason := m.refuse(w); reason != "" {
		return Kappa{Coefficient: Coefficient{Estimate: undefined(m.n, reason)}}
	}
	n, q := float64(m.n), len(m.labels)
	toRow, toCol := make([]float64, q), make([]float64, q) // w_i. and w_.j
	pe := 0.0
	for i := range q {
		for j := range q {
			toRow[i] += w[i][j] * float64(m.cols[j]) / n
			toCol[j] += w[i][j] * float64(m.rows[i]) / n
		}
	}
	for i := range q {
		pe += toRow[i] * float64(m.rows[i]) / n
	}
	r, c := constant(m.rows, m.n), constant(m.cols, m.n)
	if r >= 0 && r == c {
		return Kappa{Coefficient: Coefficient{
			Estimate: undefined(m.n, fmt.Sprintf("both raters always said %q, so chance alone would agree as often", m.labels[r])),
			Observed: 1, Expected: 1,
		}}
	}
	k := Kappa{Coefficient: corrected(m, w, chanceModel{pe, func(i, j int) float64 {
		return (toRow[i] + toCol[j]) / 2
	}})}
	if !k.Defined() {
		return k
	}
	switch {
	case r >= 0 || c >= 0:
		k.Value, k.SE, k.NoTest = 0, 0, constantNoTest
		k.Estimate = k.withoutInterval(constantNoTest)
		return k
	case m.diag == m.n:
		k.Estimate = k.atOne(level)
	default:
		k.Estimate = k.withFisherZ(level)
	}
	spread := 0.0
	for i := range q {
		for j := range q {
			d := w[i][j] - toRow[i] - toCol[j] + pe
			spread += float64(m.rows[i]) / n * float64(m.cols[j]) / n * d * d
		}
	}
	k.SE0 = math.Sqrt(spread/n) / (1 - pe)
	if k.SE0 == 0 {
		k.NoTest = "the standard error under chance is 0"
		return k
	}
	k.Z = k.Value / k.SE0
	k.P = twoSidedP(k.Z)
	return k
}

// CohenKappaValue is the value of CohenKappa alone, for repeated computation; ok is
// false where kappa is undefined.
func CohenKappaValue(m Confusion, w Weights) (value float64, ok bool) {
	if m.refuse(w) != "" {
		return 0, false
	}
	if r := constant(m.rows, m.n); r >= 0 && r == constant(m.cols, m.n) {
		return 0, false
	}
	pe, square := 0.0, float64(m.n)*float64(m.n)
	for i, row := range w {
		for j, v := range row {
			pe += v * float64(m.rows[i]) * float64(m.cols[j]) / square
		}
	}
	if 1-pe < 1e-12 {
		return 0, false
	}
	return (m.weighted(w) - pe) / (1 - pe), true
}

// MarshalJSON writes the coefficient's fields with se0, z and p_value; null
// where there is no test, with the reason in no_test.
func (k Kappa) MarshalJSON() ([]byte, error) {
	out := struct {
		coefficientJSON
		SE0    *float64 `json:"se0"`
		Z      *float64 `json:"z"`
		P      *float64 `json:"p_value"`
		NoTest string   `json:"no_test,omitempty"`
	}{coefficientJSON: k.Coefficient.wire(), NoTest: k.NoTest}
	if k.Defined() {
		out.SE0 = &k.SE0
		if k.NoTest == "" {
			out.Z, out.P = &k.Z, &k.P
		}
	}
	return json.Marshal(out)
}
