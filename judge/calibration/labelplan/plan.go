// Package labelplan says what more labels would tell: how far they narrow what is known
// of a judge's mistakes, how many a wanted width takes, and how to share them out.
//
// It counts and promises nothing that the draw itself does not do: weights after a draw
// are those of sampling.PlanSecondDraw, which the store draws by. It reads no database.
package labelplan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/samplesize"
	"github.com/countersign/countersign/judge/agreement/sampling"
	"github.com/countersign/countersign/judge/calibration"
)

// Floor is the least number of labels that a stratum is given where labels are shared
// out, if it has so many.
const Floor = 30

// Stratum is what a judge gave one verdict, with the labels that are there.
type Stratum struct {
	Verdict judge.Verdict
	// Labels are counted by their answer and chance. Free evaluations have none and can
	// be drawn, at most; each had the chance Before.
	Labels []Labels
	Free   int
	Before float64
	// Unknown says that labels are there whose chance nobody knows: no weighted figure
	// can be made of them, whatever is drawn.
	Unknown int
}

// Labels are N labels that say the same and were drawn with the same chance in (0,1].
// Wrong: people say otherwise than the judge's verdict; a judge that is not sure is
// wrong where people fail.
type Labels struct {
	Human  judge.Verdict
	Wrong  bool
	Chance float64
	N      int
}

// Known is what labels say of the share of wrong verdicts in a stratum: the interval is
// Wilson's for Kish's effective number of labels.
type Known struct {
	Share, Low, High float64
	N                int
	EffectiveN       float64
	// Guessed: there is no label, and the worst case stands in for the share.
	Guessed bool
}

// Half is half the interval's width.
func (k Known) Half() float64 { return (k.High - k.Low) / 2 }

// Strata are those of a report's counts that have evaluations, in the order pass,
// borderline, fail. What the judge abstained on is in none. before is the chance that what was not labelled had, by verdict.
func Strata(c calibration.Counts, before func(judge.Verdict) float64) []Stratum {
	meant, abstains := map[string]judge.Verdict{}, map[string]bool{}
	for _, l := range c.Labels {
		if !l.Abstain {
			meant[l.Name] = l.Verdict
		}
		abstains[l.Name] = l.Abstain
	}
	var out []Stratum
	for _, v := range []judge.Verdict{judge.Pass, judge.Borderline, judge.Fail} {
		s := Stratum{Verdict: v, Before: before(v)}
		for _, j := range c.Judged {
			if j.Verdict == v && !abstains[j.Label] {
				s.Free += j.N - j.Reached
			}
		}
		for _, cell := range c.Cells {
			human := cmp.Or(cell.Human.Verdict, meant[cell.Human.Label])
			if cell.Visible || cell.Human.Abstained || abstains[cell.Judge.Label] || cell.Judge.Verdict != v || human == "" {
				continue
			}
			if judge.KnownChance(cell.InclusionProbability) == 0 {
				s.Unknown += cell.N
				continue
			}
			wrong := human == judge.Fail
			if v == judge.Fail {
				wrong = human == judge.Pass
			}
			s.Labels = append(s.Labels, Labels{Human: human, Wrong: wrong, Chance: cell.InclusionProbability, N: cell.N})
		}
		if s.Free > 0 || len(s.Labels) > 0 || s.Unknown > 0 {
			out = append(out, s)
		}
	}
	return out
}

// N is the number of labels.
func (s Stratum) N() (n int) {
	for _, l := range s.Labels {
		n += l.N
	}
	return n
}

// share is the weighted share of wrong verdicts; the worst case where there is no label.
func (s Stratum) share() (share float64, guessed bool) {
	var wrong, all float64
	for _, l := range s.Labels {
		w := float64(l.N) / l.Chance
		if all += w; l.Wrong {
			wrong += w
		}
	}
	if all == 0 {
		return 0.5, true
	}
	return wrong / all, false
}

// Now is what is known without more labels; ok is false where there is none.
func (s Stratum) Now(level float64) (k Known, ok bool) { return s.After(0, level) }

// After is what would be known with n more labels, drawn at random from what is free,
// if they are as wrong as those that are there. With fewer free it is with all of them.
func (s Stratum) After(n int, level float64) (k Known, ok bool) {
	k.Share, k.Guessed = s.share()
	var sum, squares float64
	for _, l := range s.plan(n) {
		w := 1 / l.Chance
		sum, squares, k.N = sum+float64(l.N)*w, squares+float64(l.N)*w*w, k.N+l.N
	}
	if k.N == 0 {
		return k, false
	}
	k.EffectiveN = sum * sum / squares
	in, err := agreement.WilsonShare(k.Share, k.EffectiveN, level)
	k.Low, k.High = in.Low, in.High
	return k, err == nil
}

// plan are the labels after a draw of n. New ones have no answer yet.
func (s Stratum) plan(n int) []Labels {
	labels := slices.Clone(s.Labels)
	d, err := sampling.PlanSecondDraw([]sampling.Class{{Size: s.Free, Before: min(s.Before, 0.999999)}}, min(n, s.Free))
	if err != nil || n <= 0 {
		return labels
	}
	for i := range labels {
		labels[i].Chance = sampling.LaterChance(labels[i].Chance, d.Earlier)
	}
	for _, p := range []sampling.Part{d.Known, d.New} {
		if p.N > 0 {
			labels = append(labels, Labels{Chance: p.Chance, N: p.N})
		}
	}
	return labels
}

// Needed is how many more labels bring half the width down to what is wanted; ok is
// false where all that is free would not.
func (s Stratum) Needed(half, level float64) (n int, ok bool) {
	enough := func(n int) bool {
		k, ok := s.After(n, level)
		return ok && k.Half() <= half
	}
	if !enough(s.Free) {
		return s.Free, false
	}
	low, high := -1, s.Free
	for high-low > 1 {
		if mid := low + (high-low)/2; enough(mid) {
			high = mid
		} else {
			low = mid
		}
	}
	return high, true
}

// Split shares n labels out over the strata by Neyman (1934): by how many evaluations
// are free and how much their answers differ, with at least Floor each, or an equal part
// where n is less. The result is in the order of the strata.
func Split(n int, strata []Stratum) ([]int, error) {
	sizes := make([]samplesize.Stratum, len(strata))
	with := 0
	for i, s := range strata {
		share, _ := s.share()
		// A share of 0 or 1 among few labels is not certain: half a label is added to
		// each side, so that such a stratum is not left alone.
		labels := float64(s.N())
		share = (share*labels + 0.5) / (labels + 1)
		sizes[i] = samplesize.Stratum{Size: s.Free, SD: math.Sqrt(share * (1 - share))}
		if s.Free > 0 {
			with++
		}
	}
	if with == 0 {
		return make([]int, len(strata)), nil
	}
	out, err := samplesize.Allocate(n, min(Floor, n/with), sizes)
	if err != nil {
		return nil, fmt.Errorf("share labels out: %w", err)
	}
	return out, nil
}

// Drawn is the chance that the labels which were drawn by lot had on average, and so
// what was not drawn had too; 0 where none was.
func (s Stratum) Drawn() float64 {
	n, weights := 0.0, 0.0
	for _, l := range s.Labels {
		if l.Chance < 1 {
			n, weights = n+float64(l.N), weights+float64(l.N)/l.Chance
		}
	}
	if n == 0 {
		return 0
	}
	return n / weights
}
