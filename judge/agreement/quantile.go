package agreement

import "math"

// zQuantile is the normal quantile of a two-sided level: 1.96 for 0.95.
func zQuantile(level float64) float64 { return math.Sqrt2 * math.Erfinv(level) }

// twoSidedP is the chance of a standard normal at least as far out as z.
func twoSidedP(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// tQuantile is Student's t quantile of a two-sided level, df > 0, through
// P(|T| > t) = I_x(df/2, 1/2) with x = df/(df+t²).
func tQuantile(level, df float64) float64 {
	x := betaQuantile(1-level, df/2, 0.5)
	return math.Sqrt(df * (1 - x) / x)
}

// betaQuantile is the x with I_x(a,b) = p, for p in [0,1] and a, b > 0. It
// bisects, so that it cannot run away, until no number lies between the bounds.
func betaQuantile(p, a, b float64) float64 {
	switch {
	case p <= 0:
		return 0
	case p >= 1:
		return 1
	}
	lo, hi := 0.0, 1.0
	for range 1100 { // enough halvings to reach the smallest number there is
		mid := lo + (hi-lo)/2
		if mid <= lo || mid >= hi {
			break
		}
		if betaIncomplete(mid, a, b) < p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo + (hi-lo)/2
}

// betaIncomplete is the regularised incomplete beta function I_x(a,b), by the
// continued fraction of Didonato & Morris (1992) evaluated by Lentz's method.
func betaIncomplete(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - betaIncomplete(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a

	const tiny = 1e-300
	away := func(v float64) float64 {
		if math.Abs(v) < tiny {
			return tiny
		}
		return v
	}
	c, d := 1.0, 1/away(1-(a+b)*x/(a+1))
	f := d
	for m := 1.0; m < 1e6; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / away(1+even*d)
		c = away(1 + even/c)
		f *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / away(1+odd*d)
		c = away(1 + odd/c)
		step := d * c
		f *= step
		if math.Abs(step-1) < 1e-16 {
			break
		}
	}
	return front * f
}

// gammaUpper is the regularised upper incomplete gamma function Q(a,x) for
// a > 0: by its series below a+1, by its continued fraction above (Lentz).
func gammaUpper(a, x float64) float64 {
	if x <= 0 {
		return 1
	}
	lg, _ := math.Lgamma(a)
	front := math.Exp(a*math.Log(x) - x - lg)
	if x < a+1 {
		term, sum := 1/a, 1/a
		for k := 1.0; k < 1e6 && term > sum*1e-17; k++ {
			term *= x / (a + k)
			sum += term
		}
		return 1 - front*sum
	}
	const tiny = 1e-300
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	f := d
	for k := 1.0; k < 1e6; k++ {
		an := -k * (k - a)
		b += 2
		d = an*d + b
		if math.Abs(d) < tiny {
			d = tiny
		}
		c = b + an/c
		if math.Abs(c) < tiny {
			c = tiny
		}
		d = 1 / d
		step := d * c
		f *= step
		if math.Abs(step-1) < 1e-16 {
			break
		}
	}
	return front * f
}
