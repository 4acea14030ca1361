package threshold

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/resample"
	"github.com/countersign/countersign/judge/calibration"
)

// DefaultReplicates is how often each half is drawn again.
const DefaultReplicates = resample.DefaultReplicates

// splitWords say how labels are split.
const splitWords = "by a hash of the trace's cluster: traces of one cluster are always in one half, and a trace stays in its half"

// methodNone names the bound where not one error was seen: as many as could hide
// behind none with the level's confidence (Clopper & Pearson 1934), for the labels'
// effective number.
const methodNone = "clopper_pearson_none_seen"

// Simulate works out what a band would cost and which would cost least. The error
// names what of the question or of a label cannot be; labels that are too few are no
// error but refused in the report.
func Simulate(labels []Label, a Ask) (Report, error) {
	r := Refuse("", len(labels), a)
	if err := check(labels, a); err != nil {
		return r, err
	}
	labels = slices.Clone(labels)
	slices.SortFunc(labels, compareLabels)
	ends := grid(a.Chosen.Low, a.Chosen.Pass, a.Now.Low, a.Now.Pass, a.Cut)
	var first, second []Label
	for _, l := range labels {
		if tuned(l.Cluster) {
			first = append(first, l)
		} else {
			second = append(second, l)
		}
	}
	tune, report := newHalf(first, a.Judged, ends), newHalf(second, a.Judged, ends)
	r.Tuning, r.Reporting = tune.Half, report.Half
	for _, h := range []half{tune, report} {
		if r.Refused = h.tooFew(); r.Refused != "" {
			r.Refused += fmt.Sprintf(". Tuning and reporting use a half of the labels each, by cluster: %d and %d", r.Tuning.N, r.Reporting.N)
			return r, nil
		}
	}
	atTune, _ := tune.adder().add(tune.units.Whole())
	low, pass, found := atTune.find(a)
	at := func(end float64) int { k, _ := slices.BinarySearch(ends, end); return k }
	asked := [][2]int{{at(a.Chosen.Low), at(a.Chosen.Pass)}, {at(a.Now.Low), at(a.Now.Pass)}, {at(a.Cut), at(a.Cut)}}
	if found {
		asked = append(asked, [2]int{low, pass})
	} else {
		r.NoBest = "no band keeps both limits on the labels that it is looked for on: allow more hours or more wrong passes"
	}
	outcomes, err := report.outcomes(a, ends, asked)
	if err != nil {
		return r, err
	}
	r.Chosen, r.Now, r.Alone = outcomes[0], outcomes[1], outcomes[2]
	if found {
		r.Best = &Recommended{Outcome: outcomes[3], TunedCost: atTune.cost(a, low, pass)}
		if err := tune.spread(a, ends, r.Best); err != nil {
			return r, err
		}
	}
	atReport, _ := report.adder().add(report.units.Whole())
	r.Curve = curve(a, ends, atTune, atReport)
	return r, nil
}

// Amounts that are asked with: whatever lies between them gives figures that a number
// holds. Minutes and evaluations a week are LeastAmount or more, costs also 0.
const (
	LeastAmount = 1e-6
	MostAmount  = 1e12
)

// Refuse is a report that says why there are no figures.
func Refuse(reason string, labels int, a Ask) Report {
	return Report{Refused: reason, Labels: labels, Curve: []Point{}, Level: a.Level, Replicates: cmp.Or(a.Replicates, DefaultReplicates), Seed: a.Seed, Step: Step, Split: splitWords}
}

// Limit sets the limits of the recommended band from hours of people in a week and wrong
// passes in 1,000; nil: none. It needs Minutes, and perWeek evaluations above 0.
func (a *Ask) Limit(perWeek float64, hours, misses *float64) {
	if hours != nil {
		share := *hours * 60 / a.Minutes / perWeek
		a.MaxPeople = &share
	}
	if misses != nil {
		share := *misses / 1000
		a.MaxMisses = &share
	}
}

