package forecast

import (
	"fmt"
	"math"

	"github.com/countersign/countersign/judge/agreement"
)

// Brier is the mean squared distance of probability and outcome (Brier 1950, in
// the form for two classes): 0 is perfect, always saying the base rate gives
// base × (1 - base). SE is that of a mean (n-1); the interval is left to a
// bootstrap.
func Brier(happened []bool, p []float64) agreement.Estimate {
	if reason := refuse(happened, p); reason != "" {
		return undefined(len(p), reason)
	}
	sum := 0.0
	for i, v := range p {
		sum += (v - one(happened[i])) * (v - one(happened[i]))
	}
	return agreement.Estimate{Value: sum / float64(len(p)), N: len(p), NoInterval: noInterval}
}

// LogLoss is the mean of -log of the probability given to what happened (Good
// 1952), in nats. Probabilities are kept clip away from 0 and 1, so that one
// certain error does not make it infinite; clip is above 0 and below 1/2
// (scikit-learn 1.2: 1e-15).
func LogLoss(happened []bool, p []float64, clip float64) agreement.Estimate {
	if reason := refuse(happened, p); reason != "" {
		return undefined(len(p), reason)
	}
	if !(clip > 0 && clip < 0.5) {
		return undefined(len(p), fmt.Sprintf("a clip of %v is not between 0 and 1/2", clip))
	}
	sum := 0.0
	for i, v := range p {
		v = max(clip, min(1-clip, v))
		if !happened[i] {
			v = 1 - v
		}
		sum -= math.Log(v)
	}
	return agreement.Estimate{Value: sum / float64(len(p)), N: len(p), NoInterval: noInterval}
}

// Split are Murphy's parts (1973): Brier = Reliability - Resolution + Uncertainty.
// Reliability is how far stated and observed frequencies lie apart (0 is best),
// Resolution how far the forecasts tell cases apart (more is better), Uncertainty
// base × (1 - base).
type Split struct {
	Brier, Reliability, Resolution, Uncertainty float64
	N                                           int
	Undefined                                   string
}

// Murphy groups by distinct probability, for which the sum is exact; for
// continuous confidences round them first, or nearly every group holds one case.
func Murphy(happened []bool, p []float64) Split {
	b := Brier(happened, p)
	s := Split{Brier: b.Value, N: b.N, Undefined: b.Undefined}
	if s.Undefined != "" {
		return s
	}
	type group struct{ n, hits float64 }
	groups := map[float64]*group{}
	var stated []float64 // in order of appearance, so that sums never differ
	base := 0.0
	for i, v := range p {
		g := groups[v]
		if g == nil {
			g = &group{}
			groups[v] = g
			stated = append(stated, v)
		}
		g.n++
		g.hits += one(happened[i])
		base += one(happened[i]) / float64(len(p))
	}
	for _, v := range stated {
		g := groups[v]
		rate, share := g.hits/g.n, g.n/float64(len(p))
		s.Reliability += share * (v - rate) * (v - rate)
		s.Resolution += share * (rate - base) * (rate - base)
	}
	s.Uncertainty = base * (1 - base)
	return s
}
