package agreement_test

import (
	"fmt"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/classifier"
)

var classifierStatistics = map[string]statistic{
	"binary_metrics":     binaryMetrics,
	"multiclass_metrics": multiclassMetrics,
	"roc_auc":            rocAUC,
	"threshold_youden":   youden,
	"delong_test":        delong,
	"pr_auc":             averagePrecision,
}

// value is nil where the estimate is undefined.
func value(e agreement.Estimate) any {
	if e.Defined() {
		return e.Value
	}
	return nil
}

func binaryMetrics(v vector) (map[string]any, error) {
	var in struct{ TP, FP, FN, TN int }
	if err := v.read(&in); err != nil {
		return nil, err
	}
	m, err := classifier.Counts{
		TruePositive: in.TP, FalsePositive: in.FP, FalseNegative: in.FN, TrueNegative: in.TN,
	}.Measure(v.level())
	if err != nil {
		return nil, err
	}
	out := map[string]any{
		"f1": value(m.F1), "mcc": value(m.MCC), "balanced_accuracy": value(m.BalancedAccuracy),
		"youden": value(m.Youden), "lr_pos": value(m.PositiveRatio), "lr_neg": value(m.NegativeRatio),
	}
	n := in.TP + in.FP + in.FN + in.TN
	for name, s := range map[string]struct {
		e     agreement.Estimate
		x, of int
	}{
		"sensitivity": {m.Sensitivity, in.TP, in.TP + in.FN},
		"specificity": {m.Specificity, in.TN, in.TN + in.FP},
		"ppv":         {m.PPV, in.TP, in.TP + in.FP},
		"npv":         {m.NPV, in.TN, in.TN + in.FN},
		"accuracy":    {m.Accuracy, in.TP + in.TN, n},
		"prevalence":  {m.Prevalence, in.TP + in.FN, n},
	} {
		out[name], out[name+"_wilson"], out[name+"_clopper_pearson"] = value(s.e), nil, nil
		if s.e.HasInterval() {
			out[name+"_wilson"] = []any{s.e.Low, s.e.High}
		}
		if ci, err := agreement.ClopperPearson(s.x, s.of, v.level()); err == nil {
			out[name+"_clopper_pearson"] = []any{ci.Low, ci.High}
		}
	}
	return out, nil
}

func multiclassMetrics(v vector) (map[string]any, error) {
	m, err := v.confusion()
	if err != nil {
		return nil, err
	}
	k := classifier.MeasureMulticlass(m)
	return map[string]any{
		"macro_f1": value(k.MacroF1), "weighted_f1": value(k.WeightedF1), "micro_f1": value(k.MicroF1),
		"macro_precision": value(k.MacroPrecision), "macro_recall": value(k.MacroRecall), "mcc": value(k.MCC),
		"accuracy": value(k.MicroF1),
	}, nil
}

func (v vector) scored() (bad []bool, a, b []float64, err error) {
	var in struct {
		Y                     []any
		Score, Score1, Score2 []float64
	}
	if err := v.read(&in); err != nil {
		return nil, nil, nil, err
	}
	bad, err = truths(in.Y)
	if in.Score == nil {
		in.Score = in.Score1
	}
	return bad, in.Score, in.Score2, err
}

func truths(y []any) ([]bool, error) {
	out := make([]bool, len(y))
	for i, c := range y {
		switch c {
		case 0.0, 1.0, true, false:
			out[i] = c == 1.0 || c == true
		default:
			return nil, fmt.Errorf("outcome %d is %v, which is not 0 or 1", i+1, c)
		}
	}
	return out, nil
}

func rocAUC(v vector) (map[string]any, error) {
	bad, score, _, err := v.scored()
	if err != nil {
		return nil, err
	}
	out := estimate(classifier.AUC(bad, score, v.level()))
	out["auc"], out["se_delong"] = out["value"], out["se"]
	return out, nil
}

func youden(v vector) (map[string]any, error) {
	bad, score, _, err := v.scored()
	if err != nil {
		return nil, err
	}
	cut, e := classifier.YoudenCut(bad, score)
	if !e.Defined() {
		return map[string]any{"youden": nil, "threshold_ge": nil, "sensitivity": nil, "specificity": nil}, nil
	}
	m, err := cut.Measure(v.level())
	if err != nil {
		return nil, err
	}
	return map[string]any{"youden": e.Value, "threshold_ge": cut.At,
		"sensitivity": value(m.Sensitivity), "specificity": value(m.Specificity)}, nil
}

func delong(v vector) (map[string]any, error) {
	bad, first, second, err := v.scored()
	if err != nil {
		return nil, err
	}
	c := classifier.CompareAUC(bad, first, second, v.level())
	out := estimate(c.Difference)
	out["auc1"], out["auc2"], out["z"], out["p_value"] = value(c.First), value(c.Second), nil, nil
	out["diff"] = out["value"]
	if c.NoTest == "" {
		out["z"], out["p_value"] = c.Z, c.P
	}
	return out, nil
}

func averagePrecision(v vector) (map[string]any, error) {
	bad, score, _, err := v.scored()
	if err != nil {
		return nil, err
	}
	area, baseline := classifier.AveragePrecision(bad, score)
	out := map[string]any{"average_precision": value(area), "prevalence_baseline": nil}
	if area.Defined() {
		out["prevalence_baseline"] = baseline
	}
	return out, nil
}
