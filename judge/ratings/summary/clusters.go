package summary

import (
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/resample"
)

const ignoresClusters = "items come in clusters, which the interval of this figure does not account for; krippendorff_alpha's does"

// withhold takes away intervals that count items of one cluster as independent:
// they would be too narrow.
func (c *composer) withhold() {
	if c.table.Clusters == nil {
		return
	}
	for i := range c.summary.Statistics {
		s := &c.summary.Statistics[i]
		if s.HasInterval() && s.Method != resample.MethodPercentile {
			s.SE, s.Low, s.High, s.Method, s.NoInterval = 0, 0, 0, "", ignoresClusters
		}
	}
}

// clusterPairs gives the coefficients of two raters, computed already, intervals from
// drawing clusters together.
func (c *composer) clusterPairs() error {
	if c.table.Clusters == nil {
		return nil
	}
	first, second, clusters := c.table.Pairs()
	q := len(c.table.Labels)
	u, err := resample.Pairs(q, first, second)
	if err != nil {
		return err
	}
	u.Cluster = clusters
	plain := agreement.Identity(q)
	kappa := func(w agreement.Weights) resample.Statistic { return resample.Kappa(c.table.Labels, w) }
	of := func(f func(agreement.Confusion, agreement.Weights, float64) agreement.Coefficient, w agreement.Weights) resample.Statistic {
		return resample.OfConfusion(c.table.Labels, func(m agreement.Confusion) (float64, bool) {
			k := f(m, w, c.options.Confidence)
			return k.Value, k.Defined()
		})
	}
	profiles := c.pairProfiles()
	drawn := map[string]resample.Statistic{
		"percent_agreement": resample.OfConfusion(c.table.Labels, func(m agreement.Confusion) (float64, bool) {
			e := agreement.Agreement(m, c.options.Confidence)
			return e.Value, e.Defined()
		}),
		"cohen_kappa": kappa(plain), "cohen_kappa_linear": kappa(agreement.Linear(q)), "cohen_kappa_quadratic": kappa(agreement.Quadratic(q)),
		"scott_pi": of(agreement.ScottPi, plain), "scott_pi_weighted": of(agreement.ScottPi, c.weights),
		"gwet_ac1": of(agreement.GwetAC, plain), "gwet_ac2": of(agreement.GwetAC, c.weights),
		"bennett_s": of(agreement.BrennanPrediger, plain), "brennan_prediger_weighted": of(agreement.BrennanPrediger, c.weights),
		"krippendorff_alpha": resample.Alpha(profiles, c.options.Level, c.values),
	}
	alike := map[string]string{"fleiss_kappa": "scott_pi", "conger_kappa": "cohen_kappa", "light_kappa": "cohen_kappa"}
	made := map[string]agreement.Estimate{}
	for i := range c.summary.Statistics {
		s := &c.summary.Statistics[i]
		if !s.Defined() {
			continue
		}
		name := s.Name
		if same, ok := alike[name]; ok {
			name = same
		}
		f, ok := drawn[name]
		if !ok {
			continue
		}
		if _, done := made[name]; !done {
			r, err := resample.Percentile(u, f, c.plan())
			if err != nil {
				return err
			}
			made[name] = r.Estimate
		}
		n := s.N
		s.Estimate = made[name]
		s.N = n
	}
	return nil
}

// pairProfiles are the rows of counts that belong to the cells of a matrix, in the
// order of resample.Pairs.
func (c *composer) pairProfiles() agreement.Items {
	q := len(c.table.Labels)
	rows := make([][]int, 0, q*q)
	for i := range q {
		for j := range q {
			row := make([]int, q)
			row[i]++
			row[j]++
			rows = append(rows, row)
		}
	}
	it, err := agreement.NewItems(c.table.Labels, rows)
	if err != nil {
		panic(err) // rows are made to fit
	}
	return it
}
