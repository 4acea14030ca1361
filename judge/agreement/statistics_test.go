package agreement_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/countersign/countersign/judge/agreement"
)

// statistic computes the named values of a vector.
type statistic = func(vector) (map[string]any, error)

// allStatistics are those of every family, by name.
func allStatistics(t *testing.T) map[string]statistic {
	t.Helper()
	all := map[string]statistic{}
	for _, family := range []map[string]statistic{
		raterStatistics, scoreStatistics, classifierStatistics, forecastStatistics, populationStatistics,
		driftStatistics, latentStatistics, resampleStatistics,
	} {
		for name, f := range family {
			if all[name] != nil {
				t.Fatalf("statistic %q is in two families", name)
			}
			all[name] = f
		}
	}
	return all
}

var raterStatistics = map[string]statistic{
	"proportion_ci": proportionCI,
	"percent_agreement": twoRaters(func(m agreement.Confusion, _ agreement.Weights, level float64) map[string]any {
		return estimate(agreement.Agreement(m, level))
	}),
	"percent_agreement_multi":             percentAgreementMulti,
	"cohen_kappa":                         twoRaters(cohen),
	"cohen_kappa_weighted":                twoRaters(cohen),
	"kappa_max":                           twoRaters(kappaMax),
	"specific_agreement":                  twoRaters(specific),
	"prevalence_bias_indices":             twoRaters(prevalence),
	"scott_pi":                            chance(agreement.ScottPi, agreement.MultiScottPi),
	"scott_pi_weighted":                   chance(agreement.ScottPi, agreement.MultiScottPi),
	"bennett_s":                           chance(agreement.BrennanPrediger, agreement.MultiBrennanPrediger),
	"brennan_prediger_weighted":           chance(agreement.BrennanPrediger, agreement.MultiBrennanPrediger),
	"gwet_ac1":                            chance(agreement.GwetAC, agreement.MultiGwetAC),
	"gwet_ac2":                            chance(agreement.GwetAC, agreement.MultiGwetAC),
	"fleiss_kappa":                        fleiss,
	"fleiss_kappa_per_category":           fleiss,
	"fleiss_kappa_gwet_se":                chance(agreement.ScottPi, agreement.MultiScottPi),
	"fleiss_kappa_gwet_se_weighted":       chance(agreement.ScottPi, agreement.MultiScottPi),
	"randolph_kappa":                      chance(agreement.BrennanPrediger, agreement.MultiBrennanPrediger),
	"randolph_kappa_gwet_se":              chance(agreement.BrennanPrediger, agreement.MultiBrennanPrediger),
	"randolph_kappa_gwet_se_weighted":     chance(agreement.BrennanPrediger, agreement.MultiBrennanPrediger),
	"krippendorff_alpha":                  alpha,
	"krippendorff_alpha_gwet_se":          alphaGwet,
	"krippendorff_alpha_gwet_se_weighted": alphaGwet,
	"bowker_symmetry":                     twoRaters(bowker),
	"marginal_homogeneity":                twoRaters(marginal),
	"mcnemar":                             mcnemar,
	"category_kappa":                      twoRaters(nil),
	"conger_kappa":                        conger,
	"light_kappa":                         light,
	"benchmark_membership":                benchmark,
	"binomial_test":                       binomialTest,
	"two_proportion_test":                 twoProportions,
	"proportion_difference_ci":            twoProportions,
	"cochran_q":                           cochran,
}

func twoRaters(f func(agreement.Confusion, agreement.Weights, float64) map[string]any) func(vector) (map[string]any, error) {
	return func(v vector) (map[string]any, error) {
		m, err := v.confusion()
		if err != nil {
			return nil, err
		}
		w, err := v.weights(len(m.Labels()))
		if err != nil {
			return nil, err
		}
		if f == nil {
			return categoryKappa(v, m)
		}
		return f(m, w, v.level()), nil
	}
}

