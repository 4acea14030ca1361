package calibration_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/rate"
	"github.com/countersign/countersign/judge/agreement/resample"
	"github.com/countersign/countersign/judge/agreement/sampling"
	"github.com/countersign/countersign/judge/calibration"
)

// passFail is a scale of two labels.
var passFail = []judge.Label{{Name: "good", Verdict: judge.Pass}, {Name: "bad", Verdict: judge.Fail}}

// orUnsure has a label by which the judge abstains beside them.
var orUnsure = append(slices.Clone(passFail), judge.Label{Name: "unsure", Verdict: judge.Borderline, Abstain: true})

// labelled is a cell of labels drawn in a stratum.
func labelled(human, judged, stratum string, probability float64, n int) calibration.Cell {
	answer := func(name string) calibration.Answer {
		return calibration.Answer{Label: name, Verdict: map[string]judge.Verdict{"good": judge.Pass, "bad": judge.Fail}[name]}
	}
	return calibration.Cell{Human: answer(human), Judge: answer(judged), Stratum: stratum, InclusionProbability: probability, N: n}
}

// judged are evaluations by verdict; all that the judge failed are reached.
func judged(passes, fails, passesReached int) []calibration.JudgedCount {
	return []calibration.JudgedCount{{Verdict: judge.Pass, N: passes, Reached: passesReached}, {Verdict: judge.Fail, N: fails, Reached: fails}}
}

// workedExample is the one of the measurement notes, twentyfold so that a 5% audit
// gives whole numbers: 20,000 traces, 4,000 bad; sensitivity .75, specificity .90, so
// 4,600 are flagged; all of these and 5% of the others are reviewed.
func workedExample() calibration.Counts {
	strata := []calibration.StratumCount{{Stratum: judge.StratumFlagged, N: 4600, InclusionProbability: 1},
		{Stratum: judge.StratumRandomAudit, N: 770, InclusionProbability: .05}}
	return calibration.Counts{Judge: "j", Labels: passFail, Strata: strata, Judged: judged(15400, 4600, 770), Cells: []calibration.Cell{
		labelled("bad", "bad", judge.StratumFlagged, 1, 3000), labelled("good", "bad", judge.StratumFlagged, 1, 1600),
		labelled("bad", "good", judge.StratumRandomAudit, .05, 50), labelled("good", "good", judge.StratumRandomAudit, .05, 720)}}
}

