package rate

import (
	"math"

	"github.com/countersign/countersign/judge/agreement"
)

// Drawn sums labels that were drawn with known probabilities, each with the weight
// one over its probability (Horvitz & Thompson 1952). The zero value has none.
type Drawn struct {
	n, trueN                  int
	weight, squares           float64
	trueWeight, trueOfSquares float64
}

// Add counts n labels that were each drawn with this probability, in (0,1]; holds
// says whether they are true of their items.
func (d *Drawn) Add(holds bool, probability float64, n int) {
	w := 1 / probability
	d.n += n
	d.weight += float64(n) * w
	d.squares += float64(n) * w * w
	if holds {
		d.trueN += n
		d.trueWeight += float64(n) * w
		d.trueOfSquares += float64(n) * w * w
	}
}

// N is the number of labels.
func (d Drawn) N() int { return d.n }

// EffectiveN is Kish's (sum w)²/sum w² (1965); 0 without labels.
func (d Drawn) EffectiveN() float64 {
	if d.n == 0 {
		return 0
	}
	return d.weight * d.weight / d.squares
}

// Plus joins two sums of different labels.
func (d Drawn) Plus(o Drawn) Drawn {
	return Drawn{d.n + o.n, d.trueN + o.trueN, d.weight + o.weight, d.squares + o.squares, d.trueWeight + o.trueWeight, d.trueOfSquares + o.trueOfSquares}
}

// mean is Hájek's share with its linearised variance, sum w²(y-m)²/(sum w)²: m(1-m)/n
// for equal weights.
func (d Drawn) mean() (m, v float64) {
	if d.n == 0 {
		return 0, 0
	}
	m = d.trueWeight / d.weight
	return m, (d.trueOfSquares*(1-m)*(1-m) + (d.squares-d.trueOfSquares)*m*m) / (d.weight * d.weight)
}

// Share is the weighted share of labels that are true, with a logit interval.
// Undefined without labels.
func (d Drawn) Share(level float64) agreement.Estimate {
	if d.n == 0 {
		return undefined(0, "no item has a label")
	}
	m, v := d.mean()
	return withLogit(agreement.Estimate{N: d.n, Value: m, SE: math.Sqrt(v)}, level)
}

// PostStratifiedDrawn is PostStratified for labels that within a verdict too were
// drawn with unequal probabilities: each verdict's share is Hájek's, with its
// linearised variance. The same figures for equal ones.
func PostStratifiedDrawn(flagged, judged int, positive, negative Drawn, level float64) agreement.Estimate {
	m1, v1 := positive.mean()
	m0, v0 := negative.mean()
	return postStratified(flagged, judged, verdictShare{positive.n, m1, v1}, verdictShare{negative.n, m0, v0}, level)
}

// TrueN is how many of the labels are true.
func (d Drawn) TrueN() int { return d.trueN }
