package agreement_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/classifier"
	"github.com/countersign/countersign/judge/agreement/drift"
	"github.com/countersign/countersign/judge/agreement/forecast"
	"github.com/countersign/countersign/judge/agreement/rate"
	"github.com/countersign/countersign/judge/agreement/samplesize"
	"github.com/countersign/countersign/judge/agreement/sampling"
	"github.com/countersign/countersign/judge/agreement/scores"
)

// trials runs a check on many random cases, the same ones in every run.
func trials(t *testing.T, n int, check func(r *rand.Rand)) {
	t.Helper()
	r := rand.New(rand.NewPCG(6, 28))
	for range n {
		check(r)
		if t.Failed() {
			return
		}
	}
}

func within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s: %v, want %v within %g", what, got, want, tol)
	}
}

// pairsOf are random pairs of labels 0..q-1, of any agreement.
func pairsOf(r *rand.Rand, n, q int) (x, y []int) {
	for range n {
		a := r.IntN(q)
		b := a
		if r.Float64() < 0.4 {
			b = r.IntN(q)
		}
		x, y = append(x, a), append(y, b)
	}
	return x, y
}

// table counts pairs of labels 0..q-1.
func table(t *testing.T, q int, x, y []int) agreement.Confusion {
	t.Helper()
	counts := make([][]int, q)
	for i := range counts {
		counts[i] = make([]int, q)
	}
	for i := range x {
		counts[x[i]][y[i]]++
	}
	return matrix(t, counts)
}

func numbers(x []int) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = float64(v)
	}
	return out
}

// Quadratic kappa is 2 s_xy/(s_x² + s_y² + shift²) with variances over n, which is
// Lin's concordance exactly, and ICC(2,1) but for terms of order 1/n (Fleiss & Cohen
// 1973).
func TestQuadraticKappaIsConcordance(t *testing.T) {
	trials(t, 50, func(r *rand.Rand) {
		q := 3 + r.IntN(5)
		x, y := pairsOf(r, 2000, q)
		k := agreement.CohenKappa(table(t, q, x, y), agreement.Quadratic(q), 0.95).Value
		within(t, "Lin's concordance", scores.LinCCC(numbers(x), numbers(y), 0.95).Value, k, 1e-10)
		var rows [][]float64
		for i := range x {
			rows = append(rows, []float64{float64(x[i]), float64(y[i])})
		}
		within(t, "ICC(2,1)", scores.ICC(rows, 0.95).Single2.Value, k, 2e-3)
	})
}

// Conger's kappa of two raters is Cohen's, with n-1 for n in the variance; with any
// weights.
func TestCongerOfTwoIsCohen(t *testing.T) {
	trials(t, 50, func(r *rand.Rand) {
		q := 2 + r.IntN(4)
		x, y := pairsOf(r, 60, q)
		codes := make([]int32, 0, 2*len(x))
		for i := range x {
			codes = append(codes, int32(x[i]), int32(y[i]))
		}
		rs, err := agreement.CodedRatings(numbered(q), 2, codes)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range []agreement.Weights{agreement.Identity(q), agreement.Linear(q), agreement.Quadratic(q)} {
			cohen, conger := agreement.CohenKappa(table(t, q, x, y), w, 0.95), agreement.CongerKappa(rs, w, 0.95)
			within(t, "value", conger.Value, cohen.Value, 1e-12)
			within(t, "SE", conger.SE, cohen.SE*math.Sqrt(60.0/59), 1e-12)
		}
		within(t, "Light", agreement.LightKappa(rs, agreement.Identity(q)).Value, agreement.CohenKappa(table(t, q, x, y), agreement.Identity(q), 0.95).Value, 1e-12)
	})
}