// The table of section 0, every row.
func TestWorkedExample(t *testing.T) {
	for _, tt := range []struct {
		name                          string
		cells                         []calibration.Cell
		agreement, kappa, sens, spec  float64
		wAgree, wKappa, wSens, wSpec  float64
		refused, sentence, lacksInAll string
	}{
		{name: "flagged and a 5% audit", cells: workedExample().Cells,
			agreement: .693, kappa: .319, sens: .984, spec: .310, wAgree: .870, wKappa: .615, wSens: .750, wSpec: .900,
			sentence: "Of 100 traces people call bad, the judge catches about 75 ("},
		{name: "flagged only", cells: workedExample().Cells[:2], agreement: .652, kappa: 0, sens: 1, spec: 0,
			refused: "none of the 15400 evaluations that the judge passed has a blind label", sentence: "Among flagged traces only: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := workedExample()
			c.Cells = tt.cells
			if tt.refused != "" {
				c.Strata = c.Strata[:1]
			}
			r := compose(t, c)
			near(t, "naive agreement", r.Agreement.Value, tt.agreement, 5e-4)
			near(t, "naive kappa", r.CohenKappa.Value, tt.kappa, 5e-4)
			near(t, "naive sensitivity", r.Classifier.Sensitivity.Value, tt.sens, 5e-4)
			near(t, "naive specificity", r.Classifier.Specificity.Value, tt.spec, 5e-4)
			if !strings.HasPrefix(r.Sentence, tt.sentence) {
				t.Errorf("sentence %q does not begin with %q", r.Sentence, tt.sentence)
			}
			p := r.Population
			if r.Sampling.FlaggedOnly != (tt.refused != "") {
				t.Errorf("flagged only: %v", r.Sampling.FlaggedOnly)
			}
			if !strings.HasPrefix(p.Refused, tt.refused) || (p.Refused == "") != (tt.refused == "") {
				t.Fatalf("refused: %q, want %q", p.Refused, tt.refused)
			}
			if tt.refused != "" {
				for name, e := range map[string]agreement.Estimate{"kappa": p.Weighted.CohenKappa, "sensitivity": p.Weighted.Sensitivity,
					"begg greenes": p.BeggGreenes.Sensitivity, "corrected": p.PassRate.Corrected, "human only": p.PassRate.HumanOnly} {
					if e.Undefined != p.Refused {
						t.Errorf("%s is %+v though all is refused", name, e)
					}
				}
				return
			}
			near(t, "agreement", p.Weighted.Agreement.Value, tt.wAgree, 5e-4)
			near(t, "kappa", p.Weighted.CohenKappa.Value, tt.wKappa, 5e-4)
			near(t, "sensitivity", p.Weighted.Sensitivity.Value, tt.wSens, 5e-4)
			near(t, "specificity", p.Weighted.Specificity.Value, tt.wSpec, 5e-4)
			near(t, "PPV", p.Weighted.PPV.Value, 3000./4600, 1e-12)
			near(t, "NPV", p.Weighted.NPV.Value, 720./770, 1e-12)
			near(t, "Begg-Greenes sensitivity", p.BeggGreenes.Sensitivity.Value, .75, 1e-12)
			near(t, "Begg-Greenes specificity", p.BeggGreenes.Specificity.Value, .90, 1e-12)
			near(t, "effective n", *p.Weighted.EffectiveN, 20000*20000/(4600+770*400.), 1e-9)
			near(t, "judge only", p.PassRate.JudgeOnly.Value, .77, 1e-12)
			near(t, "corrected pass rate", p.PassRate.Corrected.Value, .80, 1e-12)
			near(t, "human only", p.PassRate.HumanOnly.Value, .80, 1e-12)
			if *p.ByVerdict[0].Represents != 15400 || p.ByVerdict[0].Labelled != 770 {
				t.Errorf("passed: %+v", p.ByVerdict[0])
			}
		})
	}
}

