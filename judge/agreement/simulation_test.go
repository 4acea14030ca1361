package agreement_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/alttest"
	"github.com/countersign/countersign/judge/agreement/classifier"
	"github.com/countersign/countersign/judge/agreement/drift"
	"github.com/countersign/countersign/judge/agreement/forecast"
	"github.com/countersign/countersign/judge/agreement/latent"
	"github.com/countersign/countersign/judge/agreement/rate"
	"github.com/countersign/countersign/judge/agreement/resample"
	"github.com/countersign/countersign/judge/agreement/samplesize"
	"github.com/countersign/countersign/judge/agreement/sampling"
	"github.com/countersign/countersign/judge/agreement/scores"
)

// covered is the share of runs whose interval holds the truth; a run without an
// interval holds nothing.
func covered(runs int, seed uint64, truth float64, draw func(r *rand.Rand) agreement.Estimate) float64 {
	r := rand.New(rand.NewPCG(seed, 95))
	hits := 0
	for range runs {
		if e := draw(r); e.HasInterval() && e.Low <= truth && truth <= e.High {
			hits++
		}
	}
	return float64(hits) / float64(runs)
}

func between(t *testing.T, what string, got, low, high float64) {
	t.Helper()
	if got < low || got > high {
		t.Errorf("%s: %.3f is not between %.3f and %.3f", what, got, low, high)
	}
}

// twoByTwo draws n items of two raters with equal shares p of the first label and
// kappa k.
func twoByTwo(r *rand.Rand, n int, p, k float64) [][]int {
	differ := p * (1 - p) * (1 - k)
	counts := [][]int{{0, 0}, {0, 0}}
	for range n {
		switch u := r.Float64(); {
		case u < differ:
			counts[0][1]++
		case u < 2*differ:
			counts[1][0]++
		case u < 2*differ+p-differ:
			counts[0][0]++
		default:
			counts[1][1]++
		}
	}
	return counts
}

// The guide's settings: shares .1, .3 and .5, kappa .4, .6 and .8, n from 30 to 200.
func TestKappaCovers(t *testing.T) {
	for _, p := range []float64{.1, .3, .5} {
		for _, k := range []float64{.4, .6, .8} {
			for _, n := range []int{30, 50, 100, 200} {
				draw := func(make func(agreement.Confusion) agreement.Estimate) float64 {
					return covered(600, uint64(n), k, func(r *rand.Rand) agreement.Estimate {
						return make(matrix(t, twoByTwo(r, n, p, k)))
					})
				}
				fisher := draw(func(m agreement.Confusion) agreement.Estimate {
					e := agreement.CohenKappa(m, agreement.Identity(2), 0.95).Estimate
					if p > .1 && e.Method == agreement.MethodAtOne && e.Low <= 1-2*p*(1-p)*(1-k) {
						e.Low = k // the bound is one of agreement, and holds there
					}
					return e
				})
				if p == .1 && n == 30 {
					if fisher > .87 {
						t.Errorf("share .1, kappa %v, n 30 covers %.3f: the rule that shows no kappa there would be idle", k, fisher)
					}
					continue
				}
				low, high := .87, .99
				if p == .1 {
					low = .70
				}
				between(t, fmt.Sprintf("Fisher's z at share %v, kappa %v, n %d", p, k, n), fisher, low, high)
				if p < .3 {
					continue
				}
				wald := draw(func(m agreement.Confusion) agreement.Estimate {
					e := agreement.CohenKappa(m, agreement.Identity(2), 0.95).Estimate
					e.Low, e.High, _ = e.Wald(.95)
					return e
				})
				between(t, "Wald", wald, .84, .97)
				if n >= 50 {
					between(t, "pi", draw(func(m agreement.Confusion) agreement.Estimate {
						return agreement.ScottPi(m, agreement.Identity(2), 0.95).Estimate
					}), .85, .98)
				}
			}
		}
	}
}

func TestAC1Covers(t *testing.T) {
	for _, p := range []float64{.1, .3, .5} {
		for _, k := range []float64{.4, .8} {
			po := 1 - 2*p*(1-p)*(1-k)
			truth := (po - 2*p*(1-p)) / (1 - 2*p*(1-p))
			got := covered(800, 5, truth, func(r *rand.Rand) agreement.Estimate {
				return agreement.GwetAC(matrix(t, twoByTwo(r, 100, p, k)), agreement.Identity(2), .95).Estimate
			})
			between(t, "AC1", got, .87, .98)
		}
	}
}