// The mean of u_i is the coefficient, so its linearised SE and the jackknife's agree
// for large n, with missing ratings too.
func TestCongerSEIsTheJackknifes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n, raters, q = 400, 4, 3
	codes := make([]int32, n*raters)
	for i := range n {
		truth := r.IntN(q)
		for g := range raters {
			k := int32(truth)
			if r.Float64() < 0.2+0.1*float64(g) {
				k = int32(r.IntN(q))
			}
			if r.Float64() < 0.25 {
				k = -1
			}
			codes[i*raters+g] = k
		}
	}
	of := func(without int) agreement.Coefficient {
		left := append([]int32(nil), codes[:without*raters]...)
		if without < n {
			left = append(left, codes[(without+1)*raters:]...)
		}
		rs, err := agreement.CodedRatings(numbered(q), raters, left)
		if err != nil {
			t.Fatal(err)
		}
		return agreement.CongerKappa(rs, agreement.Linear(q), 0.95)
	}
	mean, square := 0.0, 0.0
	values := make([]float64, n)
	for i := range n {
		values[i] = of(i).Value
		mean += values[i] / n
	}
	for _, v := range values {
		square += (v - mean) * (v - mean)
	}
	se := math.Sqrt(float64(n-1) / n * square)
	if got := of(n).SE; math.Abs(got/se-1) > 0.03 {
		t.Errorf("linearised SE %v, jackknife %v", got, se)
	}
}

func TestCochranOfTwoIsMcNemar(t *testing.T) {
	trials(t, 50, func(r *rand.Rand) {
		var right [][]bool
		b, c := 0, 0
		for range 5 + r.IntN(40) {
			x, y := r.IntN(2) == 0, r.IntN(3) == 0
			right = append(right, []bool{x, y})
			if x && !y {
				b++
			}
			if y && !x {
				c++
			}
		}
		q, m := agreement.CochranQ(right), agreement.McNemar(b, c).Plain
		if (q.Undefined == "") != (m.Undefined == "") {
			t.Fatalf("%+v and %+v", q, m)
		}
		within(t, "chi-square", q.Value, m.Value, 1e-10)
		within(t, "p", q.P, m.P, 1e-12)
	})
}

func TestEqualWeightsAreNoWeights(t *testing.T) {
	trials(t, 50, func(r *rand.Rand) {
		q := 2 + r.IntN(4)
		x, y := pairsOf(r, 30+r.IntN(50), q)
		var drawn []sampling.Label
		p := 0.05 + 0.95*r.Float64()
		for i := range x {
			drawn = append(drawn, sampling.Label{Human: x[i], Judge: y[i], Probability: p})
		}
		weighted, err := sampling.Weigh(numbered(q), drawn)
		if err != nil {
			t.Fatal(err)
		}
		m := table(t, q, x, y)
		for _, w := range []agreement.Weights{agreement.Identity(q), agreement.Linear(q)} {
			within(t, "kappa", weighted.Kappa(w).Value, agreement.CohenKappa(m, w, 0.95).Value, 1e-10)
		}
		within(t, "agreement", weighted.Agreement().Value, agreement.Agreement(m, 0.95).Value, 1e-12)
		within(t, "effective n", weighted.EffectiveN(), float64(len(x)), 1e-6)
		k := r.IntN(q)
		one := m.OneVersusRest(k).Counts()
		f, err := classifier.Counts{TruePositive: one[0][0], FalseNegative: one[0][1], FalsePositive: one[1][0], TrueNegative: one[1][1]}.Measure(0.95)
		if err != nil {
			t.Fatal(err)
		}
		s, err := weighted.OneVersusRest(k)
		if err != nil {
			t.Fatal(err)
		}
		for _, pair := range [][2]agreement.Estimate{
			{s.Sensitivity, f.Sensitivity}, {s.Specificity, f.Specificity}, {s.PPV, f.PPV}, {s.NPV, f.NPV}, {s.Accuracy, f.Accuracy}, {s.Prevalence, f.Prevalence},
		} {
			if pair[0].Defined() != pair[1].Defined() {
				t.Errorf("%+v and %+v", pair[0], pair[1])
			}
			within(t, "share", pair[0].Value, pair[1].Value, 1e-10)
		}
	})
}

