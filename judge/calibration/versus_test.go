package calibration_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/calibration"
)

var twoCompetitors = []calibration.Competitor{{PromptVersion: "6666666666", Model: "m"}, {PromptVersion: "7777777777", Model: "m"}}

// twice is n traces about which people and judges said these verdicts.
func twice(n int, human judge.Verdict, judged ...judge.Verdict) (items []calibration.JudgedTwice) {
	for range n {
		it := calibration.JudgedTwice{Human: calibration.Answer{Verdict: human}}
		for _, v := range judged {
			it.Judges = append(it.Judges, calibration.Answer{Verdict: v})
		}
		items = append(items, it)
	}
	return items
}

func all(parts ...[]calibration.JudgedTwice) (items []calibration.JudgedTwice) {
	for _, p := range parts {
		items = append(items, p...)
	}
	return items
}

// 212 labelled traces, reckoned by hand: the second judge finds 11 bad ones that
// the first lets pass and fails 4 good ones that the first passes.
func TestCompareTwoJudges(t *testing.T) {
	items := all(twice(150, judge.Pass, judge.Pass, judge.Pass), twice(40, judge.Fail, judge.Fail, judge.Fail),
		twice(11, judge.Fail, judge.Pass, judge.Fail), twice(4, judge.Pass, judge.Pass, judge.Fail), twice(7, judge.Fail, judge.Pass, judge.Pass))
	v, err := calibration.CompareJudges(twoCompetitors, nil, false, items, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := v.Duel
	if v.N != 212 || d.BothRight != 190 || d.OnlyFirst != 4 || d.OnlySecond != 11 || d.BothWrong != 7 {
		t.Errorf("paired table %+v of %d", d, v.N)
	}
	// 2 * sum_{k<=4} C(15,k) / 2^15 = 2 * 1941 / 32768
	if d.Method != calibration.MethodMcNemarExact || math.Abs(*d.P-2*1941.0/32768) > 1e-12 {
		t.Errorf("p %v by %s", *d.P, d.Method)
	}
	if math.Abs(d.Difference.Value-7.0/212) > 1e-12 {
		t.Errorf("difference %v", d.Difference)
	}
	a, b := v.Each[0], v.Each[1]
	if a.Right != 194 || b.Right != 201 || a.Bad != 58 || a.Misses != 18 || b.Misses != 7 || a.Alarms != 0 || b.Alarms != 4 {
		t.Errorf("each %+v, %+v", a, b)
	}
	if got, want := *v.KappaDifference.Value, b.CohenKappa.Value-a.CohenKappa.Value; math.Abs(got-want) > 1e-12 {
		t.Errorf("difference of kappa %v, want %v", got, want)
	}
	if v.KappaDifference.Seed != calibration.VersusSeed || v.KappaDifference.Replicates != 2000 || v.KappaDifference.Low == nil || *v.KappaDifference.Low >= *v.KappaDifference.High {
		t.Errorf("bootstrap %+v", v.KappaDifference)
	}
	want := "On the same 212 labelled traces version 77777777 is right 11 times where version 66666666 is wrong, and wrong 4 times where version 66666666 is right: that much can be chance, so no difference is shown."
	if v.Sentence != want {
		t.Errorf("sentence %q", v.Sentence)
	}
	if v.All != nil || !v.Enough {
		t.Errorf("all %+v, %q", v.All, v.TooFew)
	}
}

// From 25 traces on that tell them apart the test is mid-p, and looks at a test
// split make each of them worth less.
func TestComparisonsByMethodAndLooks(t *testing.T) {
	items := all(twice(60, judge.Pass, judge.Pass, judge.Pass), twice(5, judge.Pass, judge.Pass, judge.Fail), twice(20, judge.Fail, judge.Pass, judge.Fail))
	once, err := calibration.CompareJudges(twoCompetitors, nil, false, items, 1)
	if err != nil {
		t.Fatal(err)
	}
	if once.Duel.Method != calibration.MethodMcNemarMidP || !strings.HasSuffix(once.Sentence, "version 77777777 is better than version 66666666 by more than chance explains.") {
		t.Errorf("%s: %s", once.Duel.Method, once.Sentence)
	}
	often, err := calibration.CompareJudges(twoCompetitors, nil, false, items, 4)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(*often.Duel.P-4**once.Duel.P) > 1e-12 || math.Abs(often.ConfLevel-0.9875) > 1e-12 {
		t.Errorf("four looks: p %v of %v, level %v", *often.Duel.P, *once.Duel.P, often.ConfLevel)
	}
	if often.Duel.Difference.Low >= once.Duel.Difference.Low || often.Duel.Difference.High <= once.Duel.Difference.High {
		t.Errorf("four looks do not widen the interval: %+v, %+v", often.Duel.Difference, once.Duel.Difference)
	}
}

// The scale of the labels counts where every answer has one; abstentions and what
// has no common scale are left out and counted.
func TestScaleOfAComparison(t *testing.T) {
	labels := []judge.Label{{Name: "good", Verdict: judge.Pass}, {Name: "fair", Verdict: judge.Pass}, {Name: "bad", Verdict: judge.Fail}, {Name: "unsure", Abstain: true}}
	say := func(human string, judged ...string) calibration.JudgedTwice {
		it := calibration.JudgedTwice{Human: calibration.Answer{Label: human}}
		for _, l := range judged {
			it.Judges = append(it.Judges, calibration.Answer{Label: l})
		}
		return it
	}
	items := []calibration.JudgedTwice{say("good", "good", "fair"), say("bad", "bad", "bad"), say("unsure", "good", "bad"), say("good", "unsure", "good")}
	v, err := calibration.CompareJudges(twoCompetitors, labels, true, items, 1)
	if err != nil {
		t.Fatal(err)
	}
	if v.Scale != calibration.ScaleLabels || v.N != 2 || v.NAbstained != 2 || v.Duel.OnlyFirst != 1 || v.Enough {
		t.Errorf("by labels: %+v", v)
	}
	tie := say("", "good", "bad")
	tie.Human = calibration.Answer{Abstained: true, Tied: true}
	if v, err = calibration.CompareJudges(twoCompetitors, labels, true, append(items, tie), 1); err != nil || v.N != 2 || v.NAbstained != 2 || v.NTied != 1 {
		t.Errorf("a tie between people: %d compared, %d abstained, %d tied, %v", v.N, v.NAbstained, v.NTied, err)
	}
	items = append(items, twice(1, judge.Fail, judge.Fail, judge.Pass)...)
	if v, err = calibration.CompareJudges(twoCompetitors, labels, true, items, 1); err != nil {
		t.Fatal(err)
	}
	if v.Scale != calibration.ScaleVerdicts || v.N != 3 || v.Duel.BothRight != 2 || v.Duel.OnlyFirst != 1 {
		t.Errorf("by verdicts: %+v", v)
	}
	empty, err := calibration.CompareJudges(twoCompetitors, nil, false, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	written, err := json.Marshal(empty)
	if err != nil || strings.Contains(string(written), "NaN") || empty.Duel.P != nil || empty.KappaDifference.Value != nil || empty.Duel.Difference.Defined() {
		t.Errorf("nothing to compare: %s, error %v", written, err)
	}
	if _, err := calibration.CompareJudges(twoCompetitors[:1], nil, false, nil, 1); err == nil {
		t.Error("one judge was compared with itself")
	}
	if _, err := calibration.CompareJudges(twoCompetitors, nil, false, twice(1, judge.Pass, judge.Pass), 1); err == nil {
		t.Error("an item with one answer was compared")
	}
}

// Three judges: Cochran's example is reckoned by hand, each pair is adjusted by Holm.
func TestCompareThreeJudges(t *testing.T) {
	three := append(twoCompetitors, calibration.Competitor{PromptVersion: "8888888888", Model: "m"})
	items := all(twice(30, judge.Pass, judge.Pass, judge.Pass, judge.Pass), twice(10, judge.Pass, judge.Fail, judge.Pass, judge.Pass),
		twice(6, judge.Pass, judge.Fail, judge.Fail, judge.Pass), twice(2, judge.Pass, judge.Pass, judge.Pass, judge.Fail))
	v, err := calibration.CompareJudges(three, nil, false, items, 1)
	if err != nil || v.All == nil {
		t.Fatalf("%+v, error %v", v, err)
	}
	// C = 32, 42, 46; N = 120; R: 30 of 3, 10 of 2, 6 of 1, 2 of 2.
	// Q = 2 (3 (32²+42²+46²) - 120²) / (3·120 - (270+40+6+8)) = 2·312/36
	if math.Abs(*v.All.Q-2*312.0/36) > 1e-9 || v.All.DF != 2 || *v.All.P > 0.001 {
		t.Errorf("Q %v, %d, p %v", *v.All.Q, v.All.DF, *v.All.P)
	}
	if len(v.All.Pairs) != 3 {
		t.Fatalf("pairs %+v", v.All.Pairs)
	}
	for _, d := range v.All.Pairs {
		if d.Holm == nil || *d.Holm < *d.P {
			t.Errorf("pair %+v", d)
		}
	}
}

// Ten versions that are all as good as the one in use: who looks at each and takes what
// looks better is fooled often at the level of one look, and seldom by corrected ones.
func TestLooksKeepTheirPromise(t *testing.T) {
	random := rand.New(rand.NewPCG(8, 15))
	const trials, looks, n = 1500, 10, 200
	fooled, naive := 0, 0
	for range trials {
		better := [2]bool{}
		for range looks {
			b, c := 0, 0
			for range n {
				if first, second := random.Float64() < 0.8, random.Float64() < 0.8; first && !second {
					b++
				} else if second && !first {
					c++
				}
			}
			p := agreement.McNemar(b, c).MidP
			better[0] = better[0] || p < 0.05
			d := agreement.PairedDifference(b, c, n, 1-0.05/looks)
			better[1] = better[1] || (p*looks < 0.05 && (d.Low > 0 || d.High < 0))
		}
		naive += map[bool]int{true: 1}[better[0]]
		fooled += map[bool]int{true: 1}[better[1]]
	}
	if share := float64(fooled) / trials; share > 0.06 {
		t.Errorf("fooled in %.3f of the trials by corrected looks", share)
	}
	if share := float64(naive) / trials; share < 0.25 {
		t.Errorf("fooled in %.3f of the trials without a correction: this shows nothing", share)
	}
}

// Traces of one question say the same again and again: their interval must be wider
// than that of as many traces that stand alone.
func TestClustersWidenTheDifference(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 2))
	var alone, together []calibration.JudgedTwice
	for c := range 60 {
		first := judge.Pass
		if random.Float64() < 0.3 {
			first = judge.Fail
		}
		for _, it := range twice(5, judge.Pass, first, judge.Pass) {
			alone = append(alone, it)
			it.Cluster = fmt.Sprintf("question %d", c)
			together = append(together, it)
		}
	}
	width := func(items []calibration.JudgedTwice) float64 {
		v, err := calibration.CompareJudges(twoCompetitors, nil, false, items, 1)
		if err != nil {
			t.Fatal(err)
		}
		if v.N != 300 {
			t.Fatalf("%d items", v.N)
		}
		return *v.AgreementResampled.High - *v.AgreementResampled.Low
	}
	a, b := width(alone), width(together)
	if ratio := b / a; ratio < 1.8 || ratio > 2.8 { // the square root of 5 is 2.24
		t.Errorf("width %v alone, %v in clusters", a, b)
	}
}