// Exact coverage: summed over all outcomes, not drawn.
func TestProportionIntervalsCover(t *testing.T) {
	const n = 50
	for name, tt := range map[string]struct {
		f                   func(int, int, float64) (agreement.Interval, error)
		least, mean0, mean1 float64
	}{
		"exact":         {agreement.ClopperPearson, .95, .95, .99},
		"Wilson":        {agreement.Wilson, .88, .945, .96},
		"Jeffreys":      {agreement.Jeffreys, .88, .94, .96},
		"Agresti-Coull": {agreement.AgrestiCoull, .92, .95, .98},
		"Wilson cc":     {agreement.WilsonCC, .93, .95, .99},
	} {
		least, sum, steps := 1.0, 0.0, 0
		for p := 0.05; p <= 0.95; p += 0.02 {
			cover := 0.0
			for x := range n + 1 {
				ci, err := tt.f(x, n, .95)
				if err != nil {
					t.Fatal(err)
				}
				if ci.Low <= p && p <= ci.High {
					a, _ := math.Lgamma(n + 1)
					b, _ := math.Lgamma(float64(x + 1))
					c, _ := math.Lgamma(float64(n - x + 1))
					cover += math.Exp(a - b - c + float64(x)*math.Log(p) + float64(n-x)*math.Log(1-p))
				}
			}
			least, sum, steps = min(least, cover), sum+cover, steps+1
		}
		if least < tt.least {
			t.Errorf("%s covers %.4f at worst, want %.3f", name, least, tt.least)
		}
		between(t, name+" on average", sum/float64(steps), tt.mean0, tt.mean1)
	}
}

func TestDifferenceOfProportionsCovers(t *testing.T) {
	for _, p := range [][2]float64{{.9, .8}, {.5, .5}, {.97, .9}} {
		between(t, "Newcombe", covered(2000, 3, p[0]-p[1], func(r *rand.Rand) agreement.Estimate {
			x1, x2 := binomial(r, 60, p[0]), binomial(r, 40, p[1])
			d, err := agreement.TwoProportions(x1, 60, x2, 40, .95)
			if err != nil {
				t.Fatal(err)
			}
			return agreement.Estimate{Value: d.Value, Low: d.Low, High: d.High}
		}), .935, .975)
	}
}

func binomial(r *rand.Rand, n int, p float64) int {
	x := 0
	for range n {
		if r.Float64() < p {
			x++
		}
	}
	return x
}

// threeRaters are n items with a truth that each of three raters sees with
// probability .75; alpha, pi, AC1 and the rest are (.75² + .25²) agreement over one
// half, which is .25.
func threeRaters(t *testing.T, r *rand.Rand, n int) agreement.Items {
	t.Helper()
	rows := make([][]int, n)
	for i := range rows {
		truth := r.IntN(2)
		rows[i] = []int{0, 0}
		for range 3 {
			if r.Float64() < .75 {
				rows[i][truth]++
			} else {
				rows[i][1-truth]++
			}
		}
	}
	it, err := agreement.NewItems([]string{"0", "1"}, rows)
	if err != nil {
		t.Fatal(err)
	}
	return it
}

func TestManyRatersCover(t *testing.T) {
	for name, f := range map[string]func(agreement.Items) agreement.Estimate{
		"AC1": func(it agreement.Items) agreement.Estimate {
			return agreement.MultiGwetAC(it, agreement.Identity(2), .95).Estimate
		},
		"Fleiss": func(it agreement.Items) agreement.Estimate {
			return agreement.MultiScottPi(it, agreement.Identity(2), .95).Estimate
		},
		"Brennan-Prediger": func(it agreement.Items) agreement.Estimate {
			return agreement.MultiBrennanPrediger(it, agreement.Identity(2), .95).Estimate
		},
		"alpha, closed form": func(it agreement.Items) agreement.Estimate {
			return agreement.KrippendorffGwet(it, agreement.Identity(2), .95).Estimate
		},
	} {
		between(t, name, covered(800, 4, .25, func(r *rand.Rand) agreement.Estimate { return f(threeRaters(t, r, 60)) }), .92, .975)
	}
	between(t, "alpha, bootstrap", covered(200, 4, .25, func(r *rand.Rand) agreement.Estimate {
		u, profiles := resample.Items(threeRaters(t, r, 60))
		b, err := resample.Percentile(u, resample.Alpha(profiles, agreement.MetricNominal, nil), resample.Plan{Level: .95, Replicates: 400, Seed: r.Uint64()})
		if err != nil {
			t.Fatal(err)
		}
		return b.Estimate
	}), .90, .98)
}