// Begg and Greenes's sensitivity is that of the weighted table.
func TestBeggGreenesIsWeighting(t *testing.T) {
	trials(t, 100, func(r *rand.Rand) {
		all := sampling.Verdicts{
			Flagged: sampling.Reviewed{Bad: 1 + r.IntN(50), Good: 1 + r.IntN(50), Unreviewed: r.IntN(100)},
			Passed:  sampling.Reviewed{Bad: 1 + r.IntN(9), Good: 1 + r.IntN(50), Unreviewed: r.IntN(900)},
		}
		u := sampling.BeggGreenes(all.Flagged, all.Passed, 0.95)
		w, err := all.Table()
		if err != nil {
			t.Fatal(err)
		}
		s, err := w.OneVersusRest(0)
		if err != nil {
			t.Fatal(err)
		}
		within(t, "sensitivity", u.Sensitivity.Value, s.Sensitivity.Value, 1e-12)
		within(t, "specificity", u.Specificity.Value, s.Specificity.Value, 1e-12)
		within(t, "prevalence", u.Prevalence.Value, s.Prevalence.Value, 1e-12)
	})
}

func TestPPIWithoutTrustIsTheMeanOfLabels(t *testing.T) {
	trials(t, 50, func(r *rand.Rand) {
		var s rate.Sample
		for range 5 + r.IntN(50) {
			s.Y, s.F = append(s.Y, r.NormFloat64()), append(s.F, r.NormFloat64())
		}
		for range 5 + r.IntN(50) {
			s.Rest = append(s.Rest, r.NormFloat64())
		}
		p := rate.PPI(s, rate.Fixed(0), 0.95)
		same(t, "lambda 0", p.Estimate, p.Human)
	})
}

// With full labels of both verdicts post-stratification is the plain share.
func TestPostStratifiedOfAllIsTheShare(t *testing.T) {
	trials(t, 50, func(r *rand.Rand) {
		pos, neg := rate.Labelled{All: 1 + r.IntN(50)}, rate.Labelled{All: 1 + r.IntN(50)}
		pos.True, neg.True = r.IntN(pos.All+1), r.IntN(neg.All+1)
		e := rate.PostStratified(pos.All, pos.All+neg.All, pos, neg, 0.95)
		within(t, "rate", e.Value, float64(pos.True+neg.True)/float64(pos.All+neg.All), 1e-12)
	})
}

func TestBrierIsItsParts(t *testing.T) {
	trials(t, 50, func(r *rand.Rand) {
		var y []bool
		var p []float64
		for range 10 + r.IntN(100) {
			v := float64(r.IntN(11)) / 10
			p, y = append(p, v), append(y, r.Float64() < v)
		}
		s := forecast.Murphy(y, p)
		within(t, "parts", s.Reliability-s.Resolution+s.Uncertainty, s.Brier, 1e-12)
	})
}

// Isotonic and Platt's fits rise with the score, and pooling keeps the mean.
func TestRecalibrationKeepsOrder(t *testing.T) {
	trials(t, 30, func(r *rand.Rand) {
		var y []bool
		var s, outcome []float64
		for range 100 {
			v := float64(r.IntN(40)) / 40
			hit := r.Float64() < v
			s, y = append(s, v), append(y, hit)
			if hit {
				outcome = append(outcome, 1)
			} else {
				outcome = append(outcome, 0)
			}
		}
		iso, err := forecast.FitIsotonic(s, outcome)
		if err != nil {
			t.Fatal(err)
		}
		platt, err := forecast.FitPlatt(y, s)
		if err != nil {
			t.Fatal(err)
		}
		gain, before, beforeIso := 0.0, 0.0, math.Inf(-1)
		for i, v := range s {
			gain += iso.At(v) - outcome[i]
		}
		within(t, "mean of the fit", gain, 0, 1e-9)
		for v := -0.1; v < 1.1; v += 0.01 {
			if now := platt.At(v); now < before {
				t.Errorf("Platt falls from %v to %v", before, now)
			} else {
				before = now
			}
			if now := iso.At(v); now < beforeIso {
				t.Errorf("the isotonic fit falls from %v to %v", beforeIso, now)
			} else {
				beforeIso = now
			}
		}
	})
}

