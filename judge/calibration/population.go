package calibration

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/rate"
	"github.com/countersign/countersign/judge/agreement/sampling"
)

// Population is what the labels say about all evaluations of this judge, model and
// version, not only about those that people looked at.
type Population struct {
	// Evaluations have a verdict; Labelled of them a blind or imported answer that
	// is no abstention. Waiting are left out: they wait for a blind review that the
	// reader may give.
	Evaluations int `json:"evaluations"`
	Labelled    int `json:"labelled"`
	Waiting     int `json:"n_waiting"`
	// DrawnWaiting are labels that were drawn and are not in: earlier ones count as
	// before until they are.
	DrawnWaiting int `json:"n_drawn_waiting,omitempty"`
	// JudgeAbstained are evaluations on which the judge abstained: they are no part
	// of Evaluations, as agreement is not about them.
	JudgeAbstained int `json:"n_judge_abstained,omitempty"`

	ByVerdict []VerdictShare `json:"by_verdict"`

	// Refused says why nothing can be said of all evaluations, and what to do;
	// empty: the figures below stand. Refused figures are null and give it too.
	Refused string `json:"refused,omitempty"`
	// Overdrawn: it is refused because the labels of a verdict stand for clearly more
	// evaluations than it has, so their chances are not what they say.
	Overdrawn bool `json:"overdrawn,omitempty"`

	Weighted Weighted `json:"weighted"`
	// BeggGreenes are sensitivity and specificity from the shares within each
	// verdict and how often the judge gives it.
	BeggGreenes BeggGreenes `json:"begg_greenes"`
	PassRate    PassRate    `json:"pass_rate"`
}

// VerdictShare is how far one verdict of the judge was looked at. Represents is the
// sum of the labels' weights: near Evaluations when labels came as they were drawn.
type VerdictShare struct {
	Verdict     judge.Verdict `json:"verdict"`
	Evaluations int           `json:"evaluations"`
	Labelled    int           `json:"labelled"`
	Represents  *float64      `json:"represents"`
}

// Weighted are figures in which each label counts one over the probability with
// which its item was drawn (Hájek's ratio). Intervals are linearised within strata.
type Weighted struct {
	Scale string `json:"scale"`
	N     int    `json:"n"`
	// EffectiveN is Kish's number of labels of equal weight that would say as much.
	EffectiveN  *float64           `json:"n_effective"`
	Agreement   agreement.Estimate `json:"agreement"`
	CohenKappa  agreement.Estimate `json:"cohen_kappa"`
	Sensitivity agreement.Estimate `json:"sensitivity"`
	Specificity agreement.Estimate `json:"specificity"`
	PPV         agreement.Estimate `json:"ppv"`
	NPV         agreement.Estimate `json:"npv"`
	// WrongPasses: of what the judge passes, the share that people fail.
	WrongPasses agreement.Estimate `json:"wrong_passes"`
	// Unequal says that not all labels have one weight, so that these figures
	// differ from unweighted ones.
	Unequal bool `json:"unequal_weights"`
	// Alone are labels that nothing else was drawn like: their spread is taken with
	// that of the nearest chance (sampling.Design).
	Alone int `json:"n_alone,omitempty"`
}

// BeggGreenes are the figures of Begg & Greenes (1983).
type BeggGreenes struct {
	Sensitivity agreement.Estimate `json:"sensitivity"`
	Specificity agreement.Estimate `json:"specificity"`
	// MissedAtMost is the upper bound of the share of bad work among what the judge
	// does not fail (Clopper-Pearson): what to read when no miss was found.
	MissedAtMost agreement.Estimate `json:"missed_at_most"`
}

// PassRate is the share of evaluations that people would pass, three ways.
type PassRate struct {
	JudgeOnly agreement.Estimate `json:"judge_only"`
	HumanOnly agreement.Estimate `json:"human_only"`
	Corrected agreement.Estimate `json:"corrected"`
	// Estimator of Corrected: post_stratified, or post_stratified_hajek where labels
	// within a verdict were drawn with unequal chances.
	Estimator string `json:"estimator"`
	// JudgeHelps says that the corrected interval is narrower than the human-only
	// one; nil when one of them is missing.
	JudgeHelps *bool  `json:"judge_helps"`
	Text       string `json:"text"`
}

