package agreement_test

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/countersign/countersign/judge/agreement/alttest"
	"github.com/countersign/countersign/judge/agreement/latent"
)

var latentStatistics = map[string]statistic{
	"majority_vote":    majority,
	"dawid_skene":      dawidSkene,
	"dawid_skene_step": dawidSkeneStep,
	"alt_test":         altTest,
}

// votes reads labels by item and rater, whatever the input's form, over the labels
// of the scale.
func (v vector) votes() (latent.Votes, []string, error) {
	if v.Input.Type == "ratings" {
		scale := v.scale(v.Input.Ratings...)
		votes := make(latent.Votes, len(v.Input.Ratings))
		for i, row := range v.Input.Ratings {
			votes[i] = make([][]int, len(row))
			for r, c := range row {
				votes[i][r] = make([]int, len(scale))
				if c != nil {
					votes[i][r][slices.Index(scale, text(c))]++
				}
			}
		}
		return votes, scale, nil
	}
	var in struct {
		Classes []any
		Items   []struct{ Labels map[string][]any }
	}
	if err := v.read(&in); err != nil {
		return nil, nil, err
	}
	var raters []string
	for _, item := range in.Items {
		for r := range item.Labels {
			if !slices.Contains(raters, r) {
				raters = append(raters, r)
			}
		}
	}
	slices.Sort(raters)
	scale := texts(in.Classes)
	votes := make(latent.Votes, len(in.Items))
	for i, item := range in.Items {
		votes[i] = make([][]int, len(raters))
		for r, name := range raters {
			votes[i][r] = make([]int, len(scale))
			for _, l := range item.Labels[name] {
				k := slices.Index(scale, text(l))
				if k < 0 {
					return nil, nil, fmt.Errorf("item %d: label %v is not one of the classes %v", i+1, l, scale)
				}
				votes[i][r][k]++
			}
		}
	}
	return votes, scale, nil
}

// named gives a label as the vectors write it.
func named(label string) any {
	if x, err := strconv.ParseFloat(label, 64); err == nil {
		return x
	}
	return label
}

func majority(v vector) (map[string]any, error) {
	votes, scale, err := v.votes()
	if err != nil {
		return nil, err
	}
	winners, err := latent.Majority(votes)
	if err != nil {
		return nil, err
	}
	var labels, ties []any
	for _, w := range winners {
		if w.Class < 0 {
			labels = append(labels, nil)
		} else {
			labels = append(labels, named(scale[w.Class]))
		}
		ties = append(ties, w.Tie)
	}
	return map[string]any{"labels": labels, "ties": ties}, nil
}

func lists(rows [][]float64) []any {
	out := make([]any, len(rows))
	for i, r := range rows {
		out[i] = list(r)
	}
	return out
}

func dawidSkene(v vector) (map[string]any, error) {
	votes, scale, err := v.votes()
	if err != nil {
		return nil, err
	}
	m, err := latent.DawidSkene(votes, latent.Options{})
	if err != nil {
		return nil, err
	}
	out := map[string]any{"class_marginals": list(m.Priors), "log_likelihood": m.LogLikelihood, "posterior": lists(m.Posterior)}
	var rates, best []any
	for r, rows := range m.Errors {
		rates = append(rates, lists(rows))
		out[fmt.Sprintf("error_rates_obs%d", r+1)] = lists(rows)
	}
	for _, k := range m.Best() {
		best = append(best, named(scale[k]))
	}
	for i, p := range m.Posterior {
		out[fmt.Sprintf("posterior_item%d", i+1)] = list(p)
	}
	out["error_rates"], out["map_labels"] = rates, best
	return out, nil
}

func dawidSkeneStep(v vector) (map[string]any, error) {
	votes, _, err := v.votes()
	if err != nil {
		return nil, err
	}
	m, err := latent.Start(votes, 0)
	if err != nil {
		return nil, err
	}
	out := map[string]any{}
	for step := range 6 {
		out[fmt.Sprintf("posterior_iter%d", step)] = lists(m.Posterior)
		out[fmt.Sprintf("priors_iter%d", step)] = list(m.Priors)
		m = m.Step()
	}
	return out, nil
}

func altTest(v vector) (map[string]any, error) {
	var in struct {
		Units [][]*float64 `json:"units_by_humans"`
		Judge []*float64
	}
	if err := v.read(&in); err != nil {
		return nil, err
	}
	number := func(p *float64) float64 {
		if p == nil {
			return math.NaN()
		}
		return *p
	}
	humans, judge := make([][]float64, len(in.Units)), make([]float64, len(in.Judge))
	for i, row := range in.Units {
		for _, p := range row {
			humans[i] = append(humans[i], number(p))
		}
	}
	for i, p := range in.Judge {
		judge[i] = number(p)
	}
	score := alttest.NegativeRMSE
	switch v.Options.Score {
	case "", "neg_rmse":
	case "accuracy", "acc", "match":
		score = alttest.Match
	default:
		return nil, fmt.Errorf("score %q is not known", v.Options.Score)
	}
	r := alttest.Test(humans, judge, alttest.Options{
		Score: score, Epsilon: v.Options.Epsilon, FDR: v.Options.Q,
		MinHumans: v.Options.MinHumans, MinItems: v.Options.MinInstances,
	})
	if r.Undefined != "" {
		return map[string]any{"winning_rate": nil, "advantage_probability": nil, "p_values": nil}, nil
	}
	var p []float64
	for _, h := range r.Humans {
		p = append(p, h.P)
	}
	return map[string]any{"winning_rate": r.WinningRate, "advantage_probability": r.AdvantageProbability, "p_values": list(p)}, nil
}
