package agreement_test

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/resample"
)

var resampleStatistics = map[string]statistic{
	"jackknife_se": jackknife,
	"bootstrap_ci": bootstrap,
}

// resampled is what a vector draws from, and what it computes.
func (v vector) resampled(name, level string) (resample.Units, resample.Statistic, error) {
	var none resample.Units
	switch name {
	case "krippendorff_alpha":
		it, err := v.items()
		if err != nil {
			return none, nil, err
		}
		metric := agreement.Metric(level)
		if metric == "" {
			metric = agreement.MetricNominal
		}
		var values []float64
		if metric == agreement.MetricInterval || metric == agreement.MetricRatio {
			for _, l := range it.Labels() {
				x, err := strconv.ParseFloat(l, 64)
				if err != nil {
					return none, nil, err
				}
				values = append(values, x)
			}
		}
		u, profiles := resample.Items(it)
		return u, resample.Alpha(profiles, metric, values), nil
	}
	x, y, scale, err := v.labelPairs()
	if err != nil {
		return none, nil, err
	}
	at := func(labels []string) []int {
		out := make([]int, len(labels))
		for i, l := range labels {
			out[i] = slices.Index(scale, l)
		}
		return out
	}
	u, err := resample.Pairs(len(scale), at(x), at(y))
	if err != nil {
		return none, nil, err
	}
	w, err := v.weights(len(scale))
	if err != nil {
		return none, nil, err
	}
	var of func(agreement.Confusion, agreement.Weights, float64) agreement.Coefficient
	switch name {
	case "cohen_kappa", "cohen_kappa_weighted":
		return u, resample.Kappa(scale, w), nil
	case "scott_pi":
		of = agreement.ScottPi
	case "gwet_ac1", "gwet_ac2":
		of = agreement.GwetAC
	case "bennett_s":
		of = agreement.BrennanPrediger
	case "percent_agreement":
		return u, resample.OfConfusion(scale, func(m agreement.Confusion) (float64, bool) {
			e := agreement.Agreement(m, 0.95)
			return e.Value, e.Defined()
		}), nil
	default:
		return none, nil, fmt.Errorf("no resampling of %q", name)
	}
	return u, resample.OfConfusion(scale, func(m agreement.Confusion) (float64, bool) {
		c := of(m, w, 0.95)
		return c.Value, c.Defined()
	}), nil
}

func (v vector) labelPairs() (x, y, scale []string, err error) {
	var in struct {
		X, Y  []any
		Pairs [][2]any
	}
	if err := v.read(&in); err != nil {
		return nil, nil, nil, err
	}
	for _, p := range in.Pairs {
		in.X, in.Y = append(in.X, p[0]), append(in.Y, p[1])
	}
	for _, row := range v.Input.Ratings {
		if len(row) == 2 && row[0] != nil && row[1] != nil {
			in.X, in.Y = append(in.X, row[0]), append(in.Y, row[1])
		}
	}
	return texts(in.X), texts(in.Y), v.scale(in.X, in.Y), nil
}

func jackknife(v vector) (map[string]any, error) {
	var in struct{ Statistic, Level string }
	if err := v.read(&in); err != nil {
		return nil, err
	}
	u, f, err := v.resampled(in.Statistic, in.Level)
	if err != nil {
		return nil, err
	}
	e, err := resample.Jackknife(u, f)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"se": nil, "value": value(e), "theta": value(e), "n": float64(e.N)}
	if e.SE > 0 {
		out["se"] = e.SE
	}
	return out, nil
}

func bootstrap(v vector) (map[string]any, error) {
	var in struct {
		Statistic, Level string
		Draws            [][]int `json:"resample_indices"`
	}
	if err := v.read(&in); err != nil {
		return nil, err
	}
	u, f, err := v.resampled(in.Statistic, in.Level)
	if err != nil {
		return nil, err
	}
	r, err := resample.Replay(u, f, in.Draws, v.level())
	if err != nil {
		return nil, err
	}
	out := estimate(r.Estimate)
	out["theta"], out["undefined"], out["percentile"] = out["value"], float64(r.UndefinedReplicates), nil
	if r.HasInterval() {
		out["percentile"] = []any{r.Low, r.High}
	}
	return out, nil
}
