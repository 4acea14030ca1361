package release

import (
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/rate"
)

// Correction is the pass rate of everything that a judge gave a verdict on, three
// ways. Waiting evaluations belong to it: what a judge flags is not a sample.
type Correction struct {
	// Source of the labels: file, or project; empty: there are none.
	Source string `json:"source"`
	// JudgeOnly takes the judge's word for all, HumanOnly the labels alone, weighted by
	// one over the probability with which each was drawn. Corrected is post-stratified
	// within verdict (Tenenbein 1970).
	JudgeOnly agreement.Estimate `json:"judge_only"`
	HumanOnly agreement.Estimate `json:"human_only"`
	Corrected agreement.Estimate `json:"corrected"`
	// LabelsOnPassed and LabelsOnOthers count the labels by the judge's verdict.
	LabelsOnPassed int `json:"labels_on_passed"`
	LabelsOnOthers int `json:"labels_on_others"`
	// EffectiveN is Kish's: how many equally drawn labels would say as much.
	EffectiveN float64 `json:"effective_n"`
	// Enough: the labels are enough to decide by. If not, TooFew says what is missing.
	Enough bool   `json:"enough"`
	TooFew string `json:"too_few,omitempty"`
	// Narrower: the corrected interval is narrower than that of the labels alone; nil
	// when one of them has none.
	Narrower *bool    `json:"narrower"`
	Notes    []string `json:"notes"`
}

// ProjectLabel counts labels of a project on one judge, version and model, of which
// all that follows is equal. None had the judge's verdict in sight.
type ProjectLabel struct {
	Rater
	JudgePasses, PeoplePass bool
	// Probability with which each was drawn, in (0,1]; 0: not known.
	Probability float64
	N           int
}

// correct computes the three rates.
func (g *group) correct(key groupKey, o Options, project []ProjectLabel) Correction {
	c := Correction{Notes: []string{}, JudgeOnly: agreement.Estimate{Undefined: "the judge gave no verdict"}}
	if g.judged > 0 {
		c.JudgeOnly = agreement.Proportion(g.judgedPassed, g.judged, Level)
	}
	drawn := g.drawn
	if drawn[0].n()+drawn[1].n() > 0 {
		c.Source = FromFile
	} else {
		drawn = [2]labels{}
		for _, l := range project {
			if l.Rater == (Rater{key.judge, key.model, key.version}) {
				drawn[oneIf(l.JudgePasses)].add(l.PeoplePass, l.Probability, l.N)
				c.Source = FromProject
			}
		}
	}
	c.LabelsOnPassed, c.LabelsOnOthers = drawn[1].n(), drawn[0].n()
	if c.Source == "" {
		c.refuse("people gave no label for this judge, version and model")
		return c
	}
	if c.Source == FromProject && o.PassThreshold != nil {
		c.refuse("labels of the project are kept by verdict, and here a score decides: give labels in the file, or leave --pass-threshold out")
		return c
	}
	of := [2]int{g.judged - g.judgedPassed, g.judgedPassed}
	for i := range drawn {
		if !drawn[i].known(of[i], c.Source) {
			c.refuse("how the labels were drawn is not known: give inclusion_probability with each, at least " + judge.LeastChanceText + ", or label every trace")
			return c
		}
	}
	all := drawn[0].drawn.Plus(drawn[1].drawn)
	c.EffectiveN = all.EffectiveN()
	c.HumanOnly = all.Share(Level)
	c.Corrected = rate.PostStratifiedDrawn(g.judgedPassed, g.judged, drawn[1].drawn, drawn[0].drawn, Level)
	c.judge(of, drawn)
	return c
}

func (c *Correction) refuse(why string) {
	c.TooFew = why
	c.HumanOnly, c.Corrected = agreement.Estimate{Undefined: why}, agreement.Estimate{Undefined: why}
}

// judge says whether to decide by the corrected rate, and what to know about it.
func (c *Correction) judge(of [2]int, drawn [2]labels) {
	switch n := c.LabelsOnPassed + c.LabelsOnOthers; {
	case !c.Corrected.Defined():
		c.TooFew = c.Corrected.Undefined
	case n < minLabels:
		c.TooFew = fmt.Sprintf("not enough labels: %d of at least %d", n, minLabels)
	default:
		for i, verdict := range verdictNames {
			// Where people saw everything there is nothing to infer.
			if of[i] > 0 && drawn[i].n() < min(minLabelsOfVerdict, of[i]) {
				c.TooFew = fmt.Sprintf("not enough labels on what the judge %s: %d of at least %d", verdict, drawn[i].n(), min(minLabelsOfVerdict, of[i]))
			}
		}
	}
	c.Enough = c.TooFew == ""
	if h, k := c.HumanOnly, c.Corrected; h.HasInterval() && k.HasInterval() {
		// All labelled, the two are the same figure; rounding is no gain.
		narrower := k.High-k.Low < (h.High-h.Low)*(1-1e-6)
		c.Narrower = &narrower
		if !narrower {
			c.Notes = append(c.Notes, "The corrected interval is no narrower than that of the labels alone: the judge adds nothing to them here.")
		}
	}
	for i, verdict := range verdictNames {
		n, sure := drawn[i].n(), drawn[i].drawn.Share(Level)
		if !sure.Defined() || sure.Value > 0 && sure.Value < 1 || n+drawn[i].none >= of[i] {
			continue
		}
		bound, err := agreement.ClopperPearson(0, n, Level)
		if err != nil {
			continue
		}
		c.Notes = append(c.Notes, fmt.Sprintf("All %d labels on what the judge %s say the same. Up to %.1f%% of those traces may still be otherwise, which the corrected interval does not know.",
			n, verdict, 100*bound.High))
	}
	if c.Source == FromProject {
		c.Notes = append(c.Notes, "The labels are the project's, also of other traces: the correction holds if the judge errs here as it did there.")
	}
}

// verdictNames say what a judge did, by the index of a verdict.
var verdictNames = [2]string{"does not pass", "passes"}

// Sources of labels.
const (
	FromFile    = "file"
	FromProject = "project"
)

func (l labels) n() int { return l.drawn.N() + l.unknown[0] + l.unknown[1] }

// label counts what people say of one item.
func (l *labels) label(h humanSide) {
	good, ok := h.passes()
	if !ok {
		l.none++
		return
	}
	l.add(good, h.probability, 1)
}

func (l *labels) add(good bool, probability float64, n int) {
	if judge.KnownChance(probability) > 0 {
		l.drawn.Add(good, probability, n)
		return
	}
	l.unknown[oneIf(good)] += n
}

// known reports whether it is known how labels on all items of one verdict were drawn, and
// then counts each. Labels on every item of a file are a census, whatever they say of it.
func (l *labels) known(of int, source string) bool {
	unknown := l.unknown[0] + l.unknown[1]
	switch {
	case unknown == 0:
		return true
	case source != FromFile || l.n()+l.none < of:
		return false
	}
	good, all := l.drawn.TrueN()+l.unknown[1], l.n()
	*l = labels{none: l.none}
	l.drawn.Add(true, 1, good)
	l.drawn.Add(false, 1, all-good)
	return true
}
