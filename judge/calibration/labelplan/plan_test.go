package labelplan

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/sampling"
	"github.com/countersign/countersign/judge/calibration"
)

const level = 0.95

func audited(missed, right, free int, chance float64) Stratum {
	return Stratum{Verdict: judge.Pass, Free: free, Before: chance, Labels: []Labels{
		{Human: judge.Fail, Wrong: true, Chance: chance, N: missed}, {Human: judge.Pass, Chance: chance, N: right}}}
}

// Labels of one weight are Wilson's own interval, and more of them that of the sum.
func TestWidthsAreWilsonsForEqualWeights(t *testing.T) {
	s := audited(9, 51, 1140, 0.05)
	now, ok := s.Now(level)
	want, err := agreement.Wilson(9, 60, level)
	if err != nil || !ok || math.Abs(now.Low-want.Low) > 1e-12 || math.Abs(now.High-want.High) > 1e-12 || now.N != 60 {
		t.Errorf("now %+v, want %+v", now, want)
	}
	after, _ := s.After(140, level)
	if want, err = agreement.Wilson(30, 200, level); err != nil || math.Abs(after.Half()-(want.High-want.Low)/2) > 1e-9 {
		t.Errorf("with 140 more %+v, want %+v", after, want)
	}
	n, ok := s.Needed(0.05, level)
	if before, _ := s.After(n-1, level); !ok || before.Half() <= 0.05 {
		t.Errorf("%d labels are needed, and one less gives %.4f", n, before.Half())
	}
	if after, _ = s.After(n, level); after.Half() > 0.05 {
		t.Errorf("%d labels give %.4f", n, after.Half())
	}
	if n, ok := s.Needed(0.001, level); ok || n != 1140 {
		t.Errorf("a width that all labels do not reach takes %d, %v", n, ok)
	}
	if _, ok := (Stratum{Free: 50}).Now(level); ok {
		t.Error("something is known without a label")
	}
	if k, ok := (Stratum{Free: 500}).After(96, level); !ok || !k.Guessed || math.Abs(k.Half()-0.098) > 0.002 {
		t.Errorf("without a label the worst case is %+v", k)
	}
}

// The promise: on average the interval after the draw is as narrow as it was said, and
// it holds the truth as often as it says.
func TestThePromisedWidthIsReached(t *testing.T) {
	source := rand.New(rand.NewPCG(31, 32))
	const all, rounds = 3000, 300
	bad := make([]bool, all)
	truth := 0.0
	for i := range bad {
		if bad[i] = source.Float64() < 0.12; bad[i] {
			truth += 1.0 / all
		}
	}
	var promised, reached float64
	inside := 0
	for range rounds {
		s := Stratum{Verdict: judge.Pass, Before: 0.03}
		var free []int
		missed, right := 0, 0
		for i := range bad {
			switch {
			case source.Float64() >= 0.03:
				free = append(free, i)
			case bad[i]:
				missed++
			default:
				right++
			}
		}
		s.Free, s.Labels = len(free), []Labels{{judge.Fail, true, 0.03, missed}, {judge.Pass, false, 0.03, right}}
		said, _ := s.After(150, level)
		promised += said.Half()
		d, err := sampling.PlanSecondDraw([]sampling.Class{{Size: s.Free, Before: s.Before}}, 150)
		if err != nil {
			t.Fatal(err)
		}
		source.Shuffle(len(free), func(i, j int) { free[i], free[j] = free[j], free[i] })
		for i := range s.Labels {
			s.Labels[i].Chance = sampling.LaterChance(0.03, d.Earlier)
		}
		drawn := [2]int{}
		for _, i := range free[:150] {
			if bad[i] {
				drawn[1]++
			} else {
				drawn[0]++
			}
		}
		s.Labels = append(s.Labels, Labels{judge.Fail, true, d.Known.Chance, drawn[1]}, Labels{judge.Pass, false, d.Known.Chance, drawn[0]})
		got, _ := s.Now(level)
		reached += got.Half()
		if got.Low <= truth && truth <= got.High {
			inside++
		}
	}
	if ratio := reached / promised; ratio > 1.05 || ratio < 0.9 {
		t.Errorf("the interval is %.3f wide for each side, promised were %.3f", reached/rounds, promised/rounds)
	}
	if inside < 270 { // of 300 at 95%
		t.Errorf("it held the truth %d times of %d", inside, rounds)
	}
}

