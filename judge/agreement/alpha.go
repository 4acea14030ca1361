package agreement

import (
	"encoding/json"
	"fmt"
	"math"
)

// Metric is the level of measurement of a scale: what the difference of two
// labels means to Krippendorff's alpha.
type Metric string

// Metrics, with the squared difference that each stands for.
const (
	MetricNominal  Metric = "nominal"  // 0 if the same, else 1
	MetricOrdinal  Metric = "ordinal"  // (labels given from c to k, half of the ends)²
	MetricInterval Metric = "interval" // (c-k)²
	MetricRatio    Metric = "ratio"    // ((c-k)/(c+k))²
)

// Alpha is Krippendorff's alpha, 1 - Observed/Expected.
type Alpha struct {
	Estimate
	// Observed and Expected disagreement, in the unit of the squared
	// difference. They mean nothing when Pairable is 0.
	Observed, Expected float64
	// Pairable is the number of labels on items that have two or more; N is
	// the number of those items.
	Pairable int
}

// KrippendorffAlpha is alpha for any number of raters with gaps, from the
// coincidence matrix (Krippendorff 1980, 2011; Hayes & Krippendorff 2007).
// values are the numbers behind the labels, in the order of the scale; they
// are needed for interval and ratio (there none negative) and ignored for the
// others. There is no standard error here: resample
// draws one, and KrippendorffGwet has one in closed form.
//
// Undefined when no item has two labels, when all labels are the same, and for
// a metric or values that do not fit.
func KrippendorffAlpha(it Items, metric Metric, values []float64) Alpha {
	return KrippendorffAlphaTimes(it, nil, metric, values)
}

// KrippendorffAlphaTimes is KrippendorffAlpha where item i counts times[i] times, 0
// or more; nil: once each. It is how rows that occur often are counted once.
func KrippendorffAlphaTimes(it Items, times []int, metric Metric, values []float64) Alpha {
	return AlphaByTimes(it, metric, values)(times)
}

// AlphaByTimes prepares KrippendorffAlphaTimes for many computations over the same
// items, as a bootstrap makes them. The result is not safe for concurrent use.
func AlphaByTimes(it Items, metric Metric, values []float64) func(times []int) Alpha {
	q := len(it.labels)
	type given struct{ label, count int }
	type unit struct {
		at    int // item
		m     int // labels given
		given []given
	}
	var units []unit // items with two or more labels
	for i, row := range it.counts {
		if it.given[i] < 2 {
			continue
		}
		u := unit{at: i, m: it.given[i]}
		for k, c := range row {
			if c > 0 {
				u.given = append(u.given, given{k, c})
			}
		}
		units = append(units, u)
	}
	total := make([]float64, q) // n_c: labels of this kind on paired items
	return func(times []int) Alpha {
		a := Alpha{}
		if times != nil && len(times) != len(it.counts) {
			a.Undefined = fmt.Sprintf("%d items with %d numbers of times", len(it.counts), len(times))
			return a
		}
		often := func(u unit) int {
			if times == nil {
				return 1
			}
			return times[u.at]
		}
		clear(total)
		for _, u := range units {
			f := often(u)
			if f <= 0 {
				continue
			}
			a.N += f
			a.Pairable += f * u.m
			for _, g := range u.given {
				total[g.label] += float64(f * g.count)
			}
		}
		difference, bad := squaredDifference(metric, values, total)
		switch {
		case bad != "":
			a.Undefined = bad
			return a
		case a.Pairable == 0:
			a.Undefined = "no item has two labels"
			return a
		}
		n := float64(a.Pairable)
		for _, u := range units {
			f := often(u)
			if f <= 0 || len(u.given) < 2 {
				continue
			}
			within := 0.0
			for i, c := range u.given {
				for _, k := range u.given[:i] {
					within += 2 * float64(c.count) * float64(k.count) * difference(c.label, k.label)
				}
			}
			a.Observed += float64(f) * within / float64(u.m-1) / n
		}
		for c := range total {
			for k := range c {
				if total[c] > 0 && total[k] > 0 {
					a.Expected += 2 * total[c] * total[k] * difference(c, k) / (n * (n - 1))
				}
			}
		}
		kinds := 0
		for _, t := range total {
			if t > 0 {
				kinds++
			}
		}
		return a.fromDisagreements(kinds > 1)
	}
}

// leastDisagreement is where squares of differences begin to lose their digits.
const leastDisagreement = 1e-280

// fromDisagreements is alpha once both are summed; differ says that not all labels are
// the same, whatever their differences come to in floating point.
func (a Alpha) fromDisagreements(differ bool) Alpha {
	switch {
	case !differ:
		a.Undefined = "all labels are the same, so there is nothing to disagree about"
	case !(a.Expected >= leastDisagreement) || math.IsInf(a.Expected, 0):
		a.Undefined = notFinite
	default:
		a.Value = 1 - a.Observed/a.Expected
		a.Estimate = a.withoutInterval("the interval of alpha comes from a bootstrap over items").Finite()
	}
	return a
}