// Estimators of the corrected pass rate.
const (
	EstimatorPostStratified = "post_stratified"
	EstimatorHajek          = "post_stratified_hajek"
)

// drawnLabel counts labels of the headline that can be compared.
type drawnLabel struct {
	pairing
	stratum     string
	probability float64 // 0: not known
}

// population weighs the labels. main is the headline comparison.
func (s scale) population(c Counts, main comparison) (Population, error) {
	p := Population{Waiting: c.Waiting, DrawnWaiting: c.DrawnWaiting, ByVerdict: []VerdictShare{}}
	var drawn []drawnLabel
	for _, cell := range c.Cells {
		l := drawnLabel{pairing{s.read(cell.Human), s.read(cell.Judge), cell.N}, cell.Stratum, judge.KnownChance(cell.InclusionProbability)}
		if !cell.Visible && cell.N > 0 && !l.first.abstained && l.first.verdict != "" && l.second.verdict != "" {
			drawn = append(drawn, l)
		}
	}
	for _, v := range verdictScale {
		share := VerdictShare{Verdict: judge.Verdict(v)}
		for _, j := range c.Judged {
			switch {
			case string(j.Verdict) != v:
			case s.abstains(j):
				p.JudgeAbstained += j.N
			default:
				share.Evaluations += j.N
			}
		}
		for _, l := range drawn {
			if l.second.verdict == v {
				share.Labelled += l.n
			}
		}
		p.Evaluations += share.Evaluations
		p.Labelled += share.Labelled
		p.ByVerdict = append(p.ByVerdict, share)
	}
	// Everything that was judged has an answer: no chance was left out, whatever the
	// labels say of theirs. Abstentions of either side are missing then.
	answered := 0
	for _, cell := range c.Cells {
		if !cell.Visible && !s.read(cell.Judge).abstained {
			answered += cell.N
		}
	}
	census := p.Labelled > 0 && answered == p.Evaluations
	if census {
		for i := range drawn {
			drawn[i].probability = 1
		}
	}
	if !census {
		p.Refused = p.refusal(s.answered(c), drawn)
		if p.Refused == "" {
			p.Refused = p.overdrawn(drawn)
			p.Overdrawn = p.Refused != ""
		}
	}
	p.PassRate.JudgeOnly = agreement.Estimate{Undefined: "no evaluation has a verdict"}
	if p.Evaluations > 0 {
		p.PassRate.JudgeOnly = agreement.Proportion(p.ByVerdict[0].Evaluations, p.Evaluations, Level)
	}
	if p.Refused != "" {
		p.refuse()
		return p, nil
	}
	for i := range p.ByVerdict {
		sum := 0.0
		for _, l := range drawn {
			if l.second.verdict == string(p.ByVerdict[i].Verdict) {
				sum += float64(l.n) / l.probability
			}
		}
		p.ByVerdict[i].Represents = &sum
	}
	if err := p.weigh(drawn, main); err != nil {
		return p, err
	}
	p.beggGreenes(drawn)
	return p, p.passRate(drawn)
}

// abstains says that the judge gave no opinion, whatever verdict its label stands for.
func (s scale) abstains(j JudgedCount) bool {
	return s.read(Answer{Label: j.Label, Verdict: j.Verdict}).abstained
}

// answered leaves out of Judged what the judge abstained on.
func (s scale) answered(c Counts) Counts {
	c.Judged = slices.DeleteFunc(slices.Clone(c.Judged), s.abstains)
	return c
}

