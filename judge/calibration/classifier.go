package calibration

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/classifier"
)

// classify measures the judge as a detector of what people fail. A borderline
// verdict of a person counts on neither side; the judge flags what it fails.
func classify(pairs []pairing) (classifier.Metrics, error) {
	var c classifier.Counts
	for _, p := range pairs {
		if p.first.abstained || p.second.abstained || p.second.verdict == "" {
			continue
		}
		flags := p.second.verdict == verdictScale[placeFail]
		switch p.first.verdict {
		case verdictScale[placeFail]:
			if flags {
				c.TruePositive += p.n
			} else {
				c.FalseNegative += p.n
			}
		case verdictScale[placePass]:
			if flags {
				c.FalsePositive += p.n
			} else {
				c.TrueNegative += p.n
			}
		}
	}
	return c.Measure(Level)
}

// MethodNormalDifference names the interval of a difference of two independent
// estimates: value ± z times the root of the sum of squared standard errors.
const MethodNormalDifference = "normal_independent"

// SeenMinusBlind is how much more people agree with the judge when its verdict is
// on the screen: anchoring, where the interval lies above 0. The two sets of labels
// are different items.
type SeenMinusBlind struct {
	// Scale is that of both: labels, or verdicts where one side has verdicts only.
	Scale      string                `json:"scale"`
	Agreement  *agreement.Difference `json:"agreement"` // Newcombe's interval
	CohenKappa agreement.Estimate    `json:"cohen_kappa"`
	Reason     string                `json:"undefined,omitempty"`
}

// seenMinusBlind compares on the scale of both, or on verdicts where they differ.
func (s scale) seenMinusBlind(visible, headline []pairing) (SeenMinusBlind, error) {
	seen, err := s.compare(visible)
	if err != nil {
		return SeenMinusBlind{}, err
	}
	blind, err := s.compareOn(seen.scale, headline)
	if err != nil {
		return SeenMinusBlind{}, err
	}
	if seen.scale != blind.scale {
		if seen, err = s.compareOn(blind.scale, visible); err != nil {
			return SeenMinusBlind{}, err
		}
	}
	return difference(seen.block(), blind.block()), nil
}

func difference(seen, blind Block) SeenMinusBlind {
	d := SeenMinusBlind{Scale: seen.Scale}
	n := seen.N + blind.N
	refuse := func(reason string) SeenMinusBlind {
		d.Reason, d.CohenKappa = reason, agreement.Estimate{N: n, Undefined: reason}
		return d
	}
	if seen.N == 0 || blind.N == 0 {
		return refuse("one of the two has no labels")
	}
	hits := func(b Block) int { return int(math.Round(b.Agreement.Value * float64(b.N))) }
	diff, err := agreement.TwoProportions(hits(seen), seen.N, hits(blind), blind.N, Level)
	if err != nil {
		return refuse(err.Error())
	}
	d.Agreement = &diff
	a, b := seen.CohenKappa.Estimate, blind.CohenKappa.Estimate
	switch {
	case !a.Defined():
		d.CohenKappa = agreement.Estimate{N: n, Undefined: a.Undefined}
	case !b.Defined():
		d.CohenKappa = agreement.Estimate{N: n, Undefined: b.Undefined}
	case !a.HasInterval() || !b.HasInterval() || a.SE+b.SE == 0:
		d.CohenKappa = agreement.Estimate{N: n, Value: a.Value - b.Value, NoInterval: "one of the two has no standard error"}
	default:
		e := agreement.Estimate{N: n, Value: a.Value - b.Value, SE: math.Hypot(a.SE, b.SE), Method: MethodNormalDifference}
		half := distuv.UnitNormal.Quantile((1+Level)/2) * e.SE
		e.Low, e.High = max(-2, e.Value-half), min(2, e.Value+half)
		d.CohenKappa = e
	}
	return d
}
