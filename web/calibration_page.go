package web

import (
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/views"
)

// A calibration report as the pages show it: every figure with its interval
// and n, and what is undefined with its reason.

func estimateView(e agreement.Estimate) views.Estimate {
	if !e.Defined() {
		return views.Estimate{Why: e.Undefined}
	}
	v := views.Estimate{Value: &e.Value, Method: methodWord(e.Method)}
	if e.HasInterval() {
		v.Low, v.High, v.SE = &e.Low, &e.High, &e.SE
	}
	return v
}

// methodWord names an interval as the literature does.
func methodWord(method string) string {
	switch method {
	case "wilson":
		return "Wilson"
	case "fisher_z":
		return "Fisher’s z"
	case "clopper_pearson_agreement":
		return "Clopper–Pearson of the agreement"
	case "linearised_logit":
		return "linearised within strata, logit"
	case "linearised_fisher_z":
		return "linearised within strata, Fisher’s z"
	case "normal_independent":
		return "normal, two independent sets"
	}
	return words(method)
}

func calibrationRow(r calibration.Report) views.CalibrationRow {
	row := blockRow(r.Block)
	row.Href, row.Judge, row.Model, row.Version = calibrationPath(r.Judge), r.Judge, r.Model, r.PromptVersion
	row.Enough = r.Headline
	if !r.Headline {
		row.Kappa.Why = r.HeadlineReason
	}
	return row
}

func blockRow(b calibration.Block) views.CalibrationRow {
	return views.CalibrationRow{
		N: b.N, Abstained: b.NAbstained, Agreement: estimateView(b.Agreement), Kappa: estimateView(b.CohenKappa.Estimate),
	}
}

func calibrationSeries(r calibration.Report) views.CalibrationSeries {
	s := views.CalibrationSeries{
		CalibrationRow: calibrationRow(r), Scale: r.Scale, Labels: r.Confusion.Labels, Matrix: r.Confusion.Matrix,
		Sampling: append([]string{r.Sampling.Text}, r.Notes...),
	}
	if n := leftToPeople(r.Confusion); 2*n > r.N {
		s.Sampling = append(s.Sampling, fmt.Sprintf("The judge said borderline on %d of %d: it left these to people, and each counts here as a difference.", n, r.N))
	}
	for _, p := range r.HumanPairs {
		s.Pairs = append(s.Pairs, views.HumanPair{
			First: p.Reviewers[0], Second: p.Reviewers[1], N: p.N,
			Agreement: estimateView(p.Agreement), Kappa: estimateView(p.CohenKappa.Estimate),
		})
	}
	if r.Visible != nil {
		s.Visible = blockRow(*r.Visible)
	}
	for _, st := range r.Sampling.Strata {
		s.Sampling = append(s.Sampling, stratumSentence(st))
	}
	return s
}

// leftToPeople counts the items that the judge called borderline.
func leftToPeople(c calibration.Confusion) int {
	n := 0
	for column, label := range c.Labels {
		if label != string(judge.Borderline) {
			continue
		}
		for _, row := range c.Matrix {
			n += row[column]
		}
	}
	return n
}

func stratumSentence(st calibration.Stratum) string {
	name := st.Stratum
	if name == "" {
		name = "no stratum given"
	}
	line := fmt.Sprintf("%s: %s", words(name), counted(st.N, "label"))
	if st.InclusionProbability != nil {
		return line + fmt.Sprintf(", each item with a chance of %.3g of being drawn.", *st.InclusionProbability)
	}
	return line + ", the chance of being drawn is not known."
}