// refusal says why the labels cannot stand for all evaluations.
func (p Population) refusal(c Counts, drawn []drawnLabel) string {
	switch {
	case p.Labelled == 0 && c.Sealed > 0:
		return fmt.Sprintf("%s that wait for a blind review, which you may give, are left out for you, and no other label is there: answer them, or ask an auditor", count(c.Sealed, "labelled item", "labelled items"))
	case p.Evaluations == 0 || p.Evaluations < p.Labelled:
		return "it was not counted how many evaluations there are"
	case p.Labelled == 0:
		return "no evaluation has a blind or imported label: label some that were drawn at random (a random audit in the policy draws them)"
	}
	unknown := 0
	for _, l := range drawn {
		if l.probability <= 0 {
			unknown += l.n
		}
	}
	if unknown > 0 {
		return fmt.Sprintf("%s no known chance of being drawn: import inclusion_probability with the labels (at least "+judge.LeastChanceText+"; less counts as not known), or use labels from a random audit",
			count(unknown, "label has", "labels have"))
	}
	for _, share := range p.ByVerdict {
		name, certain := verdictDone[share.Verdict], true
		for _, l := range drawn {
			if l.second.verdict == string(share.Verdict) && l.probability < 1 {
				certain = false
			}
		}
		reached := 0
		for _, j := range c.Judged {
			if j.Verdict == share.Verdict {
				reached += j.Reached
			}
		}
		switch {
		case share.Evaluations == 0:
		case share.Labelled == 0:
			return fmt.Sprintf("none of the %s that the judge %s has a blind label, so they could hide anything: draw some at random (a random audit in the policy)",
				count(share.Evaluations, "evaluation", "evaluations"), name)
		case certain && reached < share.Evaluations:
			return fmt.Sprintf("%s that the judge %s had no chance of being looked at, as far as the labels tell: draw some at random (a random audit in the policy)",
				count(share.Evaluations-reached, "evaluation", "evaluations"), name)
		}
	}
	return ""
}

var verdictDone = map[judge.Verdict]string{judge.Pass: "passed", judge.Borderline: "called borderline", judge.Fail: "failed"}

// refuse makes every figure undefined for one reason.
func (p *Population) refuse() {
	e := agreement.Estimate{N: p.Labelled, Undefined: p.Refused}
	p.Weighted = Weighted{N: p.Labelled, Agreement: e, CohenKappa: e, Sensitivity: e, Specificity: e, PPV: e, NPV: e, WrongPasses: e}
	p.BeggGreenes = BeggGreenes{e, e, e}
	p.PassRate.HumanOnly, p.PassRate.Corrected = e, e
	p.PassRate.Text = "The share of all work that people would pass is not known: " + p.Refused + "." + p.waitingText()
}

// cells puts labels on a scale, those that are not on it left out. Strata are
// numbered as they first come; a stratum drawn from with two chances is two.
func cells(drawn []drawnLabel, labels []string, answer func(said) string) []sampling.Cell {
	type stratum struct {
		name        string
		probability float64
	}
	at := map[stratum]int{}
	var out []sampling.Cell
	for _, l := range drawn {
		human, judged := slices.Index(labels, answer(l.first)), slices.Index(labels, answer(l.second))
		if human < 0 || judged < 0 {
			continue
		}
		key := stratum{l.stratum, l.probability}
		k, known := at[key]
		if !known {
			k = len(at)
			at[key] = k
		}
		out = append(out, sampling.Cell{Human: human, Judge: judged, Stratum: k, Probability: l.probability, N: l.n})
	}
	return out
}

// alone counts the labels that are the only one of their stratum.
func alone(drawn []sampling.Cell) (n int) {
	of := map[int]int{}
	for _, c := range drawn {
		of[c.Stratum] += c.N
	}
	for _, labels := range of {
		if labels == 1 && len(of) > 1 {
			n++
		}
	}
	return n
}

func verdictOf(s said) string { return s.verdict }

// Places of verdictScale.
const (
	placePass = 0
	placeFail = 2
)

