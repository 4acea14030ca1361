package agreement

// Ceiling is how high Cohen's kappa could be with the shares that the raters
// gave: a judge that flags twice as often as people cannot reach 1.
type Ceiling struct {
	Agreement float64 // po_max = sum min(p_i., p_.i)
	Kappa     float64 // (po_max - pe)/(1 - pe)
	// Undefined says why there is none; the numbers mean nothing then.
	Undefined string
}

// KappaMax is the largest unweighted kappa the margins allow (Cohen 1960).
func KappaMax(m Confusion) Ceiling {
	if reason := m.refuse(Identity(len(m.labels))); reason != "" {
		return Ceiling{Undefined: reason}
	}
	if r := constant(m.rows, m.n); r >= 0 && r == constant(m.cols, m.n) {
		return Ceiling{Undefined: oneLabelInUse}
	}
	n := float64(m.n)
	po, pe := 0.0, 0.0
	for k := range m.labels {
		po += float64(min(m.rows[k], m.cols[k])) / n
		pe += float64(m.rows[k]) / n * float64(m.cols[k]) / n
	}
	return Ceiling{Agreement: po, Kappa: (po - pe) / (1 - pe)}
}

// Specific is the agreement on each label of the scale: 2 n_kk/(n_k. + n_.k),
// the F1 of that label against the rest (Fleiss 1975; Cicchetti & Feinstein
// 1990). Undefined for a label that nobody used. N is n_k. + n_.k, the number
// of times that either rater used it. There is no interval: its parts are not
// independent.
func Specific(m Confusion) []Estimate {
	out := make([]Estimate, len(m.labels))
	for k := range out {
		used := m.rows[k] + m.cols[k]
		if used == 0 {
			out[k] = undefined(0, "nobody used this label")
			continue
		}
		out[k] = Estimate{Value: 2 * float64(m.counts[k][k]) / float64(used), N: used}.
			withoutInterval("no interval is computed for the agreement on one label")
	}
	return out
}

// Indices are what makes kappa low where agreement is high: one label much
// commoner than the other (prevalence), or raters that use them unequally
// often (bias). Signed, in [-1,1].
type Indices struct {
	Prevalence float64 // (a-d)/n
	Bias       float64 // (b-c)/n
	PABAK      float64 // 2 po - 1: kappa with both indices set to 0
	// Undefined says why there are none.
	Undefined string
}

// PrevalenceBias gives the indices of a matrix of two labels (Byrt, Bishop &
// Carlin 1993); undefined for other scales and for an empty matrix.
func PrevalenceBias(m Confusion) Indices {
	switch {
	case len(m.labels) != 2:
		return Indices{Undefined: "prevalence and bias indices need a scale of two labels"}
	case m.n == 0:
		return Indices{Undefined: noPairs}
	}
	n := float64(m.n)
	return Indices{
		Prevalence: float64(m.counts[0][0]-m.counts[1][1]) / n,
		Bias:       float64(m.counts[0][1]-m.counts[1][0]) / n,
		PABAK:      2*float64(m.diag)/n - 1,
	}
}
