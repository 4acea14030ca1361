package threshold

import (
	"math"
	"slices"

	"github.com/countersign/countersign/judge"
)

// Step is how fine a band is looked for.
const Step = 0.01

// slack is that of judge.Band: a score this little below an end counts as on it.
const slack = 1e-9

// grid are the ends that bands may have: each hundredth, and those asked for.
func grid(asked ...float64) []float64 {
	var ends []float64
	for k := range 101 {
		ends = append(ends, float64(k)/100)
	}
	ends = append(ends, asked...)
	slices.Sort(ends)
	return slices.Compact(ends)
}

// bin is how many ends a score has reached.
func bin(ends []float64, score float64) int {
	at, _ := slices.BinarySearchFunc(ends, score+slack, func(end, s float64) int {
		if end <= s {
			return -1
		}
		return 1
	})
	return at
}

// sums are weights of the labels, as shares of all, added up over the scale: good[k]
// and bad[k] are those that people passed and failed with a score below end k.
type sums struct {
	good, bad []float64
	allBad    float64
}

func (s sums) misses(pass int) float64 { return rounded(s.allBad - s.bad[pass]) }
func (s sums) alarms(low int) float64  { return s.good[low] }
func (s sums) people(low, pass int) float64 {
	return rounded(s.good[pass] + s.bad[pass] - s.good[low] - s.bad[low])
}

// rounded takes from a difference of sums what is left by rounding alone.
func rounded(share float64) float64 {
	if share < 1e-12 {
		return 0
	}
	return share
}

// errors is what the mistakes of one evaluation cost, cost with people's time.
func (s sums) errors(c Costs, low, pass int) float64 {
	return c.Miss*s.misses(pass) + c.Alarm*s.alarms(low)
}

func (s sums) cost(a Ask, low, pass int) float64 {
	return s.errors(a.Costs, low, pass) + a.Costs.Minute*a.Minutes*s.people(low, pass)
}

// cheapest is the band of least cost within the limits; of equals the one that asks
// people least, then the lower ends. ok is false where none keeps them.
func (s sums) cheapest(a Ask) (low, pass int, ok bool) {
	best, fewest := math.Inf(1), math.Inf(1)
	n := len(s.good)
	for hi := range n {
		if a.MaxMisses != nil && s.misses(hi) > *a.MaxMisses+slack {
			continue
		}
		for lo := 0; lo <= hi; lo++ {
			people := s.people(lo, hi)
			if a.MaxPeople != nil && people > *a.MaxPeople+slack {
				continue
			}
			cost := s.cost(a, lo, hi)
			if cost < best-1e-12 || cost < best+1e-12 && people < fewest-1e-12 {
				best, fewest, low, pass, ok = cost, people, lo, hi, true
			}
		}
	}
	return low, pass, ok
}

// fastest is cheapest where there are no limits, in one walk: a band's cost is a part
// that hangs on where passing begins and a part that hangs on where failing ends.
func (s sums) fastest(a Ask) (low, pass int, ok bool) {
	minute := a.Costs.Minute * a.Minutes
	best, bestLow, at := math.Inf(1), math.Inf(1), 0
	for hi := range s.good {
		all := s.good[hi] + s.bad[hi]
		if below := a.Costs.Alarm*s.good[hi] - minute*all; below <= bestLow+1e-12 {
			bestLow, at = min(below, bestLow), hi
		}
		if cost := a.Costs.Miss*s.misses(hi) + minute*all + bestLow; cost < best-1e-12 {
			best, low, pass = cost, at, hi
		}
	}
	return low, pass, true
}

func (s sums) find(a Ask) (low, pass int, ok bool) {
	if a.MaxMisses == nil && a.MaxPeople == nil {
		return s.fastest(a)
	}
	return s.cheapest(a)
}

// points is how many places of the curve are looked for.
const points = 24

// curve is, for each amount of people's work, the band of least cost of errors by
// tune, with its numbers by report.
func curve(a Ask, ends []float64, tune, report sums) []Point {
	type pair struct{ low, pass int }
	whole := tune.people(0, len(ends)-1)
	best, errors := make([]pair, points+1), make([]float64, points+1)
	for i := range best {
		best[i], errors[i] = pair{-1, -1}, math.Inf(1)
	}
	for hi := range ends {
		for lo := 0; lo <= hi; lo++ {
			at := 0
			if whole > 0 {
				at = int(math.Ceil(tune.people(lo, hi)/whole*points - slack))
			}
			if e := tune.errors(a.Costs, lo, hi); e < errors[max(0, at)]-1e-12 {
				errors[max(0, at)], best[max(0, at)] = e, pair{lo, hi}
			}
		}
	}
	out := []Point{}
	least := math.Inf(1)
	for i, b := range best {
		// More work of people that saves nothing is no choice.
		if b.low < 0 || errors[i] >= least-1e-12 {
			continue
		}
		least = errors[i]
		out = append(out, Point{Band: judge.Band{Low: ends[b.low], Pass: ends[b.pass]}, People: report.people(b.low, b.pass),
			Misses: report.misses(b.pass), Alarms: report.alarms(b.low), Errors: report.errors(a.Costs, b.low, b.pass), Cost: report.cost(a, b.low, b.pass)})
	}
	slices.SortStableFunc(out, func(x, y Point) int {
		switch {
		case x.People < y.People:
			return -1
		case x.People > y.People:
			return 1
		}
		return 0
	})
	return out
}
