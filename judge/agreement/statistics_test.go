package agreement_test

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/countersign/countersign/judge/agreement"
)

// statistics computes the named values of a vector, by its statistic.
var statistics = map[string]func(vector) (map[string]any, error){
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
	out["pa"], out["pe"] = c.Observed, c.Expected
	return out
}

// cohen gives the Wald interval that the reference tools print, not the one
// that CohenKappa chooses for people.
func cohen(m agreement.Confusion, w agreement.Weights, level float64) map[string]any {
	k := agreement.CohenKappa(m, w, level)
	out := estimate(k.Estimate)
	out["kappa"], out["po"], out["pe"] = out["value"], k.Observed, k.Expected
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