func (p *Population) weigh(drawn []drawnLabel, main comparison) error {
	answer := verdictOf
	if main.scale == ScaleLabels {
		answer = func(s said) string { return s.label }
	}
	d, err := sampling.WeighCells(main.labels, cells(drawn, main.labels, answer))
	if err != nil {
		return err
	}
	byVerdict, err := sampling.WeighCells(verdictScale, cells(drawn, verdictScale, verdictOf))
	if err != nil {
		return err
	}
	n := d.EffectiveN()
	w := Weighted{Scale: main.scale, N: main.n, EffectiveN: &n,
		Agreement: d.Agreement(Level), CohenKappa: d.Kappa(agreement.Identity(len(main.labels)), Level)}
	for _, l := range drawn {
		w.Unequal = w.Unequal || l.probability != drawn[0].probability
	}
	w.Alone = alone(cells(drawn, main.labels, answer))
	// A borderline verdict of a person counts on neither side, one of the judge is
	// no failure: as in Rates.
	bad := func(h, _ int) bool { return h == placeFail }
	good := func(h, _ int) bool { return h == placePass }
	flagged := func(h, j int) bool { return j == placeFail && h != 1 }
	passed := func(h, j int) bool { return j != placeFail && h != 1 }
	w.Sensitivity = byVerdict.Share(func(h, j int) bool { return j == placeFail }, bad, "people failed no trace", Level)
	w.Specificity = byVerdict.Share(func(h, j int) bool { return j != placeFail }, good, "people passed no trace", Level)
	w.PPV = byVerdict.Share(bad, flagged, "the judge failed no trace that people passed or failed", Level)
	w.NPV = byVerdict.Share(good, passed, "the judge failed every trace that people passed or failed", Level)
	w.WrongPasses = byVerdict.Share(bad, func(_, j int) bool { return j == placePass }, noPasses, Level)
	p.Weighted = w
	return nil
}

// beggGreenes needs labels drawn at random within what the judge fails and within
// what it does not.
func (p *Population) beggGreenes(drawn []drawnLabel) {
	var flagged, passed sampling.Reviewed
	var first [2]float64
	for _, l := range drawn {
		group, at := &passed, 0
		if l.second.verdict == verdictScale[placeFail] {
			group, at = &flagged, 1
		}
		if first[at] == 0 {
			first[at] = l.probability
		}
		if l.probability != first[at] {
			e := agreement.Estimate{N: p.Labelled, Undefined: "labels within one verdict were drawn with unequal chances: the weighted figures take that into account, these would not"}
			p.BeggGreenes = BeggGreenes{e, e, e}
			return
		}
		switch l.first.verdict {
		case verdictScale[placeFail]:
			group.Bad += l.n
		case verdictScale[placePass]:
			group.Good += l.n
		}
	}
	fails := p.ByVerdict[placeFail].Evaluations
	flagged.Unreviewed = fails - p.ByVerdict[placeFail].Labelled
	passed.Unreviewed = p.Evaluations - fails - (p.Labelled - p.ByVerdict[placeFail].Labelled)
	u := sampling.BeggGreenes(flagged, passed, Level)
	p.BeggGreenes = BeggGreenes{u.Sensitivity, u.Specificity, u.MissedAtMost}
}

