package summary

import (
	"fmt"
	"math"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/resample"
	"github.com/countersign/countersign/judge/agreement/scores"
	"github.com/countersign/countersign/judge/ratings"
)

const methodF = scores.MethodF

// maxWork bounds what a bootstrap of alpha at level ratio may cost: pairs of
// different scores, times replicates.
const maxWork = 4_000_000_000

// maxScores bounds the items of a matrix that are listed one by one as scores.
const maxScores = 5_000_000

// scores fills in what only numbers have: errors, correlation, intraclass
// correlation. Nothing for labels that are no numbers, or are declared nominal.
func (c *composer) scores() error {
	defer c.withhold()
	if !c.numbers || c.options.Level == agreement.MetricNominal {
		return nil
	}
	if c.score && len(c.table.Labels) > maxCategories {
		if err := c.alphaOfScores(); err != nil {
			return err
		}
	}
	if c.table.Matrix != nil && c.table.Items() > maxScores {
		c.without(fmt.Sprintf("the matrix counts more than %d items, too many to list one by one", maxScores), scoreNames(c.score)...)
		return nil
	}
	rows := c.rows()
	level := c.options.Confidence
	if c.summary.Raters == 2 {
		var x, y []float64
		for _, r := range rows {
			if !math.IsNaN(r[0]) && !math.IsNaN(r[1]) {
				x, y = append(x, r[0]), append(y, r[1])
			}
		}
		c.add("spearman", scores.Spearman(x, y).Estimate)
		c.add("kendall_tau_b", scores.KendallTauB(x, y))
		if !c.score {
			return nil
		}
		c.add("pearson", scores.Pearson(x, y, level).Estimate)
		c.add("lin_ccc", scores.LinCCC(x, y, level))
		e := scores.Differences(x, y)
		for _, one := range []struct {
			name  string
			value float64
			none  string
		}{
			{"mean_difference", e.Bias, ""}, {"sd_difference", e.SD, e.NoLimits}, {"loa_low", e.Low, e.NoLimits},
			{"loa_high", e.High, e.NoLimits}, {"mae", e.MAE, ""}, {"rmse", e.RMSE, ""},
		} {
			reason := e.Undefined
			if reason == "" {
				reason = one.none
			}
			c.add(one.name, agreement.Estimate{Value: one.value, N: e.N, Undefined: reason, NoInterval: noSE})
		}
	}
	if !c.score {
		return nil
	}
	if c.beyond() { // quantiles of such a ratio of squares may never be found
		c.without(beyondArithmetic, "icc1_1", "icc2_1", "icc3_1", "icc1_k", "icc2_k", "icc3_k")
		return nil
	}
	i := scores.ICC(rows, level)
	for _, one := range []Statistic{
		{"icc1_1", i.Single1}, {"icc2_1", i.Single2}, {"icc3_1", i.Single3},
		{"icc1_k", i.Mean1}, {"icc2_k", i.Mean2}, {"icc3_k", i.Mean3},
	} {
		c.add(one.Name, one.Estimate)
	}
	return nil
}

// scoreNames are the statistics of two raters' scores, at ordinal level or above it.
func scoreNames(score bool) []string {
	names := []string{"spearman", "kendall_tau_b"}
	if score {
		names = append(names, "pearson", "lin_ccc", "mean_difference", "sd_difference", "loa_low", "loa_high", "mae", "rmse",
			"icc1_1", "icc2_1", "icc3_1", "icc1_k", "icc2_k", "icc3_k")
	}
	return names
}

// rows are the scores by item and rater, NaN where there is none.
func (c *composer) rows() [][]float64 {
	var rows [][]float64
	if c.table.Matrix != nil {
		for i, row := range c.table.Matrix {
			for j, n := range row {
				pair := []float64{c.values[i], c.values[j]}
				for range n {
					rows = append(rows, pair)
				}
			}
		}
		return rows
	}
	k := len(c.table.Raters)
	for at := 0; at < len(c.table.Codes); at += k {
		row := make([]float64, k)
		for r, code := range c.table.Codes[at : at+k] {
			row[r] = math.NaN()
			if code != ratings.Missing {
				row[r] = c.values[code]
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// alphaOfScores puts alpha of the scores themselves in the place of the one that
// categories would have given.
func (c *composer) alphaOfScores() error {
	var items [][]float64
	var clusters []int // of items with two scores or more, which are the units
	for i, row := range c.rows() {
		var given []float64
		for _, v := range row {
			if !math.IsNaN(v) {
				given = append(given, v)
			}
		}
		items = append(items, given)
		if c.table.Clusters != nil && len(given) > 1 {
			clusters = append(clusters, c.table.Clusters[i])
		}
	}
	s, err := agreement.NewScores(items)
	if err != nil {
		return err
	}
	a := agreement.AlphaOfScores(s, nil, c.options.Level)
	e := a.Estimate
	v := float64(len(c.table.Labels))
	switch {
	case !a.Defined():
	case c.options.Level == agreement.MetricRatio && v*v/2*float64(c.options.Replicates) > maxWork:
		e.NoInterval = fmt.Sprintf("a bootstrap over %d different values at level ratio takes too long; round the scores, or use level interval", len(c.table.Labels))
	default:
		u := resample.Distinct(s.Pairable())
		u.Cluster = clusters
		r, err := resample.Percentile(u, func(counts []int) (float64, bool) {
			a := agreement.AlphaOfScores(s, counts, c.options.Level)
			return a.Value, a.Defined()
		}, c.plan())
		if err != nil {
			return err
		}
		e = r.Estimate
	}
	for i := range c.summary.Statistics {
		if c.summary.Statistics[i].Name == "krippendorff_alpha" {
			c.summary.Statistics[i].Estimate = e
		}
	}
	return nil
}
