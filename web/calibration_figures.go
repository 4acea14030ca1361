package web

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// figuresView are a report's numbers as rows and sentences.
func figuresView(r calibration.Report, differences []store.Difference) views.CalibrationFigures {
	f := views.CalibrationFigures{Lead: r.Sentence, PassLine: r.Population.PassRate.Text}
	if r.Sampling.FlaggedOnly {
		f.Warning = "All labels are of traces that were picked. They do not show what the judge passes wrongly, and hold of picked traces alone."
	}
	row := func(name, note string, e agreement.Estimate, counted bool) views.FigureRow {
		return views.FigureRow{Name: name, Note: note, N: e.N, Figure: estimateView(e), Counted: counted}
	}
	w, c := r.Population.Weighted, r.Classifier
	f.Rates = []views.FigureRow{
		row("Sensitivity", "Of what people fail, the share the judge fails", c.Sensitivity, !w.Unequal),
		row("Specificity", "Of what people pass, the share it does not fail", c.Specificity, !w.Unequal),
		row("When it fails, right", "Of what it fails, the share people fail (PPV)", c.PPV, !w.Unequal),
		row("When it does not, right", "Of the rest, the share people pass (NPV)", c.NPV, !w.Unequal),
	}
	if w.Unequal {
		f.Rates = slices.Concat([]views.FigureRow{
			row("Sensitivity, weighted", "Of all work people would fail, the share the judge fails", w.Sensitivity, true),
			row("Specificity, weighted", "Of all work people would pass, the share it does not fail", w.Specificity, true),
			row("Kappa, weighted", "Of all work, with each label counting for what it was drawn from", w.CohenKappa, true),
		}, f.Rates)
	}
	p := r.Population.PassRate
	f.PassRates = []views.FigureRow{
		row("The judge alone", "", p.JudgeOnly, false),
		row("People alone", "Labels, weighted by their chance of being drawn", p.HumanOnly, true),
		row("Corrected", "The judge, corrected by the labels within each verdict", p.Corrected, true),
	}
	for _, v := range r.Population.ByVerdict {
		line := views.CoverageRow{Verdict: string(v.Verdict), Evaluations: v.Evaluations, Labelled: v.Labelled}
		if v.Represents != nil {
			line.Represents = strconv.FormatFloat(math.Round(*v.Represents), 'f', 0, 64)
		}
		f.Coverage = append(f.Coverage, line)
	}
	f.CoverageLine = coverageLine(r.Population)
	f.Seen = []views.FigureRow{row("Blind and imported", "", r.CohenKappa.Estimate, r.Headline)}
	if r.Visible != nil {
		f.Seen = append(f.Seen, row("The judge’s verdict in view", "shown apart, not counted", r.Visible.CohenKappa.Estimate, false))
	}
	if h := r.HumanHuman; h != nil {
		f.Seen = append(f.Seen, row(h.Reviewers[0]+" and "+h.Reviewers[1], "person against person: the ceiling", h.CohenKappa.Estimate, h.N >= calibration.MinLabels))
	}
	f.SeenLine = seenLine(r.SeenMinusBlind)
	for _, s := range r.Slices {
		line := row(words(s.Value), "", s.Kappa.Estimate, s.Kappa.Defined())
		line.Kind, line.N = words(s.Dimension), s.N
		f.Slices = append(f.Slices, line)
	}
	for _, b := range r.Reliability {
		f.Bands = append(f.Bands, row(fmt.Sprintf("%.1f to %.1f", b.From, b.To), "", b.Passed, b.N >= calibration.MinSlice))
	}
	for _, m := range r.OverTime {
		f.Trend = append(f.Trend, views.TrendPoint{Until: m.Until, N: m.N, Kappa: estimateView(m.Kappa.Estimate)})
	}
	for _, d := range differences {
		f.Differences = append(f.Differences, views.DifferenceRow{Href: evaluationPath(d.EvaluationID), Trace: d.TraceID, Domain: d.Domain, Stakes: d.Stakes,
			Judge: views.Mark{Verdict: d.Judge.Verdict, Label: d.Judge.Label, Score: d.Score}, Person: views.Mark{Verdict: d.Human.Verdict, Label: d.Human.Label}, At: d.At})
	}
	f.Said = inSentences(r)
	return f
}

