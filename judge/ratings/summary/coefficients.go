package summary

import (
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/resample"
)

// coefficients are the names of the statistics of categories, in the order of a
// report.
var coefficients = []string{
	"percent_agreement", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "kappa_max",
	"scott_pi", "fleiss_kappa", "conger_kappa", "light_kappa", "krippendorff_alpha",
	"gwet_ac1", "gwet_ac2", "bennett_s", "brennan_prediger_weighted", "scott_pi_weighted",
	"prevalence_index", "bias_index", "pabak",
}

const (
	needsTwo   = "needs exactly two raters; fleiss_kappa, conger_kappa and krippendorff_alpha are for any number"
	needsOrder = "the labels have no order: give numbers, or a JSON file that lists its categories from the lowest up"
	noSE       = "no interval is computed for this figure"
)

// two fills in the statistics of two raters, all from their matrix.
func (c *composer) two() error {
	m, err := c.table.Confusion()
	if err != nil {
		return err
	}
	c.summary.Matrix = m.Counts()
	level, q := c.options.Confidence, len(c.table.Labels)
	plain := agreement.Identity(q)
	c.add("percent_agreement", agreement.Agreement(m, level))
	kappa := agreement.CohenKappa(m, plain, level)
	c.add("cohen_kappa", kappa.Estimate)
	if c.table.Ordered() {
		c.add("cohen_kappa_linear", agreement.CohenKappa(m, agreement.Linear(q), level).Estimate)
		c.add("cohen_kappa_quadratic", agreement.CohenKappa(m, agreement.Quadratic(q), level).Estimate)
	} else {
		c.without(needsOrder, "cohen_kappa_linear", "cohen_kappa_quadratic")
	}
	top := agreement.KappaMax(m)
	c.add("kappa_max", agreement.Estimate{Value: top.Kappa, N: m.N(), Undefined: top.Undefined, NoInterval: noSE})
	pi := agreement.ScottPi(m, plain, level).Estimate
	c.add("scott_pi", pi)
	c.add("fleiss_kappa", pi)
	c.add("conger_kappa", kappa.Estimate)
	c.add("light_kappa", kappa.Estimate)
	alpha, err := c.alphaOfMatrix(m)
	if err != nil {
		return err
	}
	c.add("krippendorff_alpha", alpha)
	c.add("gwet_ac1", agreement.GwetAC(m, plain, level).Estimate)
	c.add("gwet_ac2", agreement.GwetAC(m, c.weights, level).Estimate)
	c.add("bennett_s", agreement.BrennanPrediger(m, plain, level).Estimate)
	c.add("brennan_prediger_weighted", agreement.BrennanPrediger(m, c.weights, level).Estimate)
	c.add("scott_pi_weighted", agreement.ScottPi(m, c.weights, level).Estimate)
	x := agreement.PrevalenceBias(m)
	for _, one := range []struct {
		name  string
		value float64
	}{{"prevalence_index", x.Prevalence}, {"bias_index", x.Bias}, {"pabak", x.PABAK}} {
		c.add(one.name, agreement.Estimate{Value: one.value, N: m.N(), Undefined: x.Undefined, NoInterval: noSE})
	}
	if err := c.clusterPairs(); err != nil {
		return err
	}
	stuart, bhapkar := agreement.MarginalHomogeneity(m)
	c.summary.Tests = []Test{{"bowker", agreement.Bowker(m)}, {"stuart_maxwell", stuart}, {"bhapkar", bhapkar}}
	if c.table.Clusters != nil {
		for i := range c.summary.Tests {
			c.summary.Tests[i].ChiSquare = agreement.ChiSquare{Undefined: "items come in clusters, and the test counts each of them as independent"}
		}
	}
	return nil
}

// many fills in the statistics of any number of raters.
func (c *composer) many() error {
	r, err := c.table.Ratings()
	if err != nil {
		return err
	}
	it := r.Items()
	level := c.options.Confidence
	plain := agreement.Identity(len(c.table.Labels))
	c.add("percent_agreement", agreement.MultiAgreement(it, level))
	c.without(needsTwo, "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "kappa_max", "scott_pi")
	c.add("fleiss_kappa", agreement.MultiScottPi(it, plain, level).Estimate)
	c.add("conger_kappa", agreement.CongerKappa(r, plain, level).Estimate)
	c.add("light_kappa", agreement.LightKappa(r, plain))
	alpha, err := c.alphaOfItems(it)
	if err != nil {
		return err
	}
	c.add("krippendorff_alpha", alpha)
	c.add("gwet_ac1", agreement.MultiGwetAC(it, plain, level).Estimate)
	c.add("gwet_ac2", agreement.MultiGwetAC(it, c.weights, level).Estimate)
	c.add("bennett_s", agreement.MultiBrennanPrediger(it, plain, level).Estimate)
	c.add("brennan_prediger_weighted", agreement.MultiBrennanPrediger(it, c.weights, level).Estimate)
	c.add("scott_pi_weighted", agreement.MultiScottPi(it, c.weights, level).Estimate)
	c.without(needsTwo, "prevalence_index", "bias_index", "pabak")
	c.withhold()
	return nil
}

// alphaOfMatrix is alpha with its bootstrap, each cell a kind of item.
func (c *composer) alphaOfMatrix(m agreement.Confusion) (agreement.Estimate, error) {
	q := len(c.table.Labels)
	var profiles [][]int
	u := resample.Units{}
	for i, row := range m.Counts() {
		for j, n := range row {
			if n == 0 {
				continue
			}
			profile := make([]int, q)
			profile[i]++
			profile[j]++
			profiles, u.Counts = append(profiles, profile), append(u.Counts, n)
		}
	}
	u.Kinds = len(profiles)
	if u.Kinds == 0 {
		u = resample.Distinct(0)
	}
	it, err := agreement.NewItems(c.table.Labels, profiles)
	if err != nil {
		return agreement.Estimate{}, err
	}
	return c.drawn(u, it)
}

func (c *composer) alphaOfItems(it agreement.Items) (agreement.Estimate, error) {
	u, profiles := resample.Items(it)
	u.Cluster = c.table.Clusters
	return c.drawn(u, profiles)
}

// drawn is alpha with its percentile interval over items (Hayes & Krippendorff 2007).
func (c *composer) drawn(u resample.Units, profiles agreement.Items) (agreement.Estimate, error) {
	a := agreement.KrippendorffAlphaTimes(profiles, u.Whole(), c.options.Level, c.values)
	if !a.Defined() {
		return a.Estimate, nil
	}
	r, err := resample.Percentile(u, resample.Alpha(profiles, c.options.Level, c.values), c.plan())
	if err != nil {
		return agreement.Estimate{}, err
	}
	r.N = a.N
	return r.Estimate, nil
}

func (c *composer) plan() resample.Plan {
	return resample.Plan{Level: c.options.Confidence, Replicates: c.options.Replicates, Seed: c.options.Seed}
}