func TestBCaCovers(t *testing.T) {
	labels := []string{"a", "b"}
	between(t, "BCa of kappa", covered(200, 8, .6, func(r *rand.Rand) agreement.Estimate {
		m := matrix(t, twoByTwo(r, 60, .3, .6))
		b, err := resample.BCa(resample.Cells(m), resample.Kappa(labels, agreement.Identity(2)), resample.Plan{Level: .95, Replicates: 500, Seed: r.Uint64()})
		if err != nil {
			t.Fatal(err)
		}
		return b.Estimate
	}), .90, .99)
}

// Items of a cluster fare alike: drawn one by one their interval is far too narrow.
func TestClustersAreDrawnTogether(t *testing.T) {
	scale := []string{"bad", "good"}
	po := .8
	make := func(together bool) float64 {
		return covered(250, 11, po, func(r *rand.Rand) agreement.Estimate {
			var x, y, cluster []int
			for c := range 40 {
				right := r.Float64() < po // the whole conversation
				for range 10 {
					a := r.IntN(2)
					b := a
					if !right {
						b = 1 - a
					}
					x, y, cluster = append(x, a), append(y, b), append(cluster, c)
				}
			}
			u, err := resample.Pairs(2, x, y)
			if err != nil {
				t.Fatal(err)
			}
			if together {
				u.Cluster = cluster
			}
			b, err := resample.Percentile(u, resample.OfConfusion(scale, func(m agreement.Confusion) (float64, bool) {
				return float64(m.Agreed()) / float64(m.N()), m.N() > 0
			}), resample.Plan{Level: .95, Replicates: 300, Seed: r.Uint64()})
			if err != nil {
				t.Fatal(err)
			}
			return b.Estimate
		})
	}
	between(t, "together", make(true), .88, .99)
	between(t, "one by one", make(false), .2, .75)
}