func check(labels []Label, a Ask) error {
	for _, b := range []judge.Band{a.Chosen, a.Now, {Low: a.Cut, Pass: a.Cut}} {
		if !(0 <= b.Low && b.Low <= b.Pass && b.Pass <= 1) {
			return fmt.Errorf("a band from %v to %v cannot be: both lie between 0 and 1, the lower first", b.Low, b.Pass)
		}
	}
	for name, v := range map[string]float64{"a wrong pass": a.Costs.Miss, "a wrong fail": a.Costs.Alarm, "a person's minute": a.Costs.Minute} {
		if !(v >= 0 && v <= MostAmount) {
			return fmt.Errorf("the cost of %s is %v: it is 0 or more, and at most %v", name, v, MostAmount)
		}
	}
	for _, limit := range []*float64{a.MaxPeople, a.MaxMisses} {
		if limit != nil && (!(*limit >= 0) || math.IsInf(*limit, 0)) {
			return fmt.Errorf("a limit of %v cannot be: it is 0 or more", *limit)
		}
	}
	switch {
	case !(a.Minutes >= LeastAmount && a.Minutes <= MostAmount):
		return fmt.Errorf("an item takes %v minutes: it takes more than 0, and at most %v", a.Minutes, MostAmount)
	case !(a.Level > 0 && a.Level < 1):
		return fmt.Errorf("a level of %v is not between 0 and 1", a.Level)
	case a.Replicates < 0:
		return fmt.Errorf("%d replicates cannot be", a.Replicates)
	}
	for i, l := range labels {
		switch {
		case !l.Fixed && !(l.Score >= 0 && l.Score <= 1):
			return fmt.Errorf("label %d has a score of %v: it lies between 0 and 1", i+1, l.Score)
		case judge.KnownChance(l.Probability) == 0:
			return fmt.Errorf("label %d was drawn with probability %v: it must be at least %s and at most 1", i+1, l.Probability, judge.LeastChanceText)
		case l.Verdict < 0 || l.Verdict >= len(a.Judged) || a.Judged[l.Verdict] <= 0:
			return fmt.Errorf("label %d is of a verdict that no evaluation has", i+1)
		}
	}
	return nil
}

func compareLabels(a, b Label) int {
	return cmp.Or(cmp.Compare(a.Stratum, b.Stratum), cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Verdict, b.Verdict),
		cmp.Compare(a.Score, b.Score), cmp.Compare(a.Probability, b.Probability))
}

// tooFew says why a half can carry no figure.
func (h half) tooFew() string {
	if h.N < calibration.MinLabels {
		return fmt.Sprintf("not enough labels: a half has %d of at least %d", h.N, calibration.MinLabels)
	}
	if rarer := min(h.Good, h.Bad); rarer < calibration.MinRarerClass {
		return fmt.Sprintf("not enough labels of each kind: in a half people passed %d and failed %d, and each must be at least %d", h.Good, h.Bad, calibration.MinRarerClass)
	}
	if h.scored < calibration.MinLabels {
		return fmt.Sprintf("not enough scores: of the labels of a half %d have a score that a band decides by, of at least %d", h.scored, calibration.MinLabels)
	}
	there := make([]int, len(h.judged))
	for _, k := range h.kinds {
		there[k.verdict]++
	}
	for v, n := range h.judged {
		if n > 0 && there[v] == 0 {
			return "a half has no label at all of one of the judge's verdicts, so nothing can be said of that part of the work"
		}
	}
	return ""
}