// chance takes a confusion matrix to the formula of two raters and anything
// else to that of many.
func chance(
	two func(agreement.Confusion, agreement.Weights, float64) agreement.Coefficient,
	many func(agreement.Items, agreement.Weights, float64) agreement.Coefficient,
) func(vector) (map[string]any, error) {
	return func(v vector) (map[string]any, error) {
		if v.Input.Type == "confusion_matrix" || v.Input.Type == "pairs" {
			return twoRaters(func(m agreement.Confusion, w agreement.Weights, level float64) map[string]any {
				return coefficient(two(m, w, level))
			})(v)
		}
		it, w, err := v.itemsAndWeights()
		if err != nil {
			return nil, err
		}
		return coefficient(many(it, w, v.level())), nil
	}
}

func (v vector) itemsAndWeights() (agreement.Items, agreement.Weights, error) {
	it, err := v.items()
	if err != nil {
		return it, nil, err
	}
	w, err := v.weights(len(it.Labels()))
	return it, w, err
}

// estimate names the values of an estimate; what is undefined is nil.
func estimate(e agreement.Estimate) map[string]any {
	out := map[string]any{"value": nil, "se": nil, "ci_low": nil, "ci_high": nil, "n": float64(e.N)}
	if e.Defined() {
		out["value"] = e.Value
	}
	if e.HasInterval() {
		out["se"], out["ci_low"], out["ci_high"] = e.SE, e.Low, e.High
	}
	return out
}

func coefficient(c agreement.Coefficient) map[string]any {
	out := estimate(c.Estimate)
	out["pa"], out["pe"] = nil, nil
	if c.N > 0 {
		out["pa"], out["pe"] = c.Observed, c.Expected
	}
	return out
}

// cohen gives the Wald interval that the reference tools print, not the one
// that CohenKappa chooses for people.
func cohen(m agreement.Confusion, w agreement.Weights, level float64) map[string]any {
	k := agreement.CohenKappa(m, w, level)
	out := estimate(k.Estimate)
	out["kappa"], out["po"], out["pe"] = out["value"], nil, nil
	if k.N > 0 {
		out["po"], out["pe"] = k.Observed, k.Expected
	}
	for _, name := range []string{"ci_low", "ci_high", "ci_low_t", "ci_high_t", "se0", "z", "p_value"} {
		out[name] = nil
	}
	if low, high, ok := k.Wald(level); ok {
		out["ci_low"], out["ci_high"] = low, high
	}
	if low, high, ok := k.Student(level); ok {
		out["ci_low_t"], out["ci_high_t"] = low, high
	}
	if k.Defined() {
		out["se0"] = k.SE0
		if k.NoTest == "" {
			out["z"], out["p_value"] = k.Z, k.P
		}
	}
	return out
}

func kappaMax(m agreement.Confusion, w agreement.Weights, level float64) map[string]any {
	out := map[string]any{"kappa": nil, "po_max": nil, "kappa_max": nil}
	if k := agreement.CohenKappa(m, w, level); k.Defined() {
		out["kappa"] = k.Value
	}
	if c := agreement.KappaMax(m); c.Undefined == "" {
		out["po_max"], out["kappa_max"] = c.Agreement, c.Kappa
	}
	return out
}

func specific(m agreement.Confusion, _ agreement.Weights, _ float64) map[string]any {
	var per []any
	for _, e := range agreement.Specific(m) {
		if e.Defined() {
			per = append(per, e.Value)
		} else {
			per = append(per, nil)
		}
	}
	out := map[string]any{"per_category": per}
	if len(per) == 2 {
		out["first"], out["second"] = per[0], per[1]
		out["p_pos"], out["p_neg"] = per[0], per[1]
	}
	return out
}

func prevalence(m agreement.Confusion, w agreement.Weights, level float64) map[string]any {
	out := specific(m, w, level)
	out["prevalence_index"], out["bias_index"], out["pabak"] = nil, nil, nil
	if x := agreement.PrevalenceBias(m); x.Undefined == "" {
		out["prevalence_index"], out["bias_index"], out["pabak"] = x.Prevalence, x.Bias, x.PABAK
	}
	return out
}

