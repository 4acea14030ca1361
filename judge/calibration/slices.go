package calibration

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
)

// MinSlice is the number of labels under which a slice has no kappa.
const MinSlice = judge.LeastSliceLabels

// Slice is the agreement on the labels that share a domain, stakes or a reason.
// Several slices are looked at at once, so their intervals are wider: at the level
// ConfLevel = 1 - 0.05/k for k slices of the dimension that have labels enough
// (Bonferroni). Kappa is null under MinSlice labels.
type Slice struct {
	Dimension string             `json:"dimension"`
	Value     string             `json:"value"`
	N         int                `json:"n"`
	ConfLevel float64            `json:"conf_level"`
	Agreement agreement.Estimate `json:"agreement"`
	Kappa     agreement.Kappa    `json:"cohen_kappa"`
}

// Moment is the agreement on the labels of the 13 weeks up to a Monday (UTC). Kappa
// is null where there are too few labels for one.
type Moment struct {
	Until time.Time       `json:"until"`
	N     int             `json:"n"`
	Kappa agreement.Kappa `json:"cohen_kappa"`
}

// Band is a tenth of the judge's score: what share of its labels people passed.
type Band struct {
	From   float64            `json:"score_from"`
	To     float64            `json:"score_to"`
	N      int                `json:"n"`
	Passed agreement.Estimate `json:"people_passed"`
}

// windowWeeks is how far a Moment looks back, mostMoments how many there are at
// most: with more, every second Monday is left out, and so on.
const (
	windowWeeks = 13
	mostMoments = 60
)

// weekZero is the Monday that week 0 begins with.
var weekZero = time.Date(1969, 12, 29, 0, 0, 0, 0, time.UTC)

func (s scale) pairings(cells []Cell) (out []pairing) {
	for _, c := range cells {
		out = append(out, pairing{s.read(c.Human), s.read(c.Judge), c.N})
	}
	return out
}

// compareOn brings pairs to the scale of the headline, so that figures beside each
// other are of one kind.
func (s scale) compareOn(name string, pairs []pairing) (comparison, error) {
	if name == ScaleVerdicts {
		s.labels = nil
	}
	return s.compare(pairs)
}

// slices gives those of domain, stakes and reason, the largest first.
func (s scale) slices(all []SliceCount, on string) ([]Slice, error) {
	out := []Slice{}
	for _, dimension := range []string{ByDomain, ByStakes, ByReason} {
		var found []comparison
		var values []string
		enough := 0
		for _, c := range all {
			if c.Dimension != dimension {
				continue
			}
			one, err := s.compareOn(on, s.pairings(c.Cells))
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", dimension, c.Value, err)
			}
			if one.n == 0 {
				continue
			}
			if one.n >= MinSlice {
				enough++
			}
			found, values = append(found, one), append(values, c.Value)
		}
		var part []Slice
		for i, one := range found {
			level := 1 - (1-Level)/float64(max(1, enough))
			v := Slice{Dimension: dimension, Value: values[i], N: one.n, ConfLevel: level,
				Agreement: agreement.Agreement(one.matrix, level),
				Kappa:     agreement.CohenKappa(one.matrix, agreement.Identity(len(one.labels)), level)}
			if one.n < MinSlice {
				v.Kappa = withoutKappa(one.n, fmt.Sprintf("not enough labels: %d of at least %d", one.n, MinSlice))
			}
			part = append(part, v)
		}
		slices.SortStableFunc(part, func(a, b Slice) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Value, b.Value)) })
		out = append(out, part...)
	}
	return out, nil
}

func withoutKappa(n int, reason string) agreement.Kappa {
	var k agreement.Kappa
	k.Estimate = agreement.Estimate{N: n, Undefined: reason}
	return k
}

// moments are the Mondays after weeks with labels, the earliest first.
func (s scale) moments(all []SliceCount, on string) ([]Moment, error) {
	weeks := map[int][]Cell{}
	var order []int
	for _, c := range all {
		if c.Dimension != ByWeek {
			continue
		}
		week, err := strconv.Atoi(c.Value)
		if err != nil {
			return nil, fmt.Errorf("week %q is not a number", c.Value)
		}
		if weeks[week] == nil {
			order = append(order, week)
		}
		weeks[week] = append(weeks[week], c.Cells...)
	}
	slices.Sort(order)
	step := (len(order) + mostMoments - 1) / mostMoments
	out := []Moment{}
	for i, week := range order {
		if (len(order)-1-i)%max(1, step) != 0 {
			continue
		}
		var window []Cell
		for _, w := range order[:i+1] {
			if w > week-windowWeeks {
				window = append(window, weeks[w]...)
			}
		}
		one, err := s.compareOn(on, s.pairings(window))
		if err != nil {
			return nil, fmt.Errorf("week %d: %w", week, err)
		}
		m := Moment{Until: weekZero.AddDate(0, 0, 7*(week+1)), N: one.n, Kappa: one.judgeKappa(agreement.Identity(len(one.labels)))}
		if few := one.tooFew(); few != "" {
			m.Kappa = withoutKappa(one.n, few)
		}
		out = append(out, m)
	}
	return out, nil
}

// bands are the tenths of the score that have labels, the lowest first. A verdict
// of borderline counts as not passed.
func (s scale) bands(all []SliceCount) ([]Band, error) {
	out := []Band{}
	for _, c := range all {
		if c.Dimension != ByBand {
			continue
		}
		tenth, err := strconv.Atoi(c.Value)
		if err != nil || tenth < 0 || tenth > 9 {
			return nil, fmt.Errorf("score band %q is not one of 0 to 9", c.Value)
		}
		n, passed := 0, 0
		for _, p := range s.pairings(c.Cells) {
			if p.first.abstained || p.first.verdict == "" {
				continue
			}
			n += p.n
			if p.first.verdict == verdictScale[placePass] {
				passed += p.n
			}
		}
		if n > 0 {
			out = append(out, Band{From: float64(tenth) / 10, To: float64(tenth+1) / 10, N: n, Passed: agreement.Proportion(passed, n, Level)})
		}
	}
	slices.SortFunc(out, func(a, b Band) int { return cmp.Compare(a.From, b.From) })
	return out, nil
}