// outcomes are bands given by their ends' places, with intervals from one bootstrap
// for all of them.
func (h half) outcomes(a Ask, ends []float64, bands [][2]int) ([]Outcome, error) {
	add := h.adder()
	values := make([][4][]float64, len(bands))
	whole, _ := add.add(h.units.Whole())
	out := make([]Outcome, len(bands))
	numbers := func(s sums, b [2]int) [4]float64 {
		return [4]float64{s.misses(b[1]), s.alarms(b[0]), s.people(b[0], b[1]), s.cost(a, b[0], b[1])}
	}
	at := make([][4]float64, len(bands))
	for i, b := range bands {
		at[i] = numbers(whole, b)
	}
	undefined, err := h.replicates(a, func(counts []int) bool {
		s, ok := add.add(counts)
		if !ok {
			return false
		}
		for i, b := range bands {
			for k, v := range numbers(s, b) {
				values[i][k] = append(values[i][k], v)
			}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	for i, b := range bands {
		e := [4]agreement.Estimate{}
		for k := range e {
			e[k] = percentile(at[i][k], values[i][k], h.N, undefined, a)
		}
		missed, alarmed := h.noneSeen(&e[0], a, func(k kind) bool { return k.bin > b[1] }), h.noneSeen(&e[1], a, func(k kind) bool { return k.bin <= b[0] })
		if e[3].HasInterval() {
			e[3].High += a.Costs.Miss*missed + a.Costs.Alarm*alarmed
		}
		out[i] = Outcome{Band: judge.Band{Low: ends[b[0]], Pass: ends[b[1]]}, Misses: e[0], Alarms: e[1], People: e[2], Cost: e[3]}
	}
	return out, nil
}

// spread adds how far the recommended band hangs on which labels there happen to be.
func (h half) spread(a Ask, ends []float64, best *Recommended) error {
	add := h.adder()
	var lows, passes []float64
	undefined, err := h.replicates(a, func(counts []int) bool {
		s, ok := add.add(counts)
		if !ok {
			return false
		}
		low, pass, ok := s.find(a)
		if ok {
			lows, passes = append(lows, ends[low]), append(passes, ends[pass])
		}
		return ok
	})
	best.Low, best.Pass = percentile(best.Band.Low, lows, h.N, undefined, a), percentile(best.Band.Pass, passes, h.N, undefined, a)
	return err
}

// replicates gives fn the counts of each replicate and says how many had no value.
func (h half) replicates(a Ask, fn func(counts []int) bool) (undefined int, err error) {

	n := cmp.Or(a.Replicates, DefaultReplicates)
	seen := 0
	_, err = resample.Percentile(h.units, func(counts []int) (float64, bool) {
		if seen++; seen > n {
			return 0, true // the data themselves, which come after the replicates
		}
		ok := fn(counts)
		if !ok {
			undefined++
		}
		return 0, ok
	}, resample.Plan{Level: a.Level, Replicates: n, Seed: a.Seed})
	return undefined, err
}

// percentile is a figure with its interval between quantiles of the replicates.
func percentile(value float64, values []float64, n, undefined int, a Ask) agreement.Estimate {
	e := agreement.Estimate{Value: value, N: n}
	total := len(values) + undefined
	switch {
	case len(values) < 2:
		e.NoInterval = "too few replicates have a value"
	case 20*undefined > total:
		e.NoInterval = fmt.Sprintf("%d of %d replicates were undefined, too many for an interval", undefined, total)
	}
	if e.NoInterval != "" {
		return e
	}
	slices.Sort(values)
	mean, square := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		square += (v - mean) * (v - mean)
	}
	e.SE = math.Sqrt(square / float64(len(values)-1))
	e.Low, e.High = resample.Quantile(values, (1-a.Level)/2), resample.Quantile(values, (1+a.Level)/2)
	e.Method = resample.MethodPercentile
	return e
}

// noneSeen puts a bound where not one error was seen among the labels that the band
// decides so, which no bootstrap can: it gives how much could hide.
func (h half) noneSeen(e *agreement.Estimate, a Ask, decided func(kind) bool) float64 {
	if e.Value > 0 || !e.HasInterval() {
		return 0
	}
	whole := h.units.Whole()
	weights := make([]float64, len(h.judged))
	all := 0.0
	for i, k := range h.kinds {
		weights[k.verdict] += float64(whole[i]) * k.weight
	}
	for _, n := range h.judged {
		all += float64(n)
	}
	sum, squares, n := 0.0, 0.0, 0
	for i, k := range h.kinds {
		if k.bin >= 0 && decided(k) {
			w := k.weight * float64(h.judged[k.verdict]) / weights[k.verdict] / all
			sum, squares, n = sum+float64(whole[i])*w, squares+float64(whole[i])*w*w, n+whole[i]
		}
	}
	if n == 0 { // the band decides nothing so: there is nothing to err in
		return 0
	}
	effective := min(sum*sum/squares, float64(h.Clusters))
	e.High, e.Method = sum*(1-math.Pow((1-a.Level)/2, 1/effective)), methodNone
	return e.High
}
