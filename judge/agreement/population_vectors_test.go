package agreement_test

import (
	"encoding/json"
	"strings"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/rate"
	"github.com/countersign/countersign/judge/agreement/samplesize"
	"github.com/countersign/countersign/judge/agreement/sampling"
)

// populationStatistics are those of judge rates, unequal sampling and sample size.
var populationStatistics = map[string]statistic{
	"rogan_gladen":                roganGladen,
	"judge_corrected_rate_ci":     correctedRate,
	"ppi_mean":                    ppi,
	"ppi_plus_plus":               ppi,
	"poststratified_rate":         postStratified,
	"begg_greenes":                beggGreenes,
	"ipw_kappa":                   ipwKappa,
	"ipw_metrics":                 ipwMetrics,
	"sample_size_kappa_test":      sizeOfKappaTest,
	"sample_size_kappa_ci":        sizeOfKappa,
	"sample_size_proportion_ci":   sizeOfProportion,
	"sample_size_two_proportions": sizeOfTwoProportions,
}

func roganGladen(v vector) (map[string]any, error) {
	var in struct {
		P           float64 `json:"p_obs"`
		Sensitivity float64
		Specificity float64
	}
	if err := v.read(&in); err != nil {
		return nil, err
	}
	c := rate.RoganGladen(in.P, in.Sensitivity, in.Specificity)
	if c.Undefined != "" {
		return map[string]any{"theta": nil, "theta_clipped": nil}, nil
	}
	return map[string]any{"theta": c.Raw, "theta_clipped": c.Value}, nil
}

func correctedRate(v vector) (map[string]any, error) {
	var in struct {
		P           float64 `json:"p_judge"`
		Sensitivity float64
		Specificity float64
		N           int `json:"n"`
		M0, M1      int
	}
	if err := v.read(&in); err != nil {
		return nil, err
	}
	c := rate.LangReiczigel(in.P, in.N, rate.Calibration{
		Sensitivity: in.Sensitivity, Specificity: in.Specificity, Positives: in.M1, Negatives: in.M0,
	}, v.level())
	out := estimate(c.Estimate)
	out["theta_plugin"], out["theta_adjusted"], out["shift"] = out["value"], nil, nil
	if c.HasInterval() {
		out["theta_adjusted"], out["shift"] = c.Adjusted, c.Shift
	}
	return out, nil
}

// ppiSample reads the three sides and the level, which PPI's tools give as alpha.
func (v vector) ppiSample() (s rate.Sample, level float64, err error) {
	var in struct {
		Y    []float64 `json:"y_labelled"`
		F    []float64 `json:"f_labelled"`
		Rest []float64 `json:"f_unlabelled"`
	}
	err = v.read(&in)
	level = v.level()
	if v.Options.Alpha != nil {
		level = 1 - *v.Options.Alpha
	}
	return rate.Sample{Y: in.Y, F: in.F, Rest: in.Rest}, level, err
}

func ppi(v vector) (map[string]any, error) {
	s, level, err := v.ppiSample()
	if err != nil {
		return nil, err
	}
	tuning := rate.Fixed(1)
	switch {
	case v.Options.Lambda != nil:
		var lambda float64
		if err := json.Unmarshal(v.Options.Lambda, &lambda); err != nil {
			return nil, err
		}
		tuning = rate.Fixed(lambda)
	case strings.Contains(v.Options.LambdaFrom, "unclipped"):
		tuning = rate.PowerTunedUnclipped()
	case v.Statistic == "ppi_plus_plus":
		tuning = rate.PowerTuned()
	}
	p := rate.PPI(s, tuning, level)
	out := estimate(p.Estimate)
	out["theta"], out["lambda_"] = out["value"], nil
	out["classical_theta"], out["classical_se"], out["effective_n_ratio"] = value(p.Human), nil, nil
	if p.Defined() {
		out["lambda_"] = p.Lambda
	}
	if p.Human.HasInterval() {
		out["classical_se"] = p.Human.SE
	}
	if p.HasInterval() && p.Human.HasInterval() {
		out["effective_n_ratio"] = p.Gain
	}
	return out, nil
}

func postStratified(v vector) (map[string]any, error) {
	s, level, err := v.ppiSample()
	if err != nil {
		return nil, err
	}
	var positive, negative rate.Labelled
	flagged, judged := 0, 0
	for i, f := range s.F {
		of := &negative
		if f == 1 {
			of = &positive
		}
		of.All++
		if s.Y[i] == 1 {
			of.True++
		}
	}
	// The reference takes the judge's rate from the items without labels.
	for _, f := range s.Rest {
		judged++
		if f == 1 {
			flagged++
		}
	}
	out := estimate(rate.PostStratified(flagged, judged, positive, negative, level))
	out["theta"] = out["value"]
	return out, nil
}

func (v vector) verdicts() (sampling.Verdicts, error) {
	var in struct {
		Verified struct {
			J1H1 int `json:"judge1_human1"`
			J1H0 int `json:"judge1_human0"`
			J0H1 int `json:"judge0_human1"`
			J0H0 int `json:"judge0_human0"`
		}
		Unverified struct{ Judge1, Judge0 int }
	}
	err := v.read(&in)
	return sampling.Verdicts{
		Flagged: sampling.Reviewed{Bad: in.Verified.J1H1, Good: in.Verified.J1H0, Unreviewed: in.Unverified.Judge1},
		Passed:  sampling.Reviewed{Bad: in.Verified.J0H1, Good: in.Verified.J0H0, Unreviewed: in.Unverified.Judge0},
	}, err
}

