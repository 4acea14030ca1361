package scores

import (
	"fmt"
	"math"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/internal/beta"
)

// Intraclass are the intraclass correlations of n items scored by k raters.
// The number in the name is the model: 1 each item has its own raters, 2 the
// raters are a sample and their harshness counts (absolute agreement), 3 only
// these raters matter and their harshness is forgiven (consistency). Single is the
// reliability of one rater, Mean that of the mean of all k.
type Intraclass struct {
	Single1, Single2, Single3 agreement.Estimate
	Mean1, Mean2, Mean3       agreement.Estimate
}

// ICC takes items (rows) by raters (columns), NaN for a missing score, and leaves
// out items where any is missing, as R's irr does; N counts those that stay.
// Values from the mean squares of the two-way analysis of variance (Shrout &
// Fleiss 1979), intervals from the F distribution (Shrout & Fleiss 1979; McGraw &
// Wong 1996). An estimate can be negative. There is no standard error: SE is 0 and
// the interval is not made from it. Undefined with fewer than two items or raters,
// when all scores are equal, and for an infinite score.
func ICC(rows [][]float64, level float64) Intraclass {
	var complete [][]float64
	k := 0
	for i, row := range rows {
		if i == 0 {
			k = len(row)
		}
		if len(row) != k {
			return all(undefined(len(rows), fmt.Sprintf("item %d has %d scores where item 1 has %d", i+1, len(row), k)))
		}
		missing := false
		for _, v := range row {
			if math.IsInf(v, 0) {
				return all(undefined(len(rows), fmt.Sprintf("item %d has an infinite score", i+1)))
			}
			missing = missing || math.IsNaN(v)
		}
		if !missing {
			complete = append(complete, row)
		}
	}
	n := len(complete)
	switch {
	case n < 2:
		return all(undefined(n, "fewer than two items were scored by every rater"))
	case k < 2:
		return all(undefined(n, "there are fewer than two raters"))
	}
	i := squares(complete, n, k).intraclass(level)
	return Intraclass{settled(i.Single1), settled(i.Single2), settled(i.Single3), settled(i.Mean1), settled(i.Mean2), settled(i.Mean3)}
}

func all(e agreement.Estimate) Intraclass { return Intraclass{e, e, e, e, e, e} }

// anova are the mean squares between items and between raters, within items, and
// of what is left.
type anova struct {
	n, k                         float64
	items, raters, within, error float64
}

func squares(rows [][]float64, n, k int) anova {
	a := anova{n: float64(n), k: float64(k)}
	byRater := make([]float64, k)
	grand := 0.0
	means := make([]float64, n)
	for i, row := range rows {
		for j, v := range row {
			means[i] += v / a.k
			byRater[j] += v / a.n
		}
		grand += means[i] / a.n
	}
	for i, row := range rows {
		a.items += (means[i] - grand) * (means[i] - grand)
		for j, v := range row {
			w := v - means[i]
			a.within += w * w
			e := v - means[i] - byRater[j] + grand
			a.error += e * e
		}
	}
	for _, m := range byRater {
		a.raters += (m - grand) * (m - grand)
	}
	a.items *= a.k / (a.n - 1)
	a.raters *= a.n / (a.k - 1)
	a.within /= a.n * (a.k - 1)
	a.error /= (a.n - 1) * (a.k - 1)
	return a
}

func (a anova) intraclass(level float64) Intraclass {
	n, k := a.n, a.k
	ratio := func(over, under float64) agreement.Estimate {
		if !(under > 0) {
			return undefined(int(n), "the scores do not differ from item to item")
		}
		return agreement.Estimate{Value: over / under, N: int(n)}
	}
	out := Intraclass{
		Single1: ratio(a.items-a.within, a.items+(k-1)*a.within),
		Mean1:   ratio(a.items-a.within, a.items),
		Single2: ratio(a.items-a.error, a.items+(k-1)*a.error+k*(a.raters-a.error)/n),
		Mean2:   ratio(a.items-a.error, a.items+(a.raters-a.error)/n),
		Single3: ratio(a.items-a.error, a.items+(k-1)*a.error),
		Mean3:   ratio(a.items-a.error, a.items),
	}
	if !goodLevel(level) {
		return out.without(badLevel(level))
	}
	if !(a.error > 0) || !(a.within > 0) || !(a.items > 0) {
		return out.without("the scores leave no spread to make an interval from")
	}
	p := (1 + level) / 2
	// One-way and consistency: the F of items over what is within or left.
	byF := func(f, d1, d2 float64) (low, high float64) {
		return f / beta.FQuantile(p, d1, d2), f * beta.FQuantile(p, d2, d1)
	}
	low, high := byF(a.items/a.within, n-1, n*(k-1))
	out.Single1 = between(out.Single1, (low-1)/(low+k-1), (high-1)/(high+k-1))
	out.Mean1 = between(out.Mean1, 1-1/low, 1-1/high)
	low, high = byF(a.items/a.error, n-1, (n-1)*(k-1))
	out.Single3 = between(out.Single3, (low-1)/(low+k-1), (high-1)/(high+k-1))
	out.Mean3 = between(out.Mean3, 1-1/low, 1-1/high)
	// Absolute agreement: Satterthwaite's degrees of freedom.
	if !out.Single2.Defined() {
		return out
	}
	r, f := out.Single2.Value, a.raters/a.error
	rest := n*(1+(k-1)*r) - k*r
	v := (k - 1) * (n - 1) * (k*r*f + rest) * (k*r*f + rest) / ((n-1)*k*k*r*r*f*f + rest*rest)
	up, down := beta.FQuantile(p, n-1, v), beta.FQuantile(p, v, n-1)
	side := k*a.raters + (k*n-k-n)*a.error
	low = n * (a.items - up*a.error) / (up*side + n*a.items)
	high = n * (down*a.items - a.error) / (side + n*down*a.items)
	out.Single2 = between(out.Single2, low, high)
	if 1+low*(k-1) <= 0 {
		if out.Mean2.Defined() {
			out.Mean2.NoInterval = "the lower bound for one rater is so low that a mean of several has none"
		}
		return out
	}
	out.Mean2 = between(out.Mean2, low*k/(1+low*(k-1)), high*k/(1+high*(k-1)))
	return out
}

func between(e agreement.Estimate, low, high float64) agreement.Estimate {
	if !e.Defined() {
		return e
	}
	if !finite(low) || !finite(high) {
		e.NoInterval = "the scores leave no spread to make an interval from"
		return e
	}
	e.Low, e.High, e.Method = low, high, MethodF
	return e
}

func (i Intraclass) without(reason string) Intraclass {
	for _, e := range []*agreement.Estimate{&i.Single1, &i.Single2, &i.Single3, &i.Mean1, &i.Mean2, &i.Mean3} {
		if e.Defined() {
			e.NoInterval = reason
		}
	}
	return i
}