// passRate corrects the judge's pass rate by what people say within each verdict.
func (p *Population) passRate(drawn []drawnLabel) error {
	d, err := sampling.WeighCells(verdictScale, cells(drawn, verdictScale, verdictOf))
	if err != nil {
		return err
	}
	good := func(h, _ int) bool { return h == placePass }
	all := func(_, _ int) bool { return true }
	r := &p.PassRate
	r.HumanOnly = d.Share(good, all, "there are no labels", Level)

	var passed, other rate.Labelled // as labels of what the judge passes, and of the rest
	equal := [2]float64{}
	r.Estimator = EstimatorPostStratified
	for _, l := range drawn {
		group, at := &other, 0
		if l.second.verdict == verdictScale[placePass] {
			group, at = &passed, 1
		}
		group.All += l.n
		if l.first.verdict == verdictScale[placePass] {
			group.True += l.n
		}
		if equal[at] == 0 {
			equal[at] = l.probability
		}
		if equal[at] != l.probability {
			r.Estimator = EstimatorHajek
		}
	}
	passes := p.ByVerdict[placePass].Evaluations
	if r.Estimator == EstimatorPostStratified {
		r.Corrected = rate.PostStratified(passes, p.Evaluations, passed, other, Level)
	} else {
		judgedPass := func(_, j int) bool { return j == placePass }
		r.Corrected = compose2(passes, p.Evaluations,
			d.Share(good, judgedPass, "", Level), d.Share(good, func(h, j int) bool { return !judgedPass(h, j) }, "", Level))
	}
	if r.Corrected.HasInterval() && r.HumanOnly.HasInterval() {
		helps := r.Corrected.High-r.Corrected.Low < r.HumanOnly.High-r.HumanOnly.Low
		r.JudgeHelps = &helps
	}
	r.Text = p.passText()
	return nil
}

// compose2 is the share of two strata of known size, with the variance of double
// sampling (Tenenbein 1970) and a logit interval: rate.PostStratified for shares
// that are weighted within their stratum.
func compose2(passes, all int, m1, m0 agreement.Estimate) agreement.Estimate {
	share := float64(passes) / float64(all)
	part := func(m agreement.Estimate, weight float64) (value, variance float64, ok bool) {
		if weight == 0 {
			return 0, 0, true
		}
		// A share of 0 or 1 has no standard error; it adds nothing to the variance.
		return m.Value, m.SE * m.SE, m.HasInterval() || m.Value <= 0 || m.Value >= 1
	}
	v1, var1, ok1 := part(m1, share)
	v0, var0, ok0 := part(m0, 1-share)
	e := agreement.Estimate{N: m1.N + m0.N, Value: share*v1 + (1-share)*v0}
	apart := m1.Value - m0.Value
	switch { // a verdict that never occurs: as rate.PostStratified
	case !m1.Defined():
		apart = max(m0.Value, 1-m0.Value)
	case !m0.Defined():
		apart = max(m1.Value, 1-m1.Value)
	}
	variance := apart*apart*rate.ShareVariance(passes, all) + share*share*var1 + (1-share)*(1-share)*var0
	if !ok1 || !ok0 || !(variance > 0) || e.Value <= 0 || e.Value >= 1 {
		e.NoInterval = "the labels leave no spread to make an interval from"
		return e
	}
	e.SE = math.Sqrt(variance)
	mid, half := math.Log(e.Value/(1-e.Value)), distuv.UnitNormal.Quantile((1+Level)/2)*e.SE/(e.Value*(1-e.Value))
	e.Low, e.High, e.Method = 1/(1+math.Exp(half-mid)), 1/(1+math.Exp(-half-mid)), rate.MethodLogit
	return e
}

func (p Population) passText() string {
	r := p.PassRate
	if !r.Corrected.Defined() {
		return "The corrected pass rate is not known: " + r.Corrected.Undefined + "." + p.waitingText()
	}
	text := fmt.Sprintf("The judge passes %.0f of 100; people would pass about %s.", 100*r.JudgeOnly.Value, within100(r.Corrected))
	if r.JudgeHelps != nil && !*r.JudgeHelps {
		text += " The labels alone say it as exactly: the judge adds nothing here."
	}
	return text + p.waitingText()
}

// waitingText says what is missing from the judge's rate and the corrected one for a
// reader who may still answer blind.
func (p Population) waitingText() string {
	if p.Waiting == 0 {
		return ""
	}
	return fmt.Sprintf(" The judge’s rate and the corrected one leave out %s blind and that you may answer: what waits was not chosen like the rest, so they are shifted until it is in.",
		count(p.Waiting, "evaluation that waits", "evaluations that wait"))
}

// within100 writes a share of a hundred, with its interval where there is one.
func within100(e agreement.Estimate) string {
	if e.HasInterval() {
		return hundred(e)
	}
	return fmt.Sprintf("%.0f", 100*e.Value)
}