// The AUC of reversed scores is its complement, and that of a constant is one half.
func TestAUCIsSymmetric(t *testing.T) {
	trials(t, 50, func(r *rand.Rand) {
		bad := []bool{true, false}
		score := []float64{r.Float64(), r.Float64()}
		for range 5 + r.IntN(60) {
			bad, score = append(bad, r.IntN(3) == 0), append(score, float64(r.IntN(12)))
		}
		back, flat := make([]float64, len(score)), make([]float64, len(score))
		wins, pairs := 0.0, 0.0
		for i := range score {
			back[i] = -score[i]
			for j := range score {
				if bad[i] && !bad[j] {
					pairs++
					if score[i] > score[j] {
						wins++
					} else if score[i] == score[j] {
						wins += 0.5
					}
				}
			}
		}
		a := classifier.AUC(bad, score, 0.95)
		within(t, "AUC by pairs", a.Value, wins/pairs, 1e-12)
		within(t, "reversed", classifier.AUC(bad, back, 0.95).Value, 1-a.Value, 1e-12)
		within(t, "constant", classifier.AUC(bad, flat, 0.95).Value, 0.5, 1e-12)
		c := classifier.CompareAUC(bad, score, score, 0.95)
		if c.NoTest == "" || c.Difference.Value != 0 {
			t.Errorf("a score against itself: %+v", c)
		}
	})
}

// Tau-b by sorting is tau-b by pairs.
func TestKendallByPairs(t *testing.T) {
	trials(t, 60, func(r *rand.Rand) {
		n := 3 + r.IntN(40)
		x, y := make([]float64, n), make([]float64, n)
		for i := range x {
			x[i], y[i] = float64(r.IntN(6)), float64(r.IntN(6))
		}
		var balance, tiedX, tiedY float64
		pairs := float64(n*(n-1)) / 2
		for i := range x {
			for j := range i {
				a, b := x[i]-x[j], y[i]-y[j]
				switch {
				case a*b > 0:
					balance++
				case a*b < 0:
					balance--
				}
				if a == 0 {
					tiedX++
				}
				if b == 0 {
					tiedY++
				}
			}
		}
		e := scores.KendallTauB(x, y)
		if tiedX == pairs || tiedY == pairs {
			if e.Defined() {
				t.Errorf("constant side: %+v", e)
			}
			return
		}
		within(t, "tau-b", e.Value, balance/math.Sqrt((pairs-tiedX)*(pairs-tiedY)), 1e-12)
	})
}

