package drift

import (
	"fmt"
	"math"
)

// Prior is a Beta(A, B) over the rate that would replace the baseline; both above
// 0. Uniform weighs all rates alike.
type Prior struct{ A, B float64 }

// Uniform is Beta(1, 1).
var Uniform = Prior{1, 1}

// Evalue is the evidence against a frozen rate, as a logarithm: how many times
// better the prior's rates predicted what was seen. Its expectation is at most 1 at
// every time while the rate holds, so that it reaches 1/alpha with probability
// alpha at most, ever (Ville 1939; Robbins 1970).
type Evalue struct{ Log float64 }

// Value is the e-value; the largest number there is where it would be larger.
func (e Evalue) Value() float64 { return min(math.Exp(e.Log), math.MaxFloat64) }

// Alarms reports whether the e-value has reached 1/alpha.
func (e Evalue) Alarms(alpha float64) bool { return e.Log >= -math.Log(alpha) }

// BetaBinomial is the e-value of s successes in n tries against a rate of p0: B(a+s,
// b+n-s)/(B(a,b) p0^s (1-p0)^(n-s)), in logs. Feed it all labels since the baseline
// was frozen. The error says which number cannot be; p0 is in (0,1).
func BetaBinomial(s, n int, p0 float64, prior Prior) (Evalue, error) {
	if err := first(counts(s, n), inside("baseline rate", p0, 0, 1), prior.check()); err != nil {
		return Evalue{}, err
	}
	return Evalue{prior.mixture(float64(s), float64(n)) - likelihood(float64(s), float64(n), p0)}, nil
}

func counts(s, n int) error {
	if n < 0 || s < 0 || s > n {
		return fmt.Errorf("drift: %d of %d is not a share", s, n)
	}
	return nil
}

func (p Prior) check() error {
	return first(inside("prior", p.A, 0, math.Inf(1)), inside("prior", p.B, 0, math.Inf(1)))
}

// mixture is the log-likelihood under the prior.
func (p Prior) mixture(s, n float64) float64 {
	return logBeta(p.A+s, p.B+n-s) - logBeta(p.A, p.B)
}

func logBeta(a, b float64) float64 {
	x, _ := math.Lgamma(a)
	y, _ := math.Lgamma(b)
	z, _ := math.Lgamma(a + b)
	return x + y - z
}

// likelihood is s log p + (n-s) log(1-p), with 0 log 0 = 0.
func likelihood(s, n, p float64) float64 {
	v := 0.0
	if s > 0 {
		v += s * math.Log(p)
	}
	if n > s {
		v += (n - s) * math.Log1p(-p)
	}
	return v
}
