package classifier

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/internal/rank"
)

// MethodDeLong names the interval of an AUC in JSON.
const MethodDeLong = "delong"

// AUC is the area under the ROC curve: how often a bad item scores above a good
// one, ties as half (Hanley & McNeil 1982). SE and interval by DeLong, DeLong &
// Clarke-Pearson (1988), clipped to [0,1], computed from mid-ranks (Sun & Xu 2014).
// bad[i] is the reference for score[i]; higher scores mean worse. Undefined when
// only one class is there. No interval when a class has one item or the scores
// separate the classes altogether.
func AUC(bad []bool, score []float64, level float64) agreement.Estimate {
	p, reason := place(bad, score)
	if reason != "" {
		return undefined(len(bad), reason)
	}
	e := agreement.Estimate{Value: p.auc, N: len(bad)}
	v := p.covariance(p)
	switch {
	case !(level > 0 && level < 1):
		e.NoInterval = fmt.Sprintf("confidence level %v is not between 0 and 1", level)
	case len(p.bad) < 2 || len(p.good) < 2:
		e.NoInterval = "a class has one item only"
	case !(v > 0):
		e.NoInterval = "the scores leave no spread to make an interval from"
	default:
		e.SE = math.Sqrt(v)
		d := -distuv.UnitNormal.Quantile((1-level)/2) * e.SE
		e.Low, e.High, e.Method = max(0, e.Value-d), min(1, e.Value+d), MethodDeLong
	}
	return e
}

// Comparison is the difference of two areas on the same items.
type Comparison struct {
	First, Second agreement.Estimate
	Difference    agreement.Estimate // first minus second
	// Z and P (two-sided) test that it is 0; they mean nothing when NoTest
	// gives a reason.
	Z, P   float64
	NoTest string
}

// CompareAUC is DeLong's test for two scores on the same items (1988).
func CompareAUC(bad []bool, first, second []float64, level float64) Comparison {
	c := Comparison{First: AUC(bad, first, level), Second: AUC(bad, second, level)}
	a, reasonA := place(bad, first)
	b, reasonB := place(bad, second)
	if reason := reasonA + reasonB; reason != "" {
		if reasonA != "" {
			reason = reasonA
		}
		c.Difference, c.NoTest = undefined(len(bad), reason), reason
		return c
	}
	c.Difference = agreement.Estimate{Value: a.auc - b.auc, N: len(bad)}
	v := a.covariance(a) + b.covariance(b) - 2*a.covariance(b)
	switch {
	case !(level > 0 && level < 1):
		c.Difference.NoInterval = fmt.Sprintf("confidence level %v is not between 0 and 1", level)
	case len(a.bad) < 2 || len(a.good) < 2:
		c.Difference.NoInterval = "a class has one item only"
	case !(v > 1e-18):
		c.Difference.NoInterval = "the two scores order the items alike, so there is nothing to test"
	default:
		d := &c.Difference
		d.SE = math.Sqrt(v)
		half := -distuv.UnitNormal.Quantile((1-level)/2) * d.SE
		d.Low, d.High, d.Method = max(-1, d.Value-half), min(1, d.Value+half), MethodDeLong
		c.Z = d.Value / d.SE
		c.P = 2 * distuv.UnitNormal.Survival(math.Abs(c.Z))
	}
	c.NoTest = c.Difference.NoInterval
	return c
}

// placement holds for each bad item the share of good ones below it, and for each
// good item the share of bad ones above it, in the order of the items.
type placement struct {
	bad, good []float64
	auc       float64
}

func place(bad []bool, score []float64) (placement, string) {
	if reason := refuse(bad, score); reason != "" {
		return placement{}, reason
	}
	all := rank.Mean(score)
	var inBad, inGood []float64
	for i, b := range bad {
		if b {
			inBad = append(inBad, score[i])
		} else {
			inGood = append(inGood, score[i])
		}
	}
	m, n := float64(len(inBad)), float64(len(inGood))
	ownBad, ownGood := rank.Mean(inBad), rank.Mean(inGood)
	p := placement{bad: make([]float64, 0, len(inBad)), good: make([]float64, 0, len(inGood))}
	for i, b := range bad {
		if b {
			v := (all[i] - ownBad[len(p.bad)]) / n
			p.bad = append(p.bad, v)
			p.auc += v / m
		} else {
			p.good = append(p.good, 1-(all[i]-ownGood[len(p.good)])/m)
		}
	}
	return p, ""
}

// covariance of two areas on the same items.
func (p placement) covariance(o placement) float64 {
	part := func(a, b []float64) float64 {
		if len(a) < 2 {
			return 0
		}
		sum := 0.0
		for i := range a {
			sum += (a[i] - p.auc) * (b[i] - o.auc)
		}
		n := float64(len(a))
		return sum / (n - 1) / n
	}
	return part(p.bad, o.bad) + part(p.good, o.good)
}

func refuse(bad []bool, score []float64) string {
	if len(bad) != len(score) {
		return fmt.Sprintf("%d references and %d scores do not make pairs", len(bad), len(score))
	}
	positives := 0
	for i, b := range bad {
		if math.IsNaN(score[i]) || math.IsInf(score[i], 0) {
			return fmt.Sprintf("score %d is %v, which is not a number", i+1, score[i])
		}
		if b {
			positives++
		}
	}
	switch positives {
	case 0:
		return "people call no item bad, so there is nothing to tell apart"
	case len(bad):
		return "people call every item bad, so there is nothing to tell apart"
	}
	return ""
}