func TestPopulationRefuses(t *testing.T) {
	audit := func(cells ...calibration.Cell) []calibration.Cell { return cells }
	for _, tt := range []struct {
		name   string
		cells  []calibration.Cell
		judged []calibration.JudgedCount
		want   string // empty: it stands
	}{
		{"not counted", audit(labelled("bad", "bad", "flagged", 1, 5)), nil, "it was not counted how many"},
		{"no label", nil, judged(10, 5, 0), "no evaluation has a blind or imported label"},
		{"no chance known", audit(labelled("bad", "bad", "flagged", 1, 5), labelled("good", "good", "imported", 0, 3)), judged(10, 5, 3), "3 labels have no known chance"},
		{"chances whose weights overflow", audit(labelled("bad", "bad", "flagged", 1e-308, 5), labelled("good", "good", "imported", 5e-324, 3)), judged(10, 5, 3), "8 labels have no known chance"},
		{"everything is labelled", audit(labelled("bad", "bad", "imported", 0, 5), labelled("good", "good", "imported", 0, 10)), judged(10, 5, 10), ""},
		{"everything is labelled, the judge abstained on some", audit(labelled("bad", "bad", "imported", 0, 5), labelled("good", "good", "imported", 0, 10),
			calibration.Cell{Human: calibration.Answer{Label: "bad"}, Judge: calibration.Answer{Label: "unsure", Verdict: judge.Borderline}, N: 2}),
			append(judged(10, 5, 10), calibration.JudgedCount{Verdict: judge.Borderline, Label: "unsure", N: 2, Reached: 2}), ""},
		{"the judge abstained on some, all of them answered", audit(labelled("bad", "bad", "flagged", 1, 5), labelled("good", "good", "random_audit", .3, 3),
			calibration.Cell{Human: calibration.Answer{Label: "bad"}, Judge: calibration.Answer{Label: "unsure", Verdict: judge.Borderline}, Stratum: "flagged", InclusionProbability: 1, N: 8}),
			append(judged(10, 5, 3), calibration.JudgedCount{Verdict: judge.Borderline, Label: "unsure", N: 8, Reached: 8}), ""},
		{"the judge abstained on some, none of them answered", audit(labelled("bad", "bad", "flagged", 1, 5), labelled("good", "good", "random_audit", .3, 3)),
			append(judged(10, 5, 3), calibration.JudgedCount{Verdict: judge.Borderline, Label: "unsure", N: 8}), ""},
		{"labels stand for twice the work", audit(labelled("bad", "bad", "flagged", 1, 5), labelled("good", "good", "random_audit", .6, 114), labelled("good", "good", "random_audit", .05, 10)),
			judged(200, 5, 124), "labels of more than one draw, or wrong chances: those on what the judge passed stand for 390 of 200"},
		{"passed ones were flagged only", audit(labelled("bad", "bad", "flagged", 1, 5), labelled("good", "good", "flagged", 1, 3)), judged(10, 5, 3), "7 evaluations that the judge passed had no chance"},
		{"the others wait", audit(labelled("bad", "bad", "flagged", 1, 5), labelled("good", "good", "flagged", 1, 3)), judged(10, 5, 10), ""},
		{"audited", audit(labelled("bad", "bad", "flagged", 1, 5), labelled("good", "good", "random_audit", .3, 3)), judged(10, 5, 3), ""},
		{"a verdict that never occurs", audit(labelled("good", "good", "random_audit", .3, 3)), judged(10, 0, 3), ""},
		{"visible labels are none", []calibration.Cell{{Human: calibration.Answer{Label: "bad"}, Judge: calibration.Answer{Label: "bad"}, Visible: true, InclusionProbability: 1, N: 5}}, judged(10, 5, 0), "no evaluation has a blind"},
		{"abstentions are none", []calibration.Cell{{Human: calibration.Answer{Abstained: true}, Judge: calibration.Answer{Label: "bad"}, InclusionProbability: 1, N: 5}}, judged(10, 5, 0), "no evaluation has a blind"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := compose(t, calibration.Counts{Labels: orUnsure, Cells: tt.cells, Judged: tt.judged}).Population
			if tt.want == "" && p.Refused != "" || !strings.HasPrefix(p.Refused, tt.want) {
				t.Errorf("refused %q, want %q", p.Refused, tt.want)
			}
			if p.Weighted.Agreement.Defined() != (tt.want == "") || p.PassRate.Corrected.Defined() != (tt.want == "") {
				t.Errorf("weighted agreement %+v, pass rate %+v", p.Weighted.Agreement, p.PassRate.Corrected)
			}
		})
	}
}

// A label that nothing else was drawn like takes no interval away, and it is said.
func TestALabelAloneTakesNoIntervalAway(t *testing.T) {
	c := workedExample()
	c.Cells = append(c.Cells, labelled("bad", "good", judge.StratumBoundaryAudit, .3, 1))
	c.Judged = judged(15400, 4600, 771)
	w := compose(t, c).Population.Weighted
	if w.Alone != 1 || !w.Agreement.HasInterval() || !w.CohenKappa.HasInterval() || !w.WrongPasses.HasInterval() {
		t.Errorf("%+v", w)
	}
}