// coverageLine says what weighted figures stand on, or why there are none.
func coverageLine(p calibration.Population) string {
	line := "Weighted figures stand on " + counted(p.Labelled, "label") + " for " + counted(p.Evaluations, "evaluation") + "."
	if p.Refused != "" {
		line = "Nothing is said of all work: " + p.Refused + "."
	} else if p.Weighted.EffectiveN != nil {
		line += fmt.Sprintf(" They say as much as %.0f labels of equal weight would (Kish).", *p.Weighted.EffectiveN)
		if n := p.Weighted.Alone; n > 0 {
			line += fmt.Sprintf(" Intervals take %s that nothing else was drawn like together with those of the nearest chance.", counted(n, "label"))
		}
		for _, v := range p.ByVerdict {
			if v.Represents == nil || v.Evaluations == 0 {
				continue
			}
			if of := *v.Represents / float64(v.Evaluations); of < 0.9 {
				line += " The labels stand for less than there is: some that were drawn wait for a label, or were labelled with the verdict in view. The corrected rate takes the real numbers."
				break
			} else if of > 1.1 {
				line += " The labels stand for somewhat more than there is, as chance may have it: by lot more were drawn than was to be expected. The corrected rate takes the real numbers."
				break
			}
		}
	}
	if p.JudgeAbstained > 0 {
		line += " Left out: " + counted(p.JudgeAbstained, "evaluation") + " on which the judge abstained."
	}
	if p.Waiting > 0 {
		line += " Left out for you: " + counted(p.Waiting, "evaluation") + " that you may still review blind."
	}
	return line
}

func seenLine(d *calibration.SeenMinusBlind) string {
	switch {
	case d == nil:
		return "Only blind and imported labels count. No label was given with the judge’s verdict in view."
	case d.Reason != "":
		return "What seeing the verdict does is not known: " + d.Reason + "."
	}
	a := d.Agreement
	line := fmt.Sprintf("People who see the judge’s verdict agree with it on %+.0f of 100 more (%+.0f to %+.0f).", 100*a.Value, 100*a.Low, 100*a.High)
	if a.Low <= 0 && a.High >= 0 {
		line += " That may be chance."
	}
	return line + " Only blind and imported labels count."
}

// plain says what a number of the export is, in the words that begin its sentence.
// Counts and slices are in tables of their own.
var plain = map[string]string{
	"agreement":                    "The share of labels on which people and the judge say the same",
	"cohen_kappa":                  "Cohen’s kappa, agreement beyond chance,",
	"kappa_linear":                 "Kappa that forgives near misses by their distance (linear)",
	"kappa_quadratic":              "Kappa that forgives near misses by the square of their distance",
	"gwet_ac1":                     "Gwet’s AC1, which a rare class does not pull down,",
	"kappa_max":                    "The highest kappa these totals allow",
	"prevalence_index":             "The prevalence index (how much commoner one label is)",
	"bias_index":                   "The bias index (how much oftener one side uses a label)",
	"pabak":                        "PABAK, kappa as if neither mattered,",
	"sensitivity":                  "Of what people fail, the share that the judge fails",
	"specificity":                  "Of what people pass, the share that the judge does not fail",
	"ppv":                          "Of what the judge fails, the share that people fail",
	"npv":                          "Of what the judge does not fail, the share that people pass",
	"prevalence":                   "Of the labels, the share that fails",
	"misses":                       "Of what people fail, the share that the judge passes",
	"weighted.agreement":           "Of all work, the share on which both say the same",
	"weighted.cohen_kappa":         "Of all work, kappa",
	"weighted.sensitivity":         "Of all work people would fail, the share that the judge fails",
	"weighted.specificity":         "Of all work people would pass, the share that the judge does not fail",
	"weighted.ppv":                 "Of all work the judge fails, the share that people would fail",
	"weighted.npv":                 "Of all work the judge does not fail, the share that people would pass",
	"weighted.n_effective":         "The number of labels of equal weight that would say as much",
	"begg_greenes.sensitivity":     "Sensitivity, corrected for which items were looked at (Begg and Greenes),",
	"begg_greenes.specificity":     "Specificity, corrected for which items were looked at (Begg and Greenes),",
	"begg_greenes.missed_at_most":  "Of what the judge does not fail, people would fail at most this share: it",
	"pass_rate.judge_only":         "The share that the judge passes",
	"pass_rate.human_only":         "The share that people would pass, by the labels alone,",
	"pass_rate.corrected":          "The share that people would pass, by judge and labels together,",
	"seen_minus_blind.agreement":   "How much oftener people agree who see the verdict",
	"seen_minus_blind.cohen_kappa": "How much higher kappa is where people see the verdict",
}

// inSentences writes numbers as sentences, with their methods.
func inSentences(r calibration.Report) (out []views.SaidFigure) {
	for _, n := range r.Figures() {
		name, known := plain[n.Name]
		if !known {
			continue
		}
		e := n.Estimate
		s := views.SaidFigure{}
		switch {
		case !e.Defined():
			s.Sentence, s.Method = strings.TrimSuffix(strings.TrimSuffix(name, ": it"), ",")+" is not known.", "Because "+e.Undefined+"."
		case !e.HasInterval():
			s.Sentence = fmt.Sprintf("%s is %.4g, from %s.", name, e.Value, counted(e.N, "label"))
			s.Method = "No interval: " + e.NoInterval + "."
		default:
			s.Sentence = fmt.Sprintf("%s is %s, between %s and %s with %.3g%% confidence, from %s.", name, agreement.Decimals(e.Value, 2), agreement.Decimals(e.Low, 2), agreement.Decimals(e.High, 2), 100*n.ConfLevel, counted(e.N, "label"))
			s.Method = "Interval: " + methodWord(e.Method) + "."
		}
		out = append(out, s)
	}
	return out
}
