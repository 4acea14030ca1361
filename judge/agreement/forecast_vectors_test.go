package agreement_test

import (
	"github.com/countersign/countersign/judge/agreement/forecast"
)

var forecastStatistics = map[string]statistic{
	"brier_score":         brier,
	"log_loss":            logLoss,
	"brier_decomposition": murphy,
	"calibration_curve":   reliability,
	"ece":                 reliability,
	"isotonic":            isotonic,
	"platt":               platt,
}

func (v vector) forecasts() (happened []bool, p []float64, err error) {
	var in struct {
		Y []any
		P []float64
	}
	if err := v.read(&in); err != nil {
		return nil, nil, err
	}
	happened, err = truths(in.Y)
	return happened, in.P, err
}

func brier(v vector) (map[string]any, error) {
	y, p, err := v.forecasts()
	if err != nil {
		return nil, err
	}
	return map[string]any{"brier": value(forecast.Brier(y, p))}, nil
}

func logLoss(v vector) (map[string]any, error) {
	y, p, err := v.forecasts()
	if err != nil {
		return nil, err
	}
	clip := v.Options.Clip
	if clip == 0 {
		clip = 1e-15
	}
	return map[string]any{"log_loss": value(forecast.LogLoss(y, p, clip))}, nil
}

func murphy(v vector) (map[string]any, error) {
	y, p, err := v.forecasts()
	if err != nil {
		return nil, err
	}
	s := forecast.Murphy(y, p)
	if s.Undefined != "" {
		return map[string]any{"brier": nil, "reliability": nil, "resolution": nil, "uncertainty": nil}, nil
	}
	return map[string]any{"brier": s.Brier, "reliability": s.Reliability, "resolution": s.Resolution, "uncertainty": s.Uncertainty}, nil
}

func reliability(v vector) (map[string]any, error) {
	y, p, err := v.forecasts()
	if err != nil {
		return nil, err
	}
	bins, by := v.Options.Bins, forecast.Binning(v.Options.Strategy)
	if bins == 0 {
		bins = 10
	}
	if by == "" {
		by = forecast.Uniform
	}
	c := forecast.Reliability(y, p, bins, by, v.level())
	if c.Undefined != "" {
		return map[string]any{"ece": nil, "mce": nil, "prob_true": nil, "prob_pred": nil, "count": nil}, nil
	}
	var stated, observed, count []float64
	for _, b := range c.Bins {
		stated, observed, count = append(stated, b.Stated), append(observed, b.Observed.Value), append(count, float64(b.Count))
	}
	return map[string]any{"ece": c.ECE, "mce": c.MCE, "prob_true": list(observed), "prob_pred": list(stated), "count": list(count)}, nil
}

func isotonic(v vector) (map[string]any, error) {
	x, y, err := v.scores()
	if err != nil {
		return nil, err
	}
	f, err := forecast.FitIsotonic(x, y)
	if err != nil {
		return map[string]any{"fitted": nil}, nil
	}
	fitted := make([]float64, len(x))
	for i := range x {
		fitted[i] = f.At(x[i])
	}
	return map[string]any{"fitted": list(fitted)}, nil
}

func platt(v vector) (map[string]any, error) {
	y, score, _, err := v.scored()
	if err != nil {
		return nil, err
	}
	f, err := forecast.FitPlatt(y, score)
	if err != nil {
		return map[string]any{"A": nil, "B": nil}, nil
	}
	return map[string]any{"A": f.A, "B": f.B}, nil
}