func beggGreenes(v vector) (map[string]any, error) {
	all, err := v.verdicts()
	if err != nil {
		return nil, err
	}
	u := sampling.BeggGreenes(all.Flagged, all.Passed, v.level())
	out := map[string]any{
		"sensitivity": value(u.Sensitivity), "specificity": value(u.Specificity), "prevalence": value(u.Prevalence),
		"ppv": value(u.PPV), "npv": value(u.NPV),
		"naive_sensitivity": value(u.NaiveSensitivity), "naive_specificity": value(u.NaiveSpecificity),
		"missed_rate_upper_clopper_pearson": value(u.MissedAtMost), "sensitivity_lower_if_upper": value(u.SensitivityAtLeast),
		"se_logit_sens": nil, "se_logit_spec": nil, "sens_ci": nil, "spec_ci": nil,
	}
	if u.Sensitivity.HasInterval() {
		out["se_logit_sens"], out["sens_ci"] = u.SensitivityLogitSE, []any{u.Sensitivity.Low, u.Sensitivity.High}
	}
	if u.Specificity.HasInterval() {
		out["se_logit_spec"], out["spec_ci"] = u.SpecificityLogitSE, []any{u.Specificity.Low, u.Specificity.High}
	}
	return out, nil
}

func ipwKappa(v vector) (map[string]any, error) {
	all, err := v.verdicts()
	if err != nil {
		return nil, err
	}
	out := map[string]any{"kappa": nil, "kappa_naive": nil, "effective_n": nil}
	flagged, passed := all.Weights()
	out["weights"] = []any{flagged, passed}
	if t, err := all.Table(); err == nil {
		out["kappa"], out["effective_n"] = value(t.Kappa(agreement.Identity(2))), t.EffectiveN()
	}
	naive, err := agreement.NewConfusion([]string{"bad", "good"}, [][]int{
		{all.Flagged.Bad, all.Passed.Bad}, {all.Flagged.Good, all.Passed.Good}})
	if err != nil {
		return nil, err
	}
	out["kappa_naive"] = value(agreement.CohenKappa(naive, agreement.Identity(2), v.level()).Estimate)
	return out, nil
}

func ipwMetrics(v vector) (map[string]any, error) {
	var in struct {
		Human, Judge []int
		Weight       []float64
	}
	if err := v.read(&in); err != nil {
		return nil, err
	}
	t, err := sampling.NewTable([]string{"0", "1"}, in.Human, in.Judge, in.Weight)
	if err != nil { // a weight that cannot be: the population cannot be described
		none := map[string]any{}
		for _, name := range []string{"sensitivity", "specificity", "ppv", "npv", "accuracy", "prevalence", "kappa", "effective_n"} {
			none[name] = nil
		}
		return none, nil
	}
	s, err := t.OneVersusRest(1)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"sensitivity": value(s.Sensitivity), "specificity": value(s.Specificity), "ppv": value(s.PPV), "npv": value(s.NPV),
		"accuracy": value(s.Accuracy), "prevalence": value(s.Prevalence),
		"kappa": value(t.Kappa(agreement.Identity(2))), "effective_n": t.EffectiveN(),
	}, nil
}

func sized(s samplesize.Size, err error) map[string]any {
	if err != nil {
		return map[string]any{"n": nil, "n_exact": nil}
	}
	return map[string]any{"n": float64(s.N), "n_exact": s.Exact}
}

func sizeOfKappaTest(v vector) (map[string]any, error) {
	var in struct {
		Rate1, Rate2 float64
		True         float64 `json:"kappa_true"`
		Null         float64 `json:"kappa_null"`
		Alpha, Power float64
		TwoSided     bool `json:"two_sided"`
	}
	if err := v.read(&in); err != nil {
		return nil, err
	}
	return sized(samplesize.KappaTest(in.Rate1, in.Rate2, in.True, in.Null, in.Alpha, in.Power, in.TwoSided)), nil
}

type interval struct {
	Kappa, Prevalence, P float64
	Half                 float64  `json:"half_width"`
	Level                *float64 `json:"conf_level"`
}

func (v vector) interval() (interval, float64, error) {
	var in interval
	err := v.read(&in)
	level := v.level()
	if in.Level != nil {
		level = *in.Level
	}
	return in, level, err
}

func sizeOfKappa(v vector) (map[string]any, error) {
	in, level, err := v.interval()
	if err != nil {
		return nil, err
	}
	return sized(samplesize.Kappa(in.Kappa, in.Prevalence, in.Half, level)), nil
}

func sizeOfProportion(v vector) (map[string]any, error) {
	in, level, err := v.interval()
	if err != nil {
		return nil, err
	}
	wald := sized(samplesize.ProportionWald(in.P, in.Half, level))
	wilson := sized(samplesize.Proportion(in.P, in.Half, level))
	return map[string]any{"n_wald": wald["n"], "n_wald_exact": wald["n_exact"], "n_wilson": wilson["n"]}, nil
}

func sizeOfTwoProportions(v vector) (map[string]any, error) {
	var in struct{ P1, P2, Alpha, Power float64 }
	if err := v.read(&in); err != nil {
		return nil, err
	}
	out := sized(samplesize.TwoProportions(in.P1, in.P2, in.Alpha, in.Power))
	return map[string]any{"n_per_group": out["n_exact"], "n": out["n"]}, nil
}
