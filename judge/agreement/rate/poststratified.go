package rate

import (
	"fmt"
	"math"

	"github.com/countersign/countersign/judge/agreement"
)

// Labelled counts what people said about items of one verdict.
type Labelled struct {
	True, All int
}

// PostStratified is sum over verdicts of P(verdict) × share true given the
// verdict (Tenenbein 1970; double sampling), with var = (m1-m0)² P(1-P)/N + (1-P)²
// m0(1-m0)/n0 + P² m1(1-m1)/n1 and a logit interval; P(1-P)/N is ShareVariance. flagged of judged items got
// verdict 1: all items that were judged, or (as in debiasLLMReporting) a random
// sample of them that has no labels; positive and negative are the labels on items of verdict 1 and 0,
// random within each. Undefined when a verdict that occurs has no label, and for
// counts that do not fit.
func PostStratified(flagged, judged int, positive, negative Labelled, level float64) agreement.Estimate {
	n := positive.All + negative.All
	for _, l := range []Labelled{positive, negative, {flagged, judged}} {
		if l.True < 0 || l.True > l.All {
			return undefined(n, fmt.Sprintf("%d of %d is not a share", l.True, l.All))
		}
	}
	share := func(l Labelled) verdictShare {
		if l.All == 0 {
			return verdictShare{}
		}
		m := float64(l.True) / float64(l.All)
		return verdictShare{l.All, m, m * (1 - m) / float64(l.All)}
	}
	return postStratified(flagged, judged, share(positive), share(negative), level)
}

// verdictShare is the share that is true among n labelled items of one verdict.
type verdictShare struct {
	n              int
	mean, variance float64
}

// ShareVariance is the variance of a share x of n, p(1-p)/n. That of none and of all
// would be 0, as if the next n could only be like these: it is that of (x+1)/(n+2), the
// share with one more of either kind (Laplace's), which is no more than that of
// one item otherwise.
func ShareVariance(x, n int) float64 {
	p := float64(x) / float64(n)
	if x == 0 || x == n {
		p = float64(x+1) / float64(n+2)
	}
	return p * (1 - p) / float64(n)
}

func postStratified(flagged, judged int, positive, negative verdictShare, level float64) agreement.Estimate {
	n := positive.n + negative.n
	if flagged < 0 || flagged > judged {
		return undefined(n, fmt.Sprintf("%d of %d is not a share", flagged, judged))
	}
	if judged == 0 {
		return undefined(n, "no item was judged")
	}
	p := float64(flagged) / float64(judged)
	if (flagged > 0 && positive.n == 0) || (flagged < judged && negative.n == 0) {
		return undefined(n, tooFewForAVerdict)
	}
	m1, v1, m0, v0 := positive.mean, positive.variance, negative.mean, negative.variance
	e := agreement.Estimate{N: n, Value: p*m1 + (1-p)*m0}
	// Where one verdict never occurs its share has no part in the rate, and one in how
	// sure it is: the next items may get it. Without labels, the worst is supposed.
	apart := m1 - m0
	switch {
	case positive.n == 0:
		apart = max(m0, 1-m0)
	case negative.n == 0:
		apart = max(m1, 1-m1)
	}
	e.SE = math.Sqrt(apart*apart*ShareVariance(flagged, judged) + (1-p)*(1-p)*v0 + p*p*v1)
	return withLogit(e, level)
}
