package agreement

import (
	"encoding/json"
	"math"
)

// MultiAgreement is the mean over items with two or more labels of the share of
// agreeing pairs of raters, with the SE and t interval of Gwet (2014). N counts
// the items with any label.
func MultiAgreement(it Items, level float64) Estimate {
	return multi(it, Identity(len(it.labels)), level, func([]int) itemModel {
		return itemModel{}
	}).Estimate
}

// MultiGwetAC is AC1 (Identity weights; Gwet 2008) or AC2 (2014) for any number
// of raters, some of whom may be missing.
func MultiGwetAC(it Items, w Weights, level float64) Coefficient {
	return multi(it, w, level, func(rated []int) itemModel {
		p, q := it.shares(rated), float64(len(it.labels))
		t := w.sum() / (q * (q - 1))
		pe := 0.0
		for _, v := range p {
			pe += t * v * (1 - v)
		}
		return itemModel{pe, func(i int) float64 {
			e := 0.0
			for k, c := range it.counts[i] {
				e += t * (1 - p[k]) * float64(c) / float64(it.given[i])
			}
			return e
		}}
	})
}

// MultiScottPi is Fleiss' generalisation of Scott's pi to any number of raters,
// weighted unless w is Identity, with the SE of Gwet (2014) that is fit for
// intervals. For the classical test use FleissKappa.
func MultiScottPi(it Items, w Weights, level float64) Coefficient {
	return multi(it, w, level, func(rated []int) itemModel {
		p := it.shares(rated)
		wp := make([]float64, len(p))
		pe := 0.0
		for k := range p {
			for l := range p {
				wp[k] += w[k][l] * p[l]
			}
			pe += p[k] * wp[k]
		}
		return itemModel{pe, func(i int) float64 {
			e := 0.0
			for k, c := range it.counts[i] {
				e += wp[k] * float64(c) / float64(it.given[i])
			}
			return e
		}}
	})
}

// MultiBrennanPrediger is Brennan-Prediger for any number of raters, weighted
// unless w is Identity (Gwet 2014); Randolph's free-marginal kappa (2005).
func MultiBrennanPrediger(it Items, w Weights, level float64) Coefficient {
	return multi(it, w, level, func([]int) itemModel {
		q := float64(len(it.labels))
		return itemModel{pe: w.sum() / (q * q)}
	})
}

// Fleiss is Fleiss' kappa with its test against 0 and the kappa of each label.
type Fleiss struct {
	Coefficient
	// SE0 and Z test kappa = 0 (Fleiss, Nee & Landis 1979). SE0 must not be
	// used for an interval: Low and High come from MultiScottPi.
	SE0, Z float64
	// PerLabel is kappa of each label of the scale against the rest, nil where
	// nobody used it or everybody used nothing else.
	PerLabel []*float64
}

// FleissKappa is Fleiss' kappa (1971) for items that all have the same number
// of labels, two or more; undefined otherwise and where one label was used
// throughout. Value and interval are those of MultiScottPi.
func FleissKappa(it Items, level float64) Fleiss {
	m := 0
	for i, g := range it.given {
		if i == 0 {
			m = g
		}
		if g != m {
			return Fleiss{Coefficient: Coefficient{Estimate: undefined(len(it.given),
				"the items do not all have the same number of labels")}}
		}
	}
	f := Fleiss{
		Coefficient: MultiScottPi(it, Identity(len(it.labels)), level),
		PerLabel:    make([]*float64, len(it.labels)),
	}
	if !f.Defined() {
		return f
	}
	n, r := float64(len(it.given)), float64(m)
	spread, skew := 0.0, 0.0 // S = sum pq, sum pq(q-p)
	for k := range it.labels {
		total, split := 0.0, 0.0
		for i := range it.counts {
			c := float64(it.counts[i][k])
			total += c
			split += c * (r - c)
		}
		p := total / (n * r)
		q := 1 - p
		spread += p * q
		skew += p * q * (q - p)
		if total > 0 && total < n*r {
			v := 1 - split/(n*r*(r-1)*p*q)
			f.PerLabel[k] = &v
		}
	}
	f.SE0 = math.Sqrt2 / (spread * math.Sqrt(n*r*(r-1))) * math.Sqrt(spread*spread-skew)
	f.Z = f.Value / f.SE0
	return f
}

// MarshalJSON writes the coefficient's fields with se0, z and per_label.
func (f Fleiss) MarshalJSON() ([]byte, error) {
	out := struct {
		coefficientJSON
		SE0      *float64   `json:"se0"`
		Z        *float64   `json:"z"`
		PerLabel []*float64 `json:"per_label"`
	}{coefficientJSON: f.Coefficient.wire(), PerLabel: f.PerLabel}
	if f.Defined() {
		out.SE0, out.Z = &f.SE0, &f.Z
	}
	return json.Marshal(out)
}