// The sizes that a width needs give that width, and one label fewer does not.
func TestSampleSizeRoundTrip(t *testing.T) {
	trials(t, 60, func(r *rand.Rand) {
		p, half := 0.02+0.96*r.Float64(), 0.01+0.15*r.Float64()
		s, err := samplesize.Proportion(p, half, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if w := samplesize.WilsonHalfWidth(p, s.N, 0.95); w > half {
			t.Errorf("%d labels give ± %v, not %v", s.N, w, half)
		}
		if s.N > 1 && samplesize.WilsonHalfWidth(p, s.N-1, 0.95) <= half {
			t.Errorf("%d labels are one more than ± %v needs", s.N, half)
		}
		k := 0.2 + 0.7*r.Float64()
		n, err := samplesize.Kappa(k, p, half, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		w, err := samplesize.KappaHalfWidth(k, p, n.N, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if w > half || float64(n.N)-n.Exact >= 1 {
			t.Errorf("%d labels (%v) give ± %v, not %v", n.N, n.Exact, w, half)
		}
	})
	// The guide's table of kappa within ± .10 at 95%.
	for _, tt := range []struct {
		k, p float64
		n    int
	}{{.6, .5, 246}, {.6, .2, 392}, {.6, .1, 705}, {.6, .05, 1347}, {.8, .5, 139}, {.8, .2, 222}, {.8, .1, 401}, {.8, .05, 768}} {
		if s, err := samplesize.Kappa(tt.k, tt.p, 0.1, 0.95); err != nil || s.N != tt.n {
			t.Errorf("kappa %v at %v: %d labels, want %d (%v)", tt.k, tt.p, s.N, tt.n, err)
		}
	}
}

func TestAllocation(t *testing.T) {
	trials(t, 200, func(r *rand.Rand) {
		var strata []samplesize.Stratum
		room, floors, floor := 0, 0, r.IntN(40)
		for range 1 + r.IntN(5) {
			s := samplesize.Stratum{Size: r.IntN(500), SD: float64(r.IntN(4)) * 0.15}
			strata = append(strata, s)
			room += s.Size
			floors += min(floor, s.Size)
		}
		n := r.IntN(700)
		got, err := samplesize.Allocate(n, floor, strata)
		if (err != nil) != (floors > n) {
			t.Fatalf("%d labels, floors %d: %v, %v", n, floors, got, err)
		}
		if err != nil {
			return
		}
		sum := 0
		for i, k := range got {
			sum += k
			if k < min(floor, strata[i].Size) || k > strata[i].Size {
				t.Errorf("stratum %d of %+v gets %d, floor %d", i, strata[i], k, floor)
			}
		}
		if sum != min(n, room) {
			t.Errorf("%d labels of %d for %+v: %v", sum, n, strata, got)
		}
	})
	got, err := samplesize.Allocate(100, 0, []samplesize.Stratum{{Size: 900, SD: 0.1}, {Size: 100, SD: 0.9}})
	if err != nil || got[0] != 50 || got[1] != 50 {
		t.Errorf("Neyman: %v, %v", got, err)
	}
	got, err = samplesize.Allocate(100, 30, []samplesize.Stratum{{Size: 10_000, SD: 0.5}, {Size: 100, SD: 0.01}})
	if err != nil || got[0] != 70 || got[1] != 30 {
		t.Errorf("a floor of 30: %v, %v", got, err)
	}
}

// A higher level gives an interval that holds the lower one's.
func TestIntervalsAreNested(t *testing.T) {
	draws(t, func(t *testing.T, r *rand.Rand, counts [][]int) {
		m := matrix(t, counts)
		x, y := pairsOf(r, 30, 5)
		a, b := numbers(x), numbers(y)
		q := len(counts)
		made := func(level float64) map[string]agreement.Estimate {
			out := map[string]agreement.Estimate{
				"kappa": agreement.CohenKappa(m, agreement.Identity(q), level).Estimate,
				"AC1":   agreement.GwetAC(m, agreement.Identity(q), level).Estimate,
				"pi":    agreement.ScottPi(m, agreement.Identity(q), level).Estimate,
				"share": agreement.Agreement(m, level),
				"r":     scores.Pearson(a, b, level).Estimate, "Lin": scores.LinCCC(a, b, level),
				"post":      rate.PostStratified(40, 100, rate.Labelled{True: 20, All: 30}, rate.Labelled{True: 3, All: 30}, level),
				"Lang":      rate.LangReiczigel(0.4, 500, rate.Calibration{Sensitivity: .8, Specificity: .9, Positives: 60, Negatives: 60}, level).Estimate,
				"Begg":      sampling.BeggGreenes(sampling.Reviewed{Bad: 40, Good: 9}, sampling.Reviewed{Bad: 4, Good: 90, Unreviewed: 200}, level).Sensitivity,
				"ICC":       scores.ICC([][]float64{{1, 2}, {3, 3}, {4, 6}, {5, 5}, {2, 1}}, level).Single2,
				"ICC of k":  scores.ICC([][]float64{{1, 2}, {3, 3}, {4, 6}, {5, 5}, {2, 1}}, level).Mean3,
				"agreement": agreement.Agreement(m, level),
			}
			for name, f := range map[string]func(int, int, float64) (agreement.Interval, error){
				"exact": agreement.ClopperPearson, "Jeffreys": agreement.Jeffreys, "Wilson": agreement.Wilson, "Wilson cc": agreement.WilsonCC, "Agresti": agreement.AgrestiCoull,
			} {
				ci, err := f(m.Agreed(), m.N(), level)
				if err != nil {
					t.Fatal(err)
				}
				out[name] = agreement.Estimate{Value: float64(m.Agreed()) / float64(m.N()), Low: ci.Low, High: ci.High}
			}
			s, err := drift.Sequence(m.Agreed(), m.N(), 1-level, drift.Uniform)
			if err != nil {
				t.Fatal(err)
			}
			h, err := drift.BernoulliSequence(m.Agreed(), m.N(), 1-level, 100, 0.05)
			if err != nil {
				t.Fatal(err)
			}
			out["sequence"] = agreement.Estimate{Value: float64(m.Agreed()) / float64(m.N()), Low: s.Low, High: s.High}
			out["Bernoulli sequence"] = agreement.Estimate{Value: float64(m.Agreed()) / float64(m.N()), Low: h.Low, High: h.High}
			return out
		}
		wide := made(0.99)
		for name, e := range made(0.8) {
			w := wide[name]
			if e.HasInterval() != w.HasInterval() {
				t.Errorf("%s: %+v and %+v", name, e, w)
			}
			if e.HasInterval() && !(w.Low <= e.Low && e.Low <= e.High && e.High <= w.High) {
				t.Errorf("%s: 80%% is %v to %v, 99%% is %v to %v", name, e.Low, e.High, w.Low, w.High)
			}
		}
	})
}

// A binomial test is the sum over outcomes that are no more likely.
func TestBinomialTestBySum(t *testing.T) {
	trials(t, 200, func(r *rand.Rand) {
		n, p := 1+r.IntN(60), 0.02+0.96*r.Float64()
		x := r.IntN(n + 1)
		chance := func(k int) float64 {
			a, _ := math.Lgamma(float64(n + 1))
			b, _ := math.Lgamma(float64(k + 1))
			c, _ := math.Lgamma(float64(n - k + 1))
			return math.Exp(a - b - c + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
		}
		want := 0.0
		for k := 0; k <= n; k++ {
			if chance(k) <= chance(x)*(1+1e-7) {
				want += chance(k)
			}
		}
		got, err := agreement.BinomialTest(x, n, p)
		if err != nil {
			t.Fatal(err)
		}
		within(t, "p", got, want, 1e-9)
	})
}

// Alpha of the scores themselves is alpha of their table.
func TestAlphaOfScoresIsAlpha(t *testing.T) {
	trials(t, 60, func(r *rand.Rand) {
		q := 2 + r.IntN(5)
		var items [][]float64
		var counts [][]int
		values := make([]float64, q)
		for k := range values {
			values[k] = float64(k * k)
		}
		for range 2 + r.IntN(20) {
			row, count := []float64{}, make([]int, q)
			for range r.IntN(5) {
				k := r.IntN(q)
				row, count[k] = append(row, values[k]), count[k]+1
			}
			items, counts = append(items, row), append(counts, count)
		}
		it, err := agreement.NewItems(numbered(q), counts)
		if err != nil {
			t.Fatal(err)
		}
		s, err := agreement.NewScores(items)
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range []agreement.Metric{agreement.MetricInterval, agreement.MetricRatio} {
			a, b := agreement.KrippendorffAlpha(it, metric, values), agreement.AlphaOfScores(s, nil, metric)
			if a.Defined() != b.Defined() || a.Pairable != b.Pairable || a.N != b.N {
				t.Fatalf("%+v and %+v", a, b)
			}
			within(t, "alpha", b.Value, a.Value, 1e-10)
		}
		// An item that counts twice is there twice.
		times := make([]int, len(counts))
		var twice [][]int
		for i := range counts {
			times[i] = r.IntN(3)
			for range times[i] {
				twice = append(twice, counts[i])
			}
		}
		doubled, err := agreement.NewItems(numbered(q), twice)
		if err != nil {
			t.Fatal(err)
		}
		for _, metric := range []agreement.Metric{agreement.MetricNominal, agreement.MetricOrdinal, agreement.MetricInterval, agreement.MetricRatio} {
			a, b := agreement.KrippendorffAlpha(doubled, metric, values), agreement.KrippendorffAlphaTimes(it, times, metric, values)
			if a.Defined() != b.Defined() || a.N != b.N {
				t.Fatalf("%+v and %+v", a, b)
			}
			within(t, "alpha by times", b.Value, a.Value, 1e-10)
		}
	})
}