// Under review of flags and a 5% audit, weights find the kappa of all items where
// the labels alone are off by more than 0.2; the intervals cover at their level.
func TestWeightsFindKappa(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 3))
	const runs, n = 300, 4000
	const kappa, sensitivity, passRate = .6154, .75, .80
	var naive, weighted, covered, coveredSensitivity, coveredRate float64
	for range runs {
		var flagged, audited [2]int // by what people say: bad, good
		passes := 0
		for range n {
			bad := r.Float64() < .2
			flag := bad && r.Float64() < .75 || !bad && r.Float64() < .10
			at := 1
			if bad {
				at = 0
			}
			switch {
			case flag:
				flagged[at]++
			default:
				passes++
				if r.Float64() < .05 {
					audited[at]++
				}
			}
		}
		p := compose(t, calibration.Counts{Labels: passFail, Judged: judged(passes, n-passes, audited[0]+audited[1]), Cells: []calibration.Cell{
			labelled("bad", "bad", judge.StratumFlagged, 1, flagged[0]), labelled("good", "bad", judge.StratumFlagged, 1, flagged[1]),
			labelled("bad", "good", judge.StratumRandomAudit, .05, audited[0]), labelled("good", "good", judge.StratumRandomAudit, .05, audited[1])}})
		naive += p.CohenKappa.Value / runs
		w := p.Population.Weighted
		weighted += w.CohenKappa.Value / runs
		holds := func(e agreement.Estimate, truth float64) float64 {
			if e.HasInterval() && e.Low <= truth && truth <= e.High {
				return 1. / runs
			}
			return 0
		}
		covered += holds(w.CohenKappa, kappa)
		coveredSensitivity += holds(w.Sensitivity, sensitivity)
		coveredRate += holds(p.Population.PassRate.Corrected, passRate)
	}
	near(t, "mean weighted kappa", weighted, kappa, .02)
	if kappa-naive < .2 {
		t.Errorf("the naive kappa is %v on average: off by %v, want more than 0.2", naive, kappa-naive)
	}
	for name, share := range map[string]float64{"kappa": covered, "sensitivity": coveredSensitivity, "corrected pass rate": coveredRate} {
		if share < .91 || share > .99 {
			t.Errorf("the interval of %s covers in %.3f of runs, want about .95", name, share)
		}
	}
}

// Linearised standard errors are what a bootstrap within strata comes to.
func TestLinearisedAsBootstrap(t *testing.T) {
	cells := []sampling.Cell{{Human: 1, Judge: 1, Probability: 1, N: 300}, {Human: 0, Judge: 1, Probability: 1, N: 160},
		{Human: 1, Judge: 0, Stratum: 1, Probability: .2, N: 30}, {Human: 0, Judge: 0, Stratum: 1, Probability: .2, N: 270}}
	scale := []string{"good", "bad"}
	d, err := sampling.WeighCells(scale, cells)
	if err != nil {
		t.Fatal(err)
	}
	u := resample.Units{Kinds: len(cells)}
	for k, c := range cells {
		for range c.N {
			u.Kind, u.Stratum = append(u.Kind, k), append(u.Stratum, c.Stratum)
		}
	}
	redrawn := func(f func(sampling.Design) agreement.Estimate) float64 {
		res, err := resample.Percentile(u, func(counts []int) (float64, bool) {
			drawn := append([]sampling.Cell(nil), cells...)
			for k := range drawn {
				drawn[k].N = counts[k]
			}
			d, err := sampling.WeighCells(scale, drawn)
			if err != nil {
				return 0, false
			}
			e := f(d)
			return e.Value, e.Defined()
		}, resample.Plan{Level: .95, Replicates: 2000, Seed: 11})
		if err != nil {
			t.Fatal(err)
		}
		return res.SE
	}
	for name, f := range map[string]func(sampling.Design) agreement.Estimate{
		"kappa":     func(d sampling.Design) agreement.Estimate { return d.Kappa(agreement.Identity(2), .95) },
		"agreement": func(d sampling.Design) agreement.Estimate { return d.Agreement(.95) },
		"sensitivity": func(d sampling.Design) agreement.Estimate {
			return d.Share(func(_, j int) bool { return j == 1 }, func(h, _ int) bool { return h == 1 }, "", .95)
		},
	} {
		near(t, name+": linearised over bootstrap", f(d).SE/redrawn(f), 1, .06)
	}
}