func TestStrataOfCounts(t *testing.T) {
	answer := func(v judge.Verdict) calibration.Answer { return calibration.Answer{Verdict: v} }
	c := calibration.Counts{Labels: []judge.Label{{Name: "ok", Verdict: judge.Pass}, {Name: "no", Verdict: judge.Fail}, {Name: "dunno", Verdict: judge.Borderline, Abstain: true}},
		Judged: []calibration.JudgedCount{{Verdict: judge.Pass, N: 900, Reached: 45}, {Verdict: judge.Fail, N: 100, Reached: 100}, {Verdict: judge.Borderline, Label: "dunno", N: 8, Reached: 3}},
		Cells: []calibration.Cell{
			{Human: calibration.Answer{Label: "no"}, Judge: answer(judge.Pass), N: 5, InclusionProbability: 0.05},
			{Human: answer(judge.Pass), Judge: answer(judge.Pass), N: 38, InclusionProbability: 0.05},
			{Human: answer(judge.Pass), Judge: answer(judge.Pass), N: 7, Visible: true, InclusionProbability: 1},
			{Human: calibration.Answer{Label: "dunno"}, Judge: answer(judge.Pass), N: 2, InclusionProbability: 0.05},
			{Human: answer(judge.Pass), Judge: calibration.Answer{Label: "dunno", Verdict: judge.Borderline}, N: 3, InclusionProbability: 1},
			{Human: answer(judge.Pass), Judge: answer(judge.Fail), N: 20, InclusionProbability: 1},
			{Human: answer(judge.Fail), Judge: answer(judge.Fail), N: 80, InclusionProbability: 1},
		}}
	strata := Strata(c, func(judge.Verdict) float64 { return 0.05 })
	if len(strata) != 2 || strata[0].Free != 855 || strata[0].N() != 43 || strata[1].Free != 0 || strata[1].N() != 100 {
		t.Fatalf("strata %+v", strata)
	}
	missed, _ := strata[0].Now(level)
	alarms, _ := strata[1].Now(level)
	if math.Abs(missed.Share-5.0/43) > 1e-12 || math.Abs(alarms.Share-0.2) > 1e-12 {
		t.Errorf("wrong are %.3f of what passes and %.3f of what fails", missed.Share, alarms.Share)
	}
	now, err := Kappa(strata, []int{0, 0}, level)
	if err != nil || !now.HasInterval() {
		t.Fatal(err, now)
	}
	then, err := Kappa(strata, []int{200, 0}, level)
	if err != nil || then.High-then.Low >= now.High-now.Low || math.Abs(then.Value-now.Value) > 0.03 {
		t.Errorf("kappa %+v, with 200 more %+v, %v", now, then, err)
	}
	split, err := Split(100, strata)
	if err != nil || split[0] != 100 || split[1] != 0 {
		t.Errorf("100 labels are shared out as %v, %v", split, err)
	}
}

func TestSplitKeepsTheFloor(t *testing.T) {
	strata := []Stratum{audited(1, 99, 10000, 0.01), {Verdict: judge.Borderline, Free: 12}, {Verdict: judge.Fail, Free: 400, Labels: []Labels{{judge.Fail, false, 1, 50}}}}
	split, err := Split(300, strata)
	if err != nil || split[1] != 12 || split[2] < Floor || split[0]+split[1]+split[2] != 300 {
		t.Errorf("300 are shared out as %v, %v", split, err)
	}
	if split, err = Split(20, strata); err != nil || split[0]+split[1]+split[2] != 20 {
		t.Errorf("20 are shared out as %v, %v", split, err)
	}
	if split, err = Split(20, nil); err != nil || len(split) != 0 {
		t.Errorf("nothing: %v, %v", split, err)
	}
}
