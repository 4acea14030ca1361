package calibration

import (
	"fmt"

	"github.com/countersign/countersign/judge/agreement"
)

// Named is one number of a report, as a row of a table: what it is called, the
// figure, and the level of its interval.
type Named struct {
	Name      string
	Estimate  agreement.Estimate
	ConfLevel float64
}

// Figures are all numbers of the report in one list, for export. Counts are figures
// without an interval.
func (r Report) Figures() (all []Named) {
	add := func(name string, e agreement.Estimate) { all = append(all, Named{name, e, r.ConfLevel}) }
	bare := func(name string, value float64, n int) {
		add(name, agreement.Estimate{Value: value, N: n, NoInterval: "a count or an index has no interval"})
	}
	block := func(prefix string, b Block) {
		add(prefix+"agreement", b.Agreement)
		add(prefix+"cohen_kappa", b.CohenKappa.Estimate)
		if b.KappaLinear != nil {
			add(prefix+"kappa_linear", b.KappaLinear.Estimate)
		}
		if b.KappaQuadratic != nil {
			add(prefix+"kappa_quadratic", b.KappaQuadratic.Estimate)
		}
		add(prefix+"gwet_ac1", b.GwetAC1.Estimate)
		if b.KappaMax != nil {
			bare(prefix+"kappa_max", *b.KappaMax, b.N)
		}
		for _, i := range []struct {
			name  string
			value float64
		}{{"prevalence_index", b.Indices.Prevalence}, {"bias_index", b.Indices.Bias}, {"pabak", b.Indices.PABAK}} {
			if b.Indices.Undefined != "" {
				add(prefix+i.name, agreement.Estimate{N: b.N, Undefined: b.Indices.Undefined})
			} else {
				bare(prefix+i.name, i.value, b.N)
			}
		}
		for _, l := range b.PerLabel {
			if l.Agreement != nil {
				bare(prefix+"agreement_on."+l.Label, *l.Agreement, l.Human+l.Judge)
			} else {
				add(prefix+"agreement_on."+l.Label, agreement.Estimate{Undefined: "nobody used this label"})
			}
		}
		for i, human := range b.Confusion.Labels {
			for j, judged := range b.Confusion.Labels {
				bare(fmt.Sprintf("%scount.human=%s.judge=%s", prefix, human, judged), float64(b.Confusion.Matrix[i][j]), b.N)
			}
		}
	}
	block("", r.Block)
	c := r.Classifier
	add("sensitivity", c.Sensitivity)
	add("specificity", c.Specificity)
	add("ppv", c.PPV)
	add("npv", c.NPV)
	add("prevalence", c.Prevalence)
	add("misses", r.Rates.Misses)
	w := r.Population.Weighted
	add("weighted.agreement", w.Agreement)
	add("weighted.cohen_kappa", w.CohenKappa)
	add("weighted.sensitivity", w.Sensitivity)
	add("weighted.specificity", w.Specificity)
	add("weighted.ppv", w.PPV)
	add("weighted.npv", w.NPV)
	if w.EffectiveN != nil {
		bare("weighted.n_effective", *w.EffectiveN, w.N)
	}
	add("begg_greenes.sensitivity", r.Population.BeggGreenes.Sensitivity)
	add("begg_greenes.specificity", r.Population.BeggGreenes.Specificity)
	add("begg_greenes.missed_at_most", r.Population.BeggGreenes.MissedAtMost)
	add("pass_rate.judge_only", r.Population.PassRate.JudgeOnly)
	add("pass_rate.human_only", r.Population.PassRate.HumanOnly)
	add("pass_rate.corrected", r.Population.PassRate.Corrected)
	for _, v := range r.Population.ByVerdict {
		bare("evaluations."+string(v.Verdict), float64(v.Evaluations), v.Evaluations)
		bare("labelled."+string(v.Verdict), float64(v.Labelled), v.Evaluations)
	}
	for _, st := range r.Sampling.Strata {
		name := "drawn." + st.Stratum
		if st.InclusionProbability != nil {
			name += fmt.Sprintf(".p=%g", *st.InclusionProbability)
		}
		bare(name, float64(st.N), r.N)
	}
	if r.Visible != nil {
		block("visible.", *r.Visible)
	}
	if d := r.SeenMinusBlind; d != nil {
		if d.Agreement != nil {
			add("seen_minus_blind.agreement", agreement.Estimate{Value: d.Agreement.Value, Low: d.Agreement.Low, High: d.Agreement.High, Method: "newcombe", N: d.CohenKappa.N})
		}
		add("seen_minus_blind.cohen_kappa", d.CohenKappa)
	}
	for _, p := range r.HumanPairs {
		name := "people." + p.Reviewers[0] + "+" + p.Reviewers[1]
		add(name+".agreement", p.Agreement)
		add(name+".cohen_kappa", p.CohenKappa.Estimate)
	}
	for _, s := range r.Slices {
		name := "slice." + s.Dimension + "=" + s.Value
		all = append(all, Named{name + ".agreement", s.Agreement, s.ConfLevel}, Named{name + ".cohen_kappa", s.Kappa.Estimate, s.ConfLevel})
	}
	for _, m := range r.OverTime {
		add("until."+m.Until.Format("2006-01-02")+".cohen_kappa", m.Kappa.Estimate)
	}
	for _, b := range r.Reliability {
		add(fmt.Sprintf("score.%.1f-%.1f.people_passed", b.From, b.To), b.Passed)
	}
	return all
}
