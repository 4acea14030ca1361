package rate

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/countersign/countersign/judge/agreement"
)

// Sample is a uniform random sample of labelled items and the rest: Y what people
// say of each labelled item, F what the judge says of it, Rest what the judge says
// of the items without a label. Numbers of any kind; 0 and 1 for verdicts.
type Sample struct {
	Y, F, Rest []float64
}

// Tuning decides how far the judge is trusted (lambda): 0 ignores it, 1 takes its
// word and corrects its bias.
type Tuning struct {
	lambda   func(Sample) float64
	unbiased bool // variances over n-1
}

// Fixed is a lambda that does not depend on the data. Fixed(1) is PPI, Fixed(0) the
// mean of the labels. Variances over n, as in ppi_py.
func Fixed(lambda float64) Tuning {
	return Tuning{lambda: func(Sample) float64 { return lambda }}
}

// PowerTuned is the lambda of PPI++ that makes the variance smallest, cov(Y,F) over
// (1+n/N) times the variance of all F, clipped to [0,1]: the convention of ppi_py
// and the one to use. Variances over n.
func PowerTuned() Tuning {
	return Tuning{lambda: func(s Sample) float64 {
		n, N := float64(len(s.Y)), float64(len(s.Rest))
		pooled := append(append([]float64(nil), s.F...), s.Rest...)
		below := (1 + n/N) * stat.Variance(pooled, nil)
		if !(below > 0) {
			return 0
		}
		return max(0, min(1, stat.Covariance(s.Y, s.F, nil)*(n-1)/n/below))
	}}
}

// PowerTunedUnclipped is the lambda of debiasLLMReporting (Chen et al. 2026):
// variances over n-1, labelled and other F apart, not clipped. For comparison.
func PowerTunedUnclipped() Tuning {
	return Tuning{unbiased: true, lambda: func(s Sample) float64 {
		n, N := float64(len(s.Y)), float64(len(s.Rest))
		below := stat.Variance(s.F, nil)
		if len(s.Rest) > 1 {
			below += n / N * stat.Variance(s.Rest, nil)
		}
		if !(below > 0) {
			return 0
		}
		return stat.Covariance(s.Y, s.F, nil) / below
	}}
}

// Powered is a prediction-powered mean beside the two it is made from.
type Powered struct {
	agreement.Estimate // the corrected mean, normal interval
	Lambda             float64
	Human              agreement.Estimate // the labels alone
	Judge              float64            // the judge alone, on all items
	// Gain is the variance of Human over that of the estimate: how many labels
	// one label counts for. It means nothing without intervals.
	Gain float64
}

// Helps reports whether the corrected interval is narrower than the human-only one.
func (p Powered) Helps() bool {
	return p.HasInterval() && p.Human.HasInterval() && p.SE < p.Human.SE
}

// PPI is mean(Y) + lambda (mean Rest - mean F), var = var(Y - lambda F)/n + lambda²
// var(Rest)/N (Angelopoulos et al. 2023, arXiv:2301.09633; PPI++: 2311.01453). The
// interval is normal and not clipped. Undefined without labels or without
// unlabelled verdicts, and for numbers that do not fit.
func PPI(s Sample, tuning Tuning, level float64) Powered {
	n := len(s.Y)
	refuse := func(reason string) Powered {
		return Powered{Estimate: undefined(n, reason), Human: undefined(n, reason)}
	}
	switch {
	case len(s.F) != n:
		return refuse(fmt.Sprintf("%d labels and %d verdicts on them do not make pairs", n, len(s.F)))
	case n == 0:
		return refuse(noLabelsAtAll)
	case len(s.Rest) == 0:
		return refuse(noUnlabelledVerdicts)
	case tuning.lambda == nil:
		return refuse("no tuning is given")
	}
	for _, side := range [][]float64{s.Y, s.F, s.Rest} {
		for i, v := range side {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return refuse(fmt.Sprintf("number %d is %v", i+1, v))
			}
		}
	}
	variance := func(x []float64) float64 {
		switch {
		case !tuning.unbiased:
			return stat.PopVariance(x, nil)
		case len(x) < 2:
			return 0
		}
		return stat.Variance(x, nil)
	}
	out := Powered{Human: agreement.Estimate{Value: stat.Mean(s.Y, nil), N: n}}
	out.Human.SE = math.Sqrt(variance(s.Y) / float64(n))
	out.Human = withNormal(out.Human, level)
	all := float64(n + len(s.Rest))
	restMean, labelledMean := stat.Mean(s.Rest, nil), stat.Mean(s.F, nil)
	out.Judge = (restMean*float64(len(s.Rest)) + labelledMean*float64(n)) / all
	lambda := 0.0
	if n > 1 {
		lambda = tuning.lambda(s)
	}
	out.Lambda = lambda
	off := make([]float64, n)
	for i := range off {
		off[i] = s.Y[i] - lambda*s.F[i]
	}
	out.Estimate = agreement.Estimate{N: n, Value: out.Human.Value + lambda*(restMean-labelledMean)}
	if n < 2 {
		out.NoInterval = "one label gives no interval"
		return out
	}
	out.SE = math.Sqrt(variance(off)/float64(n) + lambda*lambda*variance(s.Rest)/float64(len(s.Rest)))
	out.Estimate = withNormal(out.Estimate, level)
	if v := out.Value + out.SE + out.Human.Value + out.Human.SE + out.Judge + lambda; math.IsNaN(v) || math.IsInf(v, 0) {
		return refuse("the numbers are too large for the arithmetic")
	}
	if out.HasInterval() && out.Human.HasInterval() {
		out.Gain = out.Human.SE * out.Human.SE / (out.SE * out.SE)
	}
	return out
}
