package agreement_test

import (
	"encoding/json"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/drift"
)

var driftStatistics = map[string]statistic{
	"ewma":                       ewma,
	"cusum":                      cusum,
	"page_hinkley":               pageHinkley,
	"cusum_arl":                  cusumRunLength,
	"ewma_arl":                   ewmaRunLength,
	"beta_binomial_evalue":       evalue,
	"confidence_sequence_beta":   sequence,
	"confidence_sequence_howard": bernoulliSequence,
	"normal_mixture_bound":       mixtureBound,
}

func (v vector) series() ([]float64, error) {
	var in struct{ X []float64 }
	err := v.read(&in)
	return in.X, err
}

// point is where a chart signals, from 1; nil where it never does.
func point(signal int) any {
	if signal == drift.NoSignal {
		return nil
	}
	return float64(signal)
}

func ewma(v vector) (map[string]any, error) {
	x, err := v.series()
	if err != nil {
		return nil, err
	}
	var lambda float64
	if err := json.Unmarshal(v.Options.Lambda, &lambda); err != nil {
		return nil, err
	}
	limits := drift.Growing
	if v.Options.Limits != "" && v.Options.Limits != "time-varying" {
		limits = drift.Steady
	}
	c, err := drift.ChartEWMA(x, v.Options.Mu0, v.Options.Sigma, lambda, v.Options.Width, limits)
	if err != nil {
		return nil, err
	}
	return map[string]any{"z": list(c.Z), "lcl": list(c.Lower), "ucl": list(c.Upper), "first_signal": point(c.Signal)}, nil
}

func last(x []float64) any {
	if len(x) == 0 {
		return nil
	}
	return x[len(x)-1]
}

func cusum(v vector) (map[string]any, error) {
	x, err := v.series()
	if err != nil {
		return nil, err
	}
	c, err := drift.ChartCUSUM(x, v.Options.Mu0, v.Options.K, v.Options.H)
	if err != nil {
		return nil, err
	}
	signal := c.SignalDown
	if signal == drift.NoSignal || (c.SignalUp != drift.NoSignal && c.SignalUp < signal) {
		signal = c.SignalUp
	}
	return map[string]any{
		"c_plus_end": last(c.Up), "c_minus_end": last(c.Down), "c_plus": list(c.Up), "c_minus": list(c.Down),
		"first_signal": point(signal),
	}, nil
}

func pageHinkley(v vector) (map[string]any, error) {
	x, err := v.series()
	if err != nil {
		return nil, err
	}
	c, err := drift.ChartPageHinkley(x, v.Options.Delta, v.Options.Threshold, drift.Direction(v.Options.Direction))
	if err != nil {
		return nil, err
	}
	return map[string]any{"statistic": list(c.Statistic), "statistic_end": last(c.Statistic), "first_signal": point(c.Signal)}, nil
}

func cusumRunLength(v vector) (map[string]any, error) {
	var in struct {
		K, H, Shift float64
		Sided       string
	}
	if err := v.read(&in); err != nil {
		return nil, err
	}
	arl, err := drift.CUSUMRunLength(in.K, in.H, in.Shift, in.Sided == "two")
	if err != nil {
		return map[string]any{"arl": nil}, nil
	}
	return map[string]any{"arl": arl}, nil
}

func ewmaRunLength(v vector) (map[string]any, error) {
	var in struct {
		Lambda float64 `json:"lambda_"`
		Width  float64 `json:"L"`
		Shift  float64
	}
	if err := v.read(&in); err != nil {
		return nil, err
	}
	arl, err := drift.EWMARunLength(in.Lambda, in.Width, in.Shift)
	if err != nil {
		return map[string]any{"arl": nil}, nil
	}
	return map[string]any{"arl": arl}, nil
}

type watched struct {
	Successes, N int
	P0           float64
	A            float64 `json:"prior_a"`
	B            float64 `json:"prior_b"`
	Alpha        float64
	Tuned        float64 `json:"t_opt"`
	TunedAlpha   float64 `json:"alpha_opt"`
	V            float64
	TunedV       float64 `json:"v_opt"`
}

func evalue(v vector) (map[string]any, error) {
	var in watched
	if err := v.read(&in); err != nil {
		return nil, err
	}
	e, err := drift.BetaBinomial(in.Successes, in.N, in.P0, drift.Prior{A: in.A, B: in.B})
	if err != nil {
		return map[string]any{"e_value": nil, "log_e_value": nil}, nil
	}
	return map[string]any{"e_value": e.Value(), "log_e_value": e.Log}, nil
}

func ends(ci agreement.Interval, err error) map[string]any {
	if err != nil {
		return map[string]any{"ci_low": nil, "ci_high": nil}
	}
	return map[string]any{"ci_low": ci.Low, "ci_high": ci.High}
}

func sequence(v vector) (map[string]any, error) {
	var in watched
	if err := v.read(&in); err != nil {
		return nil, err
	}
	return ends(drift.Sequence(in.Successes, in.N, in.Alpha, drift.Prior{A: in.A, B: in.B})), nil
}

func bernoulliSequence(v vector) (map[string]any, error) {
	var in watched
	if err := v.read(&in); err != nil {
		return nil, err
	}
	return ends(drift.BernoulliSequence(in.Successes, in.N, in.Alpha, in.Tuned, in.TunedAlpha)), nil
}

func mixtureBound(v vector) (map[string]any, error) {
	var in watched
	if err := v.read(&in); err != nil {
		return nil, err
	}
	bound, rho, err := drift.TwoSidedMixture(in.V, in.Alpha, in.TunedV, in.TunedAlpha)
	if err != nil {
		return map[string]any{"bound": nil, "rho": nil}, nil
	}
	return map[string]any{"bound": bound, "rho": rho}, nil
}