func categoryKappa(v vector, m agreement.Confusion) (map[string]any, error) {
	k := v.Options.CategoryIndex
	if k < 0 || k >= len(m.Labels()) {
		return nil, fmt.Errorf("category_index %d is not on the scale", k)
	}
	one := m.OneVersusRest(k)
	var e agreement.Estimate
	switch v.Options.Convention {
	case "cohen":
		e = agreement.CohenKappa(one, agreement.Identity(2), v.level()).Estimate
	case "scott":
		e = agreement.ScottPi(one, agreement.Identity(2), v.level()).Estimate
	default:
		return nil, fmt.Errorf("convention %q is not known", v.Options.Convention)
	}
	out := estimate(e)
	out["kappa"] = out["value"]
	return out, nil
}

func percentAgreementMulti(v vector) (map[string]any, error) {
	it, err := v.items()
	if err != nil {
		return nil, err
	}
	return estimate(agreement.MultiAgreement(it, v.level())), nil
}

func fleiss(v vector) (map[string]any, error) {
	it, err := v.items()
	if err != nil {
		return nil, err
	}
	f := agreement.FleissKappa(it, v.level())
	out := coefficient(f.Coefficient)
	out["po"], out["se0"], out["z"] = f.Observed, nil, nil
	if f.Defined() {
		out["se0"], out["z"] = f.SE0, f.Z
	}
	var per []any
	for _, k := range f.PerLabel {
		if k == nil {
			per = append(per, nil)
		} else {
			per = append(per, *k)
		}
	}
	out["per_category"] = per
	return out, nil
}

func proportionCI(v vector) (map[string]any, error) {
	var x int
	if err := json.Unmarshal(v.Input.X, &x); err != nil {
		return nil, err
	}
	out := map[string]any{}
	for name, f := range map[string]func(int, int, float64) (agreement.Interval, error){
		"wilson": agreement.Wilson, "wilson_cc": agreement.WilsonCC,
		"clopper_pearson": agreement.ClopperPearson,
		"agresti_coull":   agreement.AgrestiCoull, "jeffreys": agreement.Jeffreys,
	} {
		ci, err := f(x, v.Input.N, v.level())
		if err != nil {
			out[name] = nil
			continue
		}
		out[name] = []any{ci.Low, ci.High}
	}
	return out, nil
}

func alpha(v vector) (map[string]any, error) {
	it, err := v.items()
	if err != nil {
		return nil, err
	}
	metric := agreement.Metric(v.Options.Level)
	if metric == "" {
		metric = agreement.MetricNominal
	}
	var values []float64
	if metric == agreement.MetricInterval || metric == agreement.MetricRatio {
		for _, l := range it.Labels() {
			x, err := strconv.ParseFloat(l, 64)
			if err != nil {
				return nil, err
			}
			values = append(values, x)
		}
	}
	a := agreement.KrippendorffAlpha(it, metric, values)
	out := map[string]any{"alpha": nil, "Do": a.Observed, "De": a.Expected, "n_pairable": float64(a.Pairable)}
	if a.Defined() {
		out["alpha"] = a.Value
	}
	return out, nil
}

func alphaGwet(v vector) (map[string]any, error) {
	it, w, err := v.itemsAndWeights()
	if err != nil {
		return nil, err
	}
	out := coefficient(agreement.KrippendorffGwet(it, w, v.level()))
	out["n0"] = float64(it.N())
	return out, nil
}

// test puts a chi-square under two names; undefined is nil.
func test(out map[string]any, value, p string, c agreement.ChiSquare) {
	out[value], out[p] = nil, nil
	if c.Undefined == "" {
		out[value], out[p], out["df"] = c.Value, c.P, float64(c.DF)
	}
}

func bowker(m agreement.Confusion, _ agreement.Weights, _ float64) map[string]any {
	out := map[string]any{}
	test(out, "chi2", "p_value", agreement.Bowker(m))
	return out
}

func marginal(m agreement.Confusion, _ agreement.Weights, _ float64) map[string]any {
	out := map[string]any{}
	stuart, bhapkar := agreement.MarginalHomogeneity(m)
	test(out, "stuart_maxwell", "p_stuart_maxwell", stuart)
	test(out, "bhapkar", "p_bhapkar", bhapkar)
	return out
}

