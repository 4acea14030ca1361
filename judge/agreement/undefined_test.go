package agreement_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
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

// TestUndefinedIsNull asks each family for what the data cannot give: the JSON holds
// null and the reason.
func TestUndefinedIsNull(t *testing.T) {
	nan := math.NaN()
	binary := func(c classifier.Counts) classifier.Metrics {
		m, err := c.Measure(.95)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	silent := binary(classifier.Counts{FalseNegative: 7, TrueNegative: 93})
	oneClass := binary(classifier.Counts{TruePositive: 9, FalseNegative: 1})
	multi := classifier.MeasureMulticlass(matrix(t, [][]int{{5, 0, 0}, {2, 0, 0}, {0, 0, 4}}))
	unaudited := sampling.BeggGreenes(sampling.Reviewed{Bad: 9, Good: 1}, sampling.Reviewed{Unreviewed: 500}, .95)
	noMiss := sampling.BeggGreenes(sampling.Reviewed{Bad: 90, Good: 10}, sampling.Reviewed{Good: 50, Unreviewed: 450}, .95)
	weighted, err := sampling.NewTable([]string{"a", "b"}, []int{0, 0}, []int{0, 0}, []float64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	shares, err := weighted.OneVersusRest(1)
	if err != nil {
		t.Fatal(err)
	}
	sole, err := agreement.NewRatings([]string{"a", "b"}, [][]string{{"a"}, {"b"}})
	if err != nil {
		t.Fatal(err)
	}
	apart, err := agreement.NewRatings([]string{"a", "b"}, [][]string{{"a", ""}, {"", "b"}})
	if err != nil {
		t.Fatal(err)
	}
	boot := func(kind []int, kinds int, f resample.Statistic) resample.Result {
		r, err := resample.BCa(resample.Units{Kinds: kinds, Kind: kind}, f, resample.Plan{Level: .95, Replicates: 200, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	kappa := resample.Kappa([]string{"p", "f"}, agreement.Identity(2))
	half := []bool{true, false, true, false}
	for _, tt := range []struct {
		name   string
		v      any
		null   string // field of the JSON
		reason string
	}{
		{"PPV of a judge that never flags", silent.PPV, "value", "flagged nothing"},
		{"MCC of it", silent.MCC, "value", "one verdict only"},
		{"its likelihood ratio", silent.PositiveRatio, "value", "no bound"},
		{"specificity without good items", oneClass.Specificity, "value", "every item bad"},
		{"balanced accuracy without good items", oneClass.BalancedAccuracy, "value", "one verdict only"},
		{"F1 of nothing", binary(classifier.Counts{TrueNegative: 3}).F1, "value", "call any item bad"},
		{"accuracy of nothing", binary(classifier.Counts{}).Accuracy, "value", "no items"},
		{"macro precision with a label never said", multi.MacroPrecision, "value", "never said"},
		{"multiclass of nothing", classifier.MeasureMulticlass(matrix(t, [][]int{{0, 0}, {0, 0}})).MacroF1, "value", "no item"},
		{"AUC of one class", classifier.AUC([]bool{true, true}, []float64{1, 2}, .95), "value", "every item bad"},
		{"AUC of separated scores", classifier.AUC(half, []float64{2, 1, 2, 1}, .95), "se", "no spread"},
		{"AUC of a score that is none", classifier.AUC(half, []float64{2, nan, 2, 1}, .95), "value", "not a number"},
		{"AP of one class", first(classifier.AveragePrecision([]bool{false}, []float64{1})), "value", "no item bad"},
		{"DeLong of one class", classifier.CompareAUC([]bool{false}, []float64{1}, []float64{2}, .95), "p_value", "no item bad"},
		{"correlation with a constant", scores.Pearson([]float64{1, 1, 1}, []float64{1, 2, 3}, .95), "value", "one and the same score"},
		{"Spearman with a constant", scores.Spearman([]float64{1, 2, 3}, []float64{4, 4, 4}), "value", "one and the same score"},
		{"tau with a constant", scores.KendallTauB([]float64{1, 2}, []float64{4, 4}), "value", "one and the same score"},
		{"correlation on a line", scores.Pearson([]float64{1, 2, 3, 4}, []float64{2, 4, 6, 8}, .95), "ci_low", "on a line"},
		{"correlation of two pairs", scores.Pearson([]float64{1, 2}, []float64{2, 1}, .95), "p_value", "three pairs"},
		{"Lin of constants", scores.LinCCC([]float64{1, 1}, []float64{1, 1}, .95), "value", "one and the same score"},
		{"limits of one pair", scores.Differences([]float64{1}, []float64{2}), "loa_low", "two pairs"},
		{"differences of nothing", scores.Differences(nil, nil), "bias", "no item"},
		{"ICC of equal scores", scores.ICC([][]float64{{1, 1}, {1, 1}}, .95).Single2, "value", "do not differ"},
		{"ICC of incomplete items", scores.ICC([][]float64{{1, nan}, {nan, 1}}, .95).Single2, "value", "every rater"},
		{"ICC of perfect raters", scores.ICC([][]float64{{1, 1}, {2, 2}, {3, 3}}, .95).Single1, "ci_low", "no spread"},
		{"Brier of nothing", forecast.Brier(nil, nil), "value", "no forecasts"},
		{"Brier beyond 1", forecast.Brier([]bool{true}, []float64{1.1}), "value", "not between 0 and 1"},
		{"split of nothing", forecast.Murphy(nil, nil), "brier", "no forecasts"},
		{"reliability without bins", forecast.Reliability([]bool{true}, []float64{1}, 0, forecast.Uniform, .95), "ece", "0 bins"},
		{"Rogan-Gladen of a coin", rate.RoganGladen(.5, .5, .5), "value", "no better than chance"},
		{"its interval", rate.LangReiczigel(.5, 100, rate.Calibration{Sensitivity: .5, Specificity: .5, Positives: 9, Negatives: 9}, .95), "value", "no better than chance"},
		{"a rate without calibration", rate.LangReiczigel(.5, 100, rate.Calibration{Sensitivity: 1, Specificity: 1}, .95), "value", "must be above 0"},
		{"post-stratified without labels of a verdict", rate.PostStratified(5, 10, rate.Labelled{True: 1, All: 2}, rate.Labelled{}, .95), "value", "not known"},
		{"post-stratified where all agree", rate.PostStratified(5, 10, rate.Labelled{True: 2, All: 2}, rate.Labelled{True: 3, All: 3}, .95), "ci_low", "no spread"},
		{"PPI without labels", rate.PPI(rate.Sample{Rest: []float64{1}}, rate.PowerTuned(), .95), "value", "no labels"},
		{"PPI without the rest", rate.PPI(rate.Sample{Y: []float64{1}, F: []float64{1}}, rate.PowerTuned(), .95), "value", "without labels"},
		{"PPI of equal labels", rate.PPI(rate.Sample{Y: []float64{1, 1}, F: []float64{1, 1}, Rest: []float64{1}}, rate.PowerTuned(), .95), "gain", "no spread"},
		{"sensitivity with no pass reviewed", unaudited.Sensitivity, "value", "nothing is known of 500 items"},
		{"sensitivity where no miss was found", noMiss.Sensitivity, "ci_low", "look at the bound"},
		{"weighted kappa of one label", weighted.Kappa(agreement.Identity(2)), "value", "one and the same label"},
		{"weighted sensitivity of a label nobody gave", shares.Sensitivity, "value", "call no item b"},
		{"Conger of one rater", agreement.CongerKappa(sole, agreement.Identity(2), .95), "value", "fewer than two raters"},
		{"Light of raters who share nothing", agreement.LightKappa(apart, agreement.Identity(2)), "value", "raters 1 and 2: no item"},
		{"Cochran where all are right", agreement.CochranQ([][]bool{{true, true}, {true, true}}), "p_value", "tells the judges apart"},
		{"no test of equal outcomes", must(agreement.TwoProportions(0, 5, 0, 7, .95)), "p_value", "all outcomes are the same"},
		{"McNemar of judges alike", agreement.McNemar(0, 0).Plain, "value", "tells the two apart"},
		{"ceiling of one label", agreement.KappaMax(matrix(t, [][]int{{4, 0}, {0, 0}})), "kappa", "one and the same label"},
		{"indices of three labels", agreement.PrevalenceBias(matrix(t, [][]int{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}})), "pabak", "two labels"},
		{"bootstrap of data with no kappa", boot([]int{0, 0, 0}, 4, kappa), "value", "undefined on the data"},
		{"bootstrap with replicates that have none", boot(append(make([]int, 28), 2, 2), 4, kappa), "ci_low", "replicates were undefined"},
		{"bootstrap of equal replicates", boot([]int{0, 0, 0}, 4, func([]int) (float64, bool) { return 1, true }), "ci_low", "all replicates are the same"},
		{"alt-test with two humans", alttest.Test([][]float64{{1, 2}}, []float64{1}, alttest.Options{Score: alttest.Match}), "winning_rate", "needs three"},
	} {
		body, err := json.Marshal(tt.v)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got map[string]any
		if err := json.Unmarshal(body, &got); err != nil {
			t.Fatal(err)
		}
		if v, there := got[tt.null]; !there || v != nil {
			t.Errorf("%s: %s is not null in %s", tt.name, tt.null, body)
		}
		if !strings.Contains(string(body), tt.reason) {
			t.Errorf("%s: no reason with %q in %s", tt.name, tt.reason, body)
		}
	}
}

func first(e agreement.Estimate, _ float64) agreement.Estimate { return e }

func must(d agreement.Difference, err error) agreement.Difference {
	if err != nil {
		panic(err)
	}
	return d
}

// Inputs that cannot be are errors, and say which number it is.
func TestBadInputIsRefused(t *testing.T) {
	inf := math.Inf(1)
	for name, err := range map[string]error{
		"-1 of 3":      second(agreement.BinomialTest(-1, 3, .5)),
		"rate 2":       second(agreement.BinomialTest(1, 3, 2)),
		"not a share":  second(agreement.TwoProportions(5, 3, 1, 2, .95)),
		"coefficient":  second(agreement.Membership(2, .1, agreement.LandisKoch())),
		"no error":     second(agreement.Membership(.5, 0, agreement.LandisKoch())),
		"bands":        second(agreement.Membership(.5, .1, []agreement.Band{{High: 1, Low: .5}, {High: .8, Low: .2}})),
		"codes":        second(agreement.CodedRatings([]string{"a"}, 2, []int32{0, 1})),
		"rows":         second(agreement.CodedRatings([]string{"a"}, 2, []int32{0})),
		"ragged":       second(agreement.NewRatings([]string{"a"}, [][]string{{"a"}, {"a", "a"}})),
		"off scale":    second(agreement.NewRatings([]string{"a"}, [][]string{{"b"}})),
		"infinite":     second(agreement.NewScores([][]float64{{1, inf}})),
		"counts":       second(classifier.Counts{TruePositive: -1}.Measure(.95)),
		"isotonic":     second(forecast.FitIsotonic([]float64{1}, nil)),
		"one class":    second(forecast.FitPlatt([]bool{true, true}, []float64{1, 2})),
		"one score":    second(forecast.FitPlatt([]bool{true, false}, []float64{1, 1})),
		"never drawn":  second(sampling.Weigh([]string{"a"}, []sampling.Label{{Probability: 0}})),
		"over 1":       second(sampling.Weigh([]string{"a"}, []sampling.Label{{Probability: 1.5}})),
		"no label":     second(sampling.NewTable([]string{"a"}, []int{1}, []int{0}, []float64{1})),
		"unreviewed":   second(sampling.Verdicts{Passed: sampling.Reviewed{Unreviewed: 3}}.Table()),
		"kappa":        second(samplesize.Kappa(1, .5, .1, .95)),
		"width":        second(samplesize.Proportion(.5, 0, .95)),
		"no effect":    second(samplesize.TwoProportions(.5, .5, .05, .8)),
		"no change":    second(samplesize.KappaTest(.5, .5, .6, .6, .05, .8, true)),
		"allocation":   second(samplesize.Allocate(5, 10, []samplesize.Stratum{{Size: 20, SD: .1}})),
		"baseline":     second(drift.BetaBinomial(1, 2, 1, drift.Uniform)),
		"prior":        second(drift.Sequence(1, 2, .05, drift.Prior{})),
		"alpha":        second(drift.BernoulliSequence(1, 2, 0, 10, .05)),
		"sigma":        second(drift.ChartEWMA([]float64{1}, 0, 0, .1, 3, drift.Growing)),
		"limit":        second(drift.ChartCUSUM([]float64{1}, 0, .5, 0)),
		"direction":    second(drift.ChartPageHinkley([]float64{1}, 0, 1, "sideways")),
		"run length":   second(drift.CUSUMRunLength(.5, 0, 0, false)),
		"no end":       second(drift.CUSUMRunLength(5, 500, 0, false)),
		"no votes":     second(latent.Majority(nil)),
		"votes":        second(latent.DawidSkene(latent.Votes{{{1, 0}}, {{1}}}, latent.Options{})),
		"smoothing":    second(latent.Start(latent.Votes{{{1, 0}}}, -1)),
		"level":        second(resample.Percentile(resample.Distinct(3), nil, resample.Plan{Level: 2})),
		"two strata":   second(resample.Percentile(resample.Units{Kinds: 1, Kind: []int{0, 0}, Cluster: []int{1, 1}, Stratum: []int{1, 2}}, nil, resample.Plan{Level: .95})),
		"kinds":        second(resample.Jackknife(resample.Units{Kinds: 1, Kind: []int{1}}, nil)),
		"lost cluster": second(resample.Jackknife(resample.Units{Kinds: 1, Kind: []int{0}, Cluster: []int{1, 2}}, nil)),
	} {
		if err == nil {
			t.Errorf("%s: accepted", name)
		} else if !strings.Contains(err.Error(), ": ") && !strings.Contains(err.Error(), "item") {
			t.Errorf("%s: %q does not say where", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Whatever comes in, no figure is NaN or infinite: JSON would refuse it.
func TestNoFigureIsNaN(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 13))
	write := func(what string, v any) {
		if body, err := json.Marshal(v); err != nil || strings.Contains(string(body), "NaN") {
			t.Fatalf("%s: %v in %+v", what, err, v)
		}
	}
	for range 800 {
		n := r.IntN(7)
		spread := []float64{0, 1, 1e-200, 1e150}[r.IntN(4)]
		x, y, p := make([]float64, n), make([]float64, n), make([]float64, n)
		bad := make([]bool, n)
		for i := range x {
			x[i], y[i], p[i] = spread*float64(r.IntN(3)), spread*float64(r.IntN(3)), float64(r.IntN(3))/2
			bad[i] = r.IntN(2) == 0
		}
		write("Pearson", scores.Pearson(x, y, .95))
		write("Spearman", scores.Spearman(x, y))
		write("tau", scores.KendallTauB(x, y))
		write("Lin", scores.LinCCC(x, y, .95))
		write("differences", scores.Differences(x, y))
		var rows [][]float64
		for i := range x {
			rows = append(rows, []float64{x[i], y[i]})
		}
		i := scores.ICC(rows, .95)
		for _, e := range []agreement.Estimate{i.Single1, i.Single2, i.Single3, i.Mean1, i.Mean2, i.Mean3} {
			write("ICC", e)
		}
		write("AUC", classifier.AUC(bad, x, .95))
		write("DeLong", classifier.CompareAUC(bad, x, y, .95))
		write("Brier", forecast.Brier(bad, p))
		write("log loss", forecast.LogLoss(bad, p, 1e-15))
		write("Murphy", forecast.Murphy(bad, p))
		write("reliability", forecast.Reliability(bad, p, 1+r.IntN(12), forecast.Quantile, .95))
		write("PPI", rate.PPI(rate.Sample{Y: x, F: y, Rest: p}, rate.PowerTuned(), .95))
		write("PPI, unclipped", rate.PPI(rate.Sample{Y: x, F: y, Rest: p}, rate.PowerTunedUnclipped(), .95))
		c := func() int { return r.IntN(3) * r.IntN(4) }
		if m, err := (classifier.Counts{TruePositive: c(), FalsePositive: c(), FalseNegative: c(), TrueNegative: c()}).Measure(.95); err == nil {
			write("metrics", m)
		}
		write("post-stratified", rate.PostStratified(c(), 9, rate.Labelled{True: min(c(), 2), All: 2}, rate.Labelled{True: min(c(), 1), All: 1}, .95))
		write("Lang", rate.LangReiczigel(r.Float64(), 1+c(), rate.Calibration{Sensitivity: float64(r.IntN(3)) / 2, Specificity: float64(r.IntN(3)) / 2, Positives: c(), Negatives: c()}, .95))
		write("Begg", sampling.BeggGreenes(sampling.Reviewed{Bad: c(), Good: c(), Unreviewed: c()}, sampling.Reviewed{Bad: c(), Good: c(), Unreviewed: c()}, .95))
		m := matrix(t, [][]int{{c(), c(), c()}, {c(), c(), c()}, {c(), c(), c()}})
		write("multiclass", classifier.MeasureMulticlass(m))
		for name, e := range coefficients(m, agreement.Quadratic(3)) {
			write(name, e)
		}
		write("Bowker", agreement.Bowker(m))
		u := resample.Cells(m)
		for _, f := range []func(resample.Units, resample.Statistic, resample.Plan) (resample.Result, error){resample.Percentile, resample.BCa} {
			b, err := f(u, resample.Kappa(numbered(3), agreement.Identity(3)), resample.Plan{Level: .95, Replicates: 20, Seed: r.Uint64()})
			if err != nil {
				t.Fatal(err)
			}
			write("bootstrap", b)
		}
		votes := make(latent.Votes, 1+n)
		for i := range votes {
			votes[i] = [][]int{{c(), c()}, {c(), c()}}
		}
		d, err := latent.DawidSkene(votes, latent.Options{MaxSteps: 30})
		if err != nil {
			t.Fatal(err)
		}
		write("Dawid-Skene", fmt.Sprint(d.Priors, d.Posterior, d.Errors, d.LogLikelihood))
	}
}