// With one weight for all the figures are the unweighted ones, and without unequal
// chances within a verdict the corrected rate is Tenenbein's.
func TestEqualWeightsChangeNothing(t *testing.T) {
	c := workedExample()
	for i := range c.Cells {
		c.Cells[i].Stratum, c.Cells[i].InclusionProbability = judge.StratumRandomAudit, .25
	}
	c.Judged = []calibration.JudgedCount{{Verdict: judge.Pass, N: 3100, Reached: 770}, {Verdict: judge.Fail, N: 18300, Reached: 4600}}
	r := compose(t, c)
	near(t, "kappa", r.Population.Weighted.CohenKappa.Value, r.CohenKappa.Value, 1e-12)
	near(t, "its standard error", r.Population.Weighted.CohenKappa.SE/r.CohenKappa.SE, 1, .001)
	near(t, "sensitivity", r.Population.Weighted.Sensitivity.Value, r.Classifier.Sensitivity.Value, 1e-12)
	if r.Population.Weighted.Unequal {
		t.Error("equal weights are called unequal")
	}
	want := rate.PostStratified(3100, 21400, rate.Labelled{True: 720, All: 770}, rate.Labelled{True: 1600, All: 4600}, calibration.Level)
	if got := r.Population.PassRate; got.Corrected != want || got.Estimator != calibration.EstimatorPostStratified {
		t.Errorf("corrected %+v by %s, want %+v", got.Corrected, got.Estimator, want)
	}
	// The general estimator comes to the same where chances differ by nothing to speak of.
	for _, cell := range c.Cells {
		cell.N, cell.Stratum, cell.InclusionProbability = cell.N/2, "another", cell.InclusionProbability*(1-1e-12)
		c.Cells = append(c.Cells, cell)
	}
	for i := range c.Cells[:4] {
		c.Cells[i].N /= 2
	}
	general := compose(t, c).Population
	if general.PassRate.Estimator != calibration.EstimatorHajek || general.BeggGreenes.Sensitivity.Defined() {
		t.Errorf("estimator %s, Begg-Greenes %+v", general.PassRate.Estimator, general.BeggGreenes.Sensitivity)
	}
	near(t, "value", general.PassRate.Corrected.Value, want.Value, 1e-9)
	near(t, "standard error", general.PassRate.Corrected.SE/want.SE, 1, .001)
	if math.IsNaN(general.PassRate.Corrected.Low) {
		t.Error("NaN")
	}
}

func TestSlicesMomentsAndBands(t *testing.T) {
	c := workedExample()
	slice := func(dimension, value string, bb, gb, bg, gg int) calibration.SliceCount {
		return calibration.SliceCount{Dimension: dimension, Value: value, Cells: []calibration.Cell{
			labelled("bad", "bad", "", 0, bb), labelled("good", "bad", "", 0, gb), labelled("bad", "good", "", 0, bg), labelled("good", "good", "", 0, gg)}}
	}
	c.Slices = []calibration.SliceCount{
		slice(calibration.ByDomain, "law", 20, 5, 5, 20), slice(calibration.ByDomain, "medical", 80, 10, 10, 80), slice(calibration.ByDomain, "math", 5, 1, 1, 5),
		slice(calibration.ByBand, "9", 1, 0, 2, 17), slice(calibration.ByBand, "0", 10, 0, 0, 0),
		slice(calibration.ByWeek, "2940", 30, 2, 2, 30), slice(calibration.ByWeek, "2950", 10, 2, 2, 10), slice(calibration.ByWeek, "2960", 3, 2, 1, 3),
	}
	r := compose(t, c)
	if len(r.Slices) != 3 || r.Slices[0].Value != "medical" || r.Slices[2].Value != "math" {
		t.Fatalf("slices %+v", r.Slices)
	}
	near(t, "level of two slices that count", r.Slices[0].ConfLevel, .975, 1e-12)
	near(t, "kappa of medical", r.Slices[0].Kappa.Value, 1-20./90, 1e-9)
	if k := r.Slices[2].Kappa; k.Undefined != "not enough labels: 12 of at least 30" || r.Slices[2].Agreement.N != 12 {
		t.Errorf("a slice of 12: %+v", r.Slices[2])
	}
	if len(r.OverTime) != 3 || r.OverTime[0].N != 64 || r.OverTime[1].N != 88 || r.OverTime[2].N != 33 {
		t.Fatalf("over time %+v", r.OverTime)
	}
	if !r.OverTime[1].Kappa.Defined() || r.OverTime[2].Kappa.Defined() || r.OverTime[0].Until.Weekday().String() != "Monday" {
		t.Errorf("over time %+v", r.OverTime)
	}
	if len(r.Reliability) != 2 || r.Reliability[0].From != 0 || r.Reliability[1].N != 20 {
		t.Fatalf("bands %+v", r.Reliability)
	}
	near(t, "passed of the best", r.Reliability[1].Passed.Value, 17./20, 1e-12)
}
