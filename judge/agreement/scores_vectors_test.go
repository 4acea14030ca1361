package agreement_test

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/scores"
)

var scoreStatistics = map[string]statistic{
	"pearson": pairOfScores(func(x, y []float64, level float64) map[string]any {
		return correlation("r", scores.Pearson(x, y, level))
	}),
	"spearman": pairOfScores(func(x, y []float64, _ float64) map[string]any {
		return correlation("rho", scores.Spearman(x, y))
	}),
	"kendall_tau_b": pairOfScores(func(x, y []float64, _ float64) map[string]any {
		out := estimate(scores.KendallTauB(x, y))
		out["tau_b"] = out["value"]
		return out
	}),
	"lin_ccc": pairOfScores(func(x, y []float64, level float64) map[string]any {
		out := estimate(scores.LinCCC(x, y, level))
		out["ccc"] = out["value"]
		return out
	}),
	"score_error_summary": pairOfScores(differences),
	"icc":                 icc,
}

func pairOfScores(f func(x, y []float64, level float64) map[string]any) statistic {
	return func(v vector) (map[string]any, error) {
		x, y, err := v.scores()
		if err != nil {
			return nil, err
		}
		return f(x, y, v.level()), nil
	}
}

// scores reads pairs of numbers, without those where a side is missing.
func (v vector) scores() (x, y []float64, err error) {
	var in struct{ X, Y []*float64 }
	switch v.Input.Type {
	case "ratings":
		for _, row := range v.Input.Ratings {
			if len(row) != 2 {
				return nil, nil, fmt.Errorf("%d raters where two are needed", len(row))
			}
			a, okA := row[0].(float64)
			b, okB := row[1].(float64)
			if okA && okB {
				x, y = append(x, a), append(y, b)
			}
		}
		return x, y, nil
	default:
		if err := json.Unmarshal(v.Input.body, &in); err != nil {
			return nil, nil, err
		}
	}
	if len(in.X) != len(in.Y) {
		return nil, nil, fmt.Errorf("%d and %d scores", len(in.X), len(in.Y))
	}
	for i := range in.X {
		if in.X[i] != nil && in.Y[i] != nil {
			x, y = append(x, *in.X[i]), append(y, *in.Y[i])
		}
	}
	return x, y, nil
}

func correlation(name string, c scores.Correlation) map[string]any {
	out := estimate(c.Estimate)
	out[name], out["p_value"] = out["value"], nil
	if c.NoTest == "" {
		out["p_value"] = c.P
	}
	return out
}

func differences(x, y []float64, _ float64) map[string]any {
	out := map[string]any{"mean_difference": nil, "sd_difference": nil, "loa_low": nil, "loa_high": nil, "mae": nil, "rmse": nil}
	e := scores.Differences(x, y)
	if e.Undefined != "" {
		return out
	}
	out["mean_difference"], out["mae"], out["rmse"], out["n"] = e.Bias, e.MAE, e.RMSE, float64(e.N)
	if e.NoLimits == "" {
		out["sd_difference"], out["loa_low"], out["loa_high"] = e.SD, e.Low, e.High
	}
	return out
}

func icc(v vector) (map[string]any, error) {
	rows := make([][]float64, len(v.Input.Ratings))
	for i, row := range v.Input.Ratings {
		for _, c := range row {
			switch c := c.(type) {
			case nil:
				rows[i] = append(rows[i], math.NaN())
			case float64:
				rows[i] = append(rows[i], c)
			default:
				return nil, fmt.Errorf("item %d holds %v, which is not a number", i+1, c)
			}
		}
	}
	i := scores.ICC(rows, v.level())
	out := map[string]any{}
	for name, e := range map[string]agreement.Estimate{
		"icc1_1": i.Single1, "icc2_1": i.Single2, "icc3_1": i.Single3,
		"icc1_k": i.Mean1, "icc2_k": i.Mean2, "icc3_k": i.Mean3,
	} {
		out[name], out[name+"_ci"] = nil, nil
		if e.Defined() {
			out[name] = e.Value
		}
		if e.HasInterval() {
			out[name+"_ci"] = []any{e.Low, e.High}
		}
	}
	return out, nil
}