// world draws items with the guide's judge: 20% bad, sensitivity .75, specificity
// .90.
func world(r *rand.Rand, n int) (bad, flagged []bool) {
	for range n {
		b := r.Float64() < .2
		f := r.Float64() < .1
		if b {
			f = r.Float64() < .75
		}
		bad, flagged = append(bad, b), append(flagged, f)
	}
	return bad, flagged
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Flagged items and a 5% audit of the rest: weights find kappa where the labels alone
// are off by more than 0.2.
func TestWeightsFindKappaUnderFlaggedReview(t *testing.T) {
	const truth = .615
	r := rand.New(rand.NewPCG(12, 1))
	weighted, naive := 0.0, 0.0
	const runs = 300
	for range runs {
		bad, flagged := world(r, 4000)
		var drawn []sampling.Label
		for i := range bad {
			p := .05
			if flagged[i] {
				p = 1
			}
			if r.Float64() < p {
				drawn = append(drawn, sampling.Label{Human: one(bad[i]), Judge: one(flagged[i]), Probability: p})
			}
		}
		w, err := sampling.Weigh([]string{"good", "bad"}, drawn)
		if err != nil {
			t.Fatal(err)
		}
		weighted += w.Kappa(agreement.Identity(2)).Value / runs
		for i := range drawn {
			drawn[i].Probability = 1
		}
		n, err := sampling.Weigh([]string{"good", "bad"}, drawn)
		if err != nil {
			t.Fatal(err)
		}
		naive += n.Kappa(agreement.Identity(2)).Value / runs
	}
	between(t, "weighted kappa", weighted, truth-.02, truth+.02)
	if truth-naive < .2 {
		t.Errorf("kappa of the reviewed items alone is %.3f: within 0.2 of %.3f", naive, truth)
	}
}

func TestCorrectedRatesCover(t *testing.T) {
	// Post-stratified, with flags over-sampled: 100 of them and 60 passes.
	between(t, "post-stratified", covered(800, 2, .2, func(r *rand.Rand) agreement.Estimate {
		bad, flagged := world(r, 2000)
		var pos, neg rate.Labelled
		n := 0
		for i := range bad {
			of, most := &neg, 60
			if flagged[i] {
				of, most = &pos, 100
				n++
			}
			if of.All < most {
				of.All++
				of.True += one(bad[i])
			}
		}
		return rate.PostStratified(n, len(bad), pos, neg, .95)
	}), .92, .975)
	between(t, "Lang-Reiczigel", covered(1500, 2, .2, func(r *rand.Rand) agreement.Estimate {
		_, flagged := world(r, 1000)
		n := 0
		for _, f := range flagged {
			n += one(f)
		}
		c := rate.Calibration{Positives: 60, Negatives: 80}
		c.Sensitivity = float64(binomial(r, 60, .75)) / 60
		c.Specificity = float64(binomial(r, 80, .90)) / 80
		return rate.LangReiczigel(float64(n)/1000, 1000, c, .95).Estimate
	}), .93, .985)
	sample := func(r *rand.Rand) rate.Sample {
		bad, flagged := world(r, 1000)
		var s rate.Sample
		for i := range bad {
			if i < 150 {
				s.Y, s.F = append(s.Y, float64(one(bad[i]))), append(s.F, float64(one(flagged[i])))
			} else {
				s.Rest = append(s.Rest, float64(one(flagged[i])))
			}
		}
		return s
	}
	for name, tuning := range map[string]rate.Tuning{"PPI": rate.Fixed(1), "PPI++": rate.PowerTuned(), "PPI++, unclipped": rate.PowerTunedUnclipped()} {
		between(t, name, covered(800, 2, .2, func(r *rand.Rand) agreement.Estimate {
			return rate.PPI(sample(r), tuning, .95).Estimate
		}), .925, .97)
	}
	r := rand.New(rand.NewPCG(2, 2))
	helps := 0
	for range 200 {
		helps += one(rate.PPI(sample(r), rate.PowerTuned(), .95).Helps())
	}
	if helps < 190 {
		t.Errorf("this judge narrows %d of 200 intervals", helps)
	}
	between(t, "Begg and Greenes", covered(1500, 6, .75, func(r *rand.Rand) agreement.Estimate {
		bad, flagged := world(r, 3000)
		var a, b sampling.Reviewed
		for i := range bad {
			of, p := &b, .1
			if flagged[i] {
				of, p = &a, 1
			}
			switch {
			case r.Float64() >= p:
				of.Unreviewed++
			case bad[i]:
				of.Bad++
			default:
				of.Good++
			}
		}
		return sampling.BeggGreenes(a, b, .95).Sensitivity
	}), .925, .975)
}

func TestScoresCover(t *testing.T) {
	// y = x + shift + noise with variances 1 and .25.
	pair := func(r *rand.Rand, n int) (x, y []float64) {
		for range n {
			v := r.NormFloat64()
			x, y = append(x, v), append(y, v+.3+.5*r.NormFloat64())
		}
		return x, y
	}
	rho := 1 / math.Sqrt(1.25)
	between(t, "Pearson", covered(1500, 1, rho, func(r *rand.Rand) agreement.Estimate {
		x, y := pair(r, 40)
		return scores.Pearson(x, y, .95).Estimate
	}), .93, .97)
	between(t, "Lin", covered(1500, 1, 2/(1+1.25+.09), func(r *rand.Rand) agreement.Estimate {
		x, y := pair(r, 60)
		return scores.LinCCC(x, y, .95)
	}), .92, .975)
	// Items have variance 1, raters .2 and the rest .5.
	between(t, "ICC(2,1)", covered(600, 1, 1/1.7, func(r *rand.Rand) agreement.Estimate {
		harsh := make([]float64, 6)
		for j := range harsh {
			harsh[j] = math.Sqrt(.2) * r.NormFloat64()
		}
		var rows [][]float64
		for range 40 {
			v := r.NormFloat64()
			row := make([]float64, 6)
			for j := range row {
				row[j] = v + harsh[j] + math.Sqrt(.5)*r.NormFloat64()
			}
			rows = append(rows, row)
		}
		return scores.ICC(rows, .95).Single2
	}), .92, .98)
	between(t, "AUC", covered(800, 1, .76025, func(r *rand.Rand) agreement.Estimate {
		var bad []bool
		var score []float64
		for i := range 120 {
			b := i%3 == 0
			bad, score = append(bad, b), append(score, float64(one(b))+r.NormFloat64())
		}
		return classifier.AUC(bad, score, .95)
	}), .925, .97)
}

// Thirty daily looks at twenty labels each of a judge that has not changed.
func TestDailyLooks(t *testing.T) {
	r := rand.New(rand.NewPCG(30, 20))
	const runs = 1000
	e, z, last, outside := 0, 0, 0.0, 0
	for range runs {
		s, n := 0, 0
		byE, byZ, out := false, false, false
		for range 30 {
			s, n = s+binomial(r, 20, .9), n+20
			v, err := drift.BetaBinomial(s, n, .9, drift.Uniform)
			if err != nil {
				t.Fatal(err)
			}
			byE = byE || v.Alarms(.05)
			share := float64(s) / float64(n)
			byZ = byZ || math.Abs(share-.9)/math.Sqrt(.9*.1/float64(n)) > 1.96
			ci, err := drift.Sequence(s, n, .05, drift.Uniform)
			if err != nil {
				t.Fatal(err)
			}
			out = out || .9 < ci.Low || .9 > ci.High
			if n == 600 {
				last += v.Value() / runs
			}
		}
		e, z, outside = e+one(byE), z+one(byZ), outside+one(out)
	}
	if share := float64(e) / runs; share > .05 {
		t.Errorf("the e-value raises a false alarm in %.3f of months", share)
	}
	if e != outside {
		t.Errorf("%d false alarms, and the sequence misses the rate %d times: they are one rule", e, outside)
	}
	if share := float64(z) / runs; share < .2 {
		t.Errorf("daily z tests raise a false alarm in %.3f of months only: the e-value would be idle", share)
	}
	if last > 1.2 {
		t.Errorf("the mean e-value of a steady judge is %.3f, over 1", last)
	}
	// A drop from .90 to .80 is found after a median of about 120 labels.
	var found []int
	for range 400 {
		s, n := 0, 0
		for n < 5000 {
			s, n = s+binomial(r, 10, .8), n+10
			if v, err := drift.BetaBinomial(s, n, .9, drift.Uniform); err != nil {
				t.Fatal(err)
			} else if v.Alarms(.05) {
				break
			}
		}
		found = append(found, n)
	}
	slices.Sort(found)
	between(t, "labels until the alarm", float64(found[200]), 80, 170)
	// Howard's sequence holds at all looks too.
	missed := 0
	for range 400 {
		s, n, out := 0, 0, false
		for range 30 {
			s, n = s+binomial(r, 20, .9), n+20
			ci, err := drift.BernoulliSequence(s, n, .05, 300, .05)
			if err != nil {
				t.Fatal(err)
			}
			out = out || .9 < ci.Low || .9 > ci.High
		}
		missed += one(out)
	}
	if missed > 20 {
		t.Errorf("the Bernoulli sequence misses the rate in %d of 400 months", missed)
	}
}

// The expectation of the e-value is exactly 1 at any fixed time while the rate holds.
func TestEvalueHasMeanOne(t *testing.T) {
	for _, p := range []float64{.05, .5, .9} {
		for _, n := range []int{1, 7, 40} {
			sum := 0.0
			for s := range n + 1 {
				e, err := drift.BetaBinomial(s, n, p, drift.Prior{A: .5, B: 2})
				if err != nil {
					t.Fatal(err)
				}
				a, _ := math.Lgamma(float64(n + 1))
				b, _ := math.Lgamma(float64(s + 1))
				c, _ := math.Lgamma(float64(n - s + 1))
				sum += e.Value() * math.Exp(a-b-c+float64(s)*math.Log(p)+float64(n-s)*math.Log(1-p))
			}
			within(t, "mean e-value", sum, 1, 1e-9)
		}
	}
}

func TestRunLengthsBySimulation(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	mean := func(runs int, length func() int) float64 {
		sum := 0
		for range runs {
			sum += length()
		}
		return float64(sum) / float64(runs)
	}
	cusum, err := drift.CUSUMRunLength(.5, 3, .5, false)
	if err != nil {
		t.Fatal(err)
	}
	within(t, "CUSUM", mean(4000, func() int {
		c, n := 0.0, 0
		for c <= 3 {
			c, n = max(0, c+r.NormFloat64()+.5-.5), n+1
		}
		return n
	}), cusum, .05*cusum)
	ewma, err := drift.EWMARunLength(.2, 2.5, .5)
	if err != nil {
		t.Fatal(err)
	}
	limit := 2.5 * math.Sqrt(.2/1.8)
	within(t, "EWMA", mean(4000, func() int {
		z, n := 0.0, 0
		for math.Abs(z) <= limit {
			z, n = .2*(r.NormFloat64()+.5)+.8*z, n+1
		}
		return n
	}), ewma, .05*ewma)
}

// A judge without any fault shows a calibration error all the same.
func TestECEOfAPerfectJudge(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for n, want := range map[int]float64{50: .14, 100: .10, 500: .04} {
		sum := 0.0
		const runs = 300
		for range runs {
			y, p := make([]bool, n), make([]float64, n)
			for i := range p {
				p[i] = r.Float64()
				y[i] = r.Float64() < p[i]
			}
			sum += forecast.Reliability(y, p, 10, forecast.Uniform, .95).ECE / runs
		}
		within(t, "ECE", sum, want, .015)
	}
}

// What the planner promises is reached: the width of kappa's interval, and the power
// of its test.
func TestPlannedSizes(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	size, err := samplesize.Kappa(.6, .3, .1, .95)
	if err != nil {
		t.Fatal(err)
	}
	width := 0.0
	const runs = 1000
	for range runs {
		k := agreement.CohenKappa(matrix(t, twoByTwo(r, size.N, .3, .6)), agreement.Identity(2), .95)
		low, high, _ := k.Wald(.95)
		width += (high - low) / 2 / runs
	}
	within(t, "half width", width, .1, .005)
	test, err := samplesize.KappaTest(.3, .3, .7, .5, .05, .8, false)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for range runs {
		k := agreement.CohenKappa(matrix(t, twoByTwo(r, test.N, .3, .7)), agreement.Identity(2), .95)
		// One-sided at 5%, with the standard error that kappa .5 would give.
		half, err := samplesize.KappaHalfWidth(.5, .3, test.N, .90)
		if err != nil {
			t.Fatal(err)
		}
		found += one(k.Value > .5+half)
	}
	between(t, "power", float64(found)/runs, .76, .86)
	groups, err := samplesize.TwoProportions(.8, .9, .05, .8)
	if err != nil {
		t.Fatal(err)
	}
	found = 0
	for range runs {
		d, err := agreement.TwoProportions(binomial(r, groups.N, .8), groups.N, binomial(r, groups.N, .9), groups.N, .95)
		if err != nil {
			t.Fatal(err)
		}
		found += one(d.P < .05)
	}
	between(t, "power of two proportions", float64(found)/runs, .76, .85)
}

func TestDawidSkeneFindsTheErrors(t *testing.T) {
	r := rand.New(rand.NewPCG(19, 79))
	right := []float64{.95, .85, .7, .6, .8}
	votes := make(latent.Votes, 1500)
	truth := make([]int, len(votes))
	for i := range votes {
		truth[i] = r.IntN(3)
		for _, p := range right {
			row := make([]int, 3)
			k := truth[i]
			if r.Float64() > p {
				k = (k + 1 + r.IntN(2)) % 3
			}
			row[k]++
			votes[i] = append(votes[i], row)
		}
	}
	m, err := latent.DawidSkene(votes, latent.Options{Tolerance: 1e-9})
	if err != nil {
		t.Fatal(err)
	}
	winners, err := latent.Majority(votes)
	if err != nil {
		t.Fatal(err)
	}
	byModel, byMajority := 0, 0
	for i, k := range m.Best() {
		byModel += one(k == truth[i])
		byMajority += one(winners[i].Class == truth[i])
	}
	if byModel <= byMajority || !m.Converged {
		t.Errorf("the model finds %d truths, the majority %d; converged: %v", byModel, byMajority, m.Converged)
	}
	for g, p := range right {
		for k := range 3 {
			within(t, "rater's competence", m.Errors[g][k][k], p, .06)
		}
	}
}

// A judge as good as the humans passes the alt-test, one that guesses does not.
func TestAltTestTellsJudgesApart(t *testing.T) {
	r := rand.New(rand.NewPCG(2025, 1))
	passes := func(right float64) int {
		n := 0
		for range 60 {
			var humans [][]float64
			var judge []float64
			answer := func(truth int, p float64) float64 {
				if r.Float64() < p {
					return float64(truth)
				}
				return float64(r.IntN(4))
			}
			for range 100 {
				truth := r.IntN(4)
				row := make([]float64, 4)
				for h := range row {
					row[h] = answer(truth, .7)
				}
				humans, judge = append(humans, row), append(judge, answer(truth, right))
			}
			n += one(alttest.Test(humans, judge, alttest.Options{Score: alttest.Match, Epsilon: .15}).Passes())
		}
		return n
	}
	if good, bad := passes(.85), passes(.2); good < 55 || bad > 1 {
		t.Errorf("a good judge passes %d of 60 times, one that guesses %d", good, bad)
	}
}