func mcnemar(v vector) (map[string]any, error) {
	b, c := v.Input.B, v.Input.C
	if v.Input.Type == "confusion_matrix" {
		m, err := v.confusion()
		if err != nil {
			return nil, err
		}
		if len(m.Labels()) != 2 {
			return nil, fmt.Errorf("%d labels where two are needed", len(m.Labels()))
		}
		b, c = m.Counts()[0][1], m.Counts()[1][0]
	}
	p := agreement.McNemar(b, c)
	out := map[string]any{"p_exact": p.Exact, "p_midp": p.MidP}
	test(out, "chi2", "p_chi2", p.Plain)
	test(out, "chi2_cc", "p_chi2_cc", p.Corrected)
	return out, nil
}

func (v vector) ratings() (agreement.Ratings, agreement.Weights, error) {
	rows := make([][]string, len(v.Input.Ratings))
	for i, row := range v.Input.Ratings {
		rows[i] = texts(row)
	}
	r, err := agreement.NewRatings(v.scale(v.Input.Ratings...), rows)
	if err != nil {
		return r, nil, err
	}
	w, err := v.weights(len(r.Labels()))
	return r, w, err
}

func conger(v vector) (map[string]any, error) {
	r, w, err := v.ratings()
	if err != nil {
		return nil, err
	}
	return coefficient(agreement.CongerKappa(r, w, v.level())), nil
}

func light(v vector) (map[string]any, error) {
	r, w, err := v.ratings()
	if err != nil {
		return nil, err
	}
	return estimate(agreement.LightKappa(r, w)), nil
}

func benchmark(v vector) (map[string]any, error) {
	var in struct {
		Coefficient float64
		SE          float64
		Intervals   [][2]float64 `json:"intervals_high_to_low"`
	}
	if err := v.read(&in); err != nil {
		return nil, err
	}
	var bands []agreement.Band
	if in.Intervals == nil {
		bands = agreement.LandisKoch()
	}
	for _, b := range in.Intervals {
		bands = append(bands, agreement.Band{Low: b[0], High: b[1]})
	}
	p, err := agreement.Membership(in.Coefficient, in.SE, bands)
	if err != nil {
		return map[string]any{"cumulative": nil}, nil
	}
	return map[string]any{"cumulative": list(p)}, nil
}

func list[T float64 | int](p []T) []any {
	out := make([]any, len(p))
	for i, v := range p {
		out[i] = float64(v)
	}
	return out
}

func binomialTest(v vector) (map[string]any, error) {
	var in struct {
		X, N int
		P0   float64
	}
	if err := v.read(&in); err != nil {
		return nil, err
	}
	p, err := agreement.BinomialTest(in.X, in.N, in.P0)
	if err != nil {
		return map[string]any{"p_value": nil}, nil
	}
	return map[string]any{"p_value": p}, nil
}

func twoProportions(v vector) (map[string]any, error) {
	var in struct{ X1, N1, X2, N2 int }
	if err := v.read(&in); err != nil {
		return nil, err
	}
	out := map[string]any{"diff": nil, "ci": nil, "ci_low": nil, "ci_high": nil, "z": nil, "p_value": nil}
	d, err := agreement.TwoProportions(in.X1, in.N1, in.X2, in.N2, v.level())
	if err != nil {
		return out, nil
	}
	out["diff"], out["ci"], out["ci_low"], out["ci_high"] = d.Value, []any{d.Low, d.High}, d.Low, d.High
	if d.NoTest == "" {
		out["z"], out["p_value"] = d.Z, d.P
	}
	return out, nil
}

func cochran(v vector) (map[string]any, error) {
	var right [][]bool
	for i, row := range v.Input.Ratings {
		var of []bool
		for _, c := range row {
			switch c {
			case 0.0, 1.0, true, false:
				of = append(of, c == 1.0 || c == true)
			default:
				return nil, fmt.Errorf("item %d holds %v, which is not 0 or 1", i+1, c)
			}
		}
		right = append(right, of)
	}
	out := map[string]any{"df": nil}
	test(out, "q", "p_value", agreement.CochranQ(right))
	return out, nil
}
