package resample

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/countersign/countersign/judge/agreement"
)

// Ways an interval is made, as they stand in JSON.
const (
	MethodPercentile = "bootstrap_percentile"
	MethodBCa        = "bootstrap_bca"
)

// DefaultReplicates is the number of replicates where a plan names none.
const DefaultReplicates = 2000

// maxUndefined is the share of undefined replicates above which an interval would
// describe another population than the data.
const maxUndefined = 0.05

// Plan is what an interval needs beside the data, and what to keep with the figure
// so that anyone can compute it again.
type Plan struct {
	Level      float64
	Replicates int // 0 means DefaultReplicates
	Seed       uint64
}

// Result is a figure with a bootstrap interval. SE is the standard deviation of the
// replicates, N the number of units.
type Result struct {
	agreement.Estimate
	// Replicates were drawn and UndefinedReplicates had no value; over 5% of
	// them, the interval is withheld.
	Replicates, UndefinedReplicates int
	Clusters                        int
	Seed                            uint64
	// Values are those of the defined replicates, in rising order.
	Values []float64
}

// Percentile is the interval between quantiles (type 7) of the replicates (Efron
// 1979). Undefined where the statistic is; the error says what does not fit.
func Percentile(u Units, f Statistic, p Plan) (Result, error) { return bootstrap(u, f, p, false) }

// BCa is the interval that corrects bias and skewness (Efron 1987), with the
// acceleration of the jackknife over clusters. Ties with the figure itself count
// half for the bias. It is withheld where either cannot be computed.
func BCa(u Units, f Statistic, p Plan) (Result, error) { return bootstrap(u, f, p, true) }

func bootstrap(u Units, f Statistic, p Plan, corrected bool) (Result, error) {
	s, err := u.strata()
	if err != nil {
		return Result{}, err
	}
	if p.Replicates == 0 {
		p.Replicates = DefaultReplicates
	}
	if p.Replicates < 0 || !(p.Level > 0 && p.Level < 1) {
		return Result{}, fmt.Errorf("resample: %d replicates at level %v cannot be", p.Replicates, p.Level)
	}
	values := make([]float64, 0, p.Replicates)
	counts := make([]int, u.Kinds)
	draw := func(r int) []int {
		clear(counts)
		s.draw(rand.NewPCG(p.Seed, uint64(r)), counts)
		return counts
	}
	for r := range p.Replicates {
		if v, ok := f(draw(r)); ok {
			values = append(values, v)
		}
	}
	out := s.result(u, f, values, p.Replicates, p.Level, corrected)
	out.Seed = p.Seed
	return out, nil
}

// Replay makes the percentile interval from draws made elsewhere, each a list of
// unit indices. Clusters and strata are the drawer's affair.
func Replay(u Units, f Statistic, draws [][]int, level float64) (Result, error) {
	s, err := u.strata()
	if err != nil {
		return Result{}, err
	}
	if u.Counts != nil {
		return Result{}, fmt.Errorf("resample: draws of single units need the kind of each unit")
	}
	if !(level > 0 && level < 1) {
		return Result{}, fmt.Errorf("resample: a level of %v is not between 0 and 1", level)
	}
	var values []float64
	for r, draw := range draws {
		counts := make([]int, u.Kinds)
		for _, i := range draw {
			if i < 0 || i >= len(u.Kind) {
				return Result{}, fmt.Errorf("resample: draw %d has unit %d of %d", r+1, i, len(u.Kind))
			}
			counts[u.Kind[i]]++
		}
		if v, ok := f(counts); ok {
			values = append(values, v)
		}
	}
	return s.result(u, f, values, len(draws), level, false), nil
}

func (s strata) result(u Units, f Statistic, values []float64, replicates int, level float64, corrected bool) Result {
	out := Result{Estimate: agreement.Estimate{N: u.n()}, Clusters: s.clusters,
		Replicates: replicates, UndefinedReplicates: replicates - len(values)}
	whole := u.Whole()
	v, ok := f(whole)
	if !ok {
		out.Undefined = "the figure is undefined on the data themselves"
		return out
	}
	out.Value = v
	slices.Sort(values)
	out.Values = values
	switch {
	case s.clusters < 2:
		out.NoInterval = "one item or cluster gives no interval"
	case replicates < 2 || len(values) < 2:
		out.NoInterval = "too few replicates have a value"
	case float64(out.UndefinedReplicates) > maxUndefined*float64(replicates):
		out.NoInterval = fmt.Sprintf("%d of %d replicates were undefined, too many for an interval", out.UndefinedReplicates, replicates)
	case values[0] == values[len(values)-1]:
		out.NoInterval = "all replicates are the same, so there is no spread to make an interval from"
	}
	if out.NoInterval != "" {
		return out
	}
	low, high := (1-level)/2, (1+level)/2
	out.Method = MethodPercentile
	if corrected {
		var reason string
		low, high, reason = s.accelerated(u, f, whole, v, values, level)
		if reason != "" {
			out.Method, out.NoInterval = "", reason
			return out
		}
		out.Method = MethodBCa
	}
	out.SE = stat.StdDev(values, nil)
	out.Low, out.High = Quantile(values, low), Quantile(values, high)
	return out
}

// accelerated gives the probabilities whose quantiles bound the BCa interval.
func (s strata) accelerated(u Units, f Statistic, whole []int, v float64, values []float64, level float64) (low, high float64, reason string) {
	below := 0.0
	for _, x := range values {
		switch {
		case x < v:
			below++
		case x == v:
			below += 0.5
		}
	}
	share := below / float64(len(values))
	if share == 0 || share == 1 {
		return 0, 0, "all replicates lie on one side of the figure, so the bias cannot be corrected"
	}
	left, reason := s.leaveOneOut(f, whole)
	if reason != "" {
		return 0, 0, reason
	}
	n, mean := 0.0, 0.0
	for _, l := range left {
		n += l.times
		mean += l.times * l.value
	}
	mean /= n
	square, cube := 0.0, 0.0
	for _, l := range left {
		d := mean - l.value
		square += l.times * d * d
		cube += l.times * d * d * d
	}
	if square == 0 {
		return 0, 0, "no single item or cluster changes the figure, so skewness cannot be corrected"
	}
	a := cube / (6 * math.Pow(square, 1.5))
	z0 := distuv.UnitNormal.Quantile(share)
	adjust := func(p float64) float64 {
		z := z0 + distuv.UnitNormal.Quantile(p)
		return distuv.UnitNormal.CDF(z0 + z/(1-a*z))
	}
	return adjust((1 - level) / 2), adjust((1 + level) / 2), ""
}

// Quantile of values in rising order, p in [0,1], is of type 7 (Hyndman & Fan 1996):
// linear between order statistics.
func Quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	lo := max(0, min(len(sorted)-1, int(at)))
	hi := min(len(sorted)-1, lo+1)
	return sorted[lo] + (at-float64(lo))*(sorted[hi]-sorted[lo])
}