// squaredDifference is the metric as a function of two labels, c after k.
func squaredDifference(metric Metric, values, total []float64) (func(c, k int) float64, string) {
	switch metric {
	case MetricNominal:
		return func(int, int) float64 { return 1 }, ""
	case MetricOrdinal:
		// The labels from k to c less half of both ends are the distance of
		// their mean ranks.
		rank, before := make([]float64, len(total)), 0.0
		for g, t := range total {
			rank[g] = before + t/2
			before += t
		}
		return func(c, k int) float64 { d := rank[c] - rank[k]; return d * d }, ""
	case MetricInterval, MetricRatio:
	default:
		return nil, fmt.Sprintf("level %q is not nominal, ordinal, interval or ratio", metric)
	}
	if len(values) != len(total) {
		return nil, fmt.Sprintf("level %s needs a number for each label", metric)
	}
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) || (metric == MetricRatio && v < 0) {
			return nil, fmt.Sprintf("%v cannot be a value at level %s", v, metric)
		}
	}
	if metric == MetricInterval {
		return func(c, k int) float64 { d := values[c] - values[k]; return d * d }, ""
	}
	return func(c, k int) float64 {
		if values[c] == values[k] {
			return 0
		}
		d := (values[c] - values[k]) / (values[c] + values[k])
		return d * d
	}, ""
}

// KrippendorffGwet is alpha in the form of Gwet (2014): from agreement weights
// over items with two or more labels, with the SE of his linearisation and the
// t interval. With Identity weights its value is that of MetricNominal, with
// Quadratic ones that of MetricInterval for values evenly spaced.
func KrippendorffGwet(it Items, w Weights, level float64) Coefficient {
	var paired []int
	labels := 0
	for i, g := range it.given {
		if g > 1 {
			paired = append(paired, i)
			labels += g
		}
	}
	n := len(paired)
	switch {
	case n == 0:
		return Coefficient{Estimate: undefined(0, "no item has two labels")}
	case len(it.labels) < 2:
		return Coefficient{Estimate: undefined(n, noOtherLabel)}
	case !w.fits(len(it.labels)):
		return Coefficient{Estimate: undefined(n, "the weights are not for this scale")}
	}
	mean := float64(labels) / float64(n) // labels for each item
	p := make([]float64, len(it.labels))
	agreed := make([]float64, n)
	raw, perfect := 0.0, true
	for at, i := range paired {
		g := float64(it.given[i])
		agreed[at] = it.observed(i, w) * g / mean
		raw += agreed[at] / float64(n)
		perfect = perfect && it.unanimous(i)
		for k, c := range it.counts[i] {
			p[k] += float64(c) / float64(labels)
		}
	}
	if perfect {
		raw = 1
	}
	wp := make([]float64, len(p))
	pe := 0.0
	for k := range p {
		for l := range p {
			wp[k] += w[k][l] * p[l]
		}
		pe += p[k] * wp[k]
	}
	epsilon := 1 / float64(labels)
	pa := (1-epsilon)*raw + epsilon
	out := Coefficient{Estimate: Estimate{N: n}, Observed: pa, Expected: pe}
	if 1-pe < 1e-12 {
		out.Undefined = "all labels are the same, so there is nothing to disagree about"
		return out
	}
	out.Value = (pa - pe) / (1 - pe)
	if n < 2 {
		out.Estimate = out.withoutInterval("one item gives no interval")
		return out
	}
	v := (raw - pe) / (1 - pe)
	sum := 0.0
	for at, i := range paired {
		extra := (float64(it.given[i]) - mean) / mean
		chance := 0.0
		for k, c := range it.counts[i] {
			chance += wp[k] * float64(c) / mean
		}
		u := (agreed[at]-raw*extra-pe)/(1-pe) - 2*(1-v)*(chance-pe*extra-pe)/(1-pe)
		sum += (u - v) * (u - v)
	}
	out.SE = math.Sqrt(sum / float64(n) / float64(n-1))
	if perfect {
		out.Estimate = out.atOne(level)
		return out
	}
	// The degrees of freedom count items with one label too, as irrCAC does.
	out.N = it.N()
	out.Estimate = out.withStudent(level)
	out.N = n
	return out
}

// MarshalJSON writes the estimate's fields with observed_disagreement,
// expected_disagreement and pairable.
func (a Alpha) MarshalJSON() ([]byte, error) {
	out := struct {
		Figure
		Observed *float64 `json:"observed_disagreement"`
		Expected *float64 `json:"expected_disagreement"`
		Pairable int      `json:"pairable"`
	}{Figure: a.Figure(), Pairable: a.Pairable}
	if a.Pairable > 0 && a.Defined() {
		out.Observed, out.Expected = &a.Observed, &a.Expected
	}
	return json.Marshal(out)
}
