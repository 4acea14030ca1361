package sampling

import (
	"fmt"
	"math"

	"github.com/countersign/countersign/judge/agreement"
)

// Reviewed counts the items of one verdict: what people said of those reviewed,
// and how many were not.
type Reviewed struct {
	Bad, Good  int
	Unreviewed int
}

func (r Reviewed) all() int      { return r.Bad + r.Good + r.Unreviewed }
func (r Reviewed) reviewed() int { return r.Bad + r.Good }

// Unbiased are figures of all items, corrected for which ones were reviewed, with
// those of the reviewed ones alone for comparison.
type Unbiased struct {
	Sensitivity, Specificity, PPV, NPV, Prevalence agreement.Estimate
	// Naive figures are those of the reviewed items: wrong wherever review
	// follows the verdict.
	NaiveSensitivity, NaiveSpecificity agreement.Estimate
	// LogitSE are the standard errors of sensitivity and specificity on the
	// logit scale, 0 where there is no interval.
	SensitivityLogitSE, SpecificityLogitSE float64
	// MissedAtMost is the upper Clopper-Pearson bound of the share of bad items
	// among passed ones, and SensitivityAtLeast the sensitivity if it were true:
	// what to show when no miss was found. Undefined where no passed item was
	// reviewed or nothing flagged was bad.
	MissedAtMost, SensitivityAtLeast agreement.Estimate
}

// BeggGreenes corrects sensitivity and specificity for verification bias (Begg &
// Greenes 1983): with d the share of bad items among those reviewed of a verdict
// and T all items of it, sensitivity = T1 d1/(T1 d1 + T0 d0). Intervals on the logit
// scale from the delta method. Review must be at random within each verdict. A
// verdict that occurs and was never reviewed makes everything undefined: it could
// hide anything.
func BeggGreenes(flagged, passed Reviewed, level float64) Unbiased {
	n := flagged.reviewed() + passed.reviewed()
	var u Unbiased
	refuse := func(reason string) Unbiased {
		e := undefined(n, reason)
		return Unbiased{Sensitivity: e, Specificity: e, PPV: e, NPV: e, Prevalence: e,
			NaiveSensitivity: e, NaiveSpecificity: e, MissedAtMost: e, SensitivityAtLeast: e}
	}
	for _, v := range []struct {
		name string
		Reviewed
	}{{"flagged", flagged}, {"passed", passed}} {
		if v.Bad < 0 || v.Good < 0 || v.Unreviewed < 0 {
			return refuse(fmt.Sprintf("a count of %s items is negative", v.name))
		}
		if v.all() > 0 && v.reviewed() == 0 {
			return refuse(fmt.Sprintf("no %s item was reviewed, so nothing is known of %d items", v.name, v.all()))
		}
	}
	if n == 0 {
		return refuse("no item was reviewed")
	}
	u.PPV, u.NPV = undefined(0, "the judge flagged nothing"), undefined(0, "the judge flagged everything")
	if flagged.reviewed() > 0 {
		u.PPV = agreement.Proportion(flagged.Bad, flagged.reviewed(), level)
	}
	if passed.reviewed() > 0 {
		u.NPV = agreement.Proportion(passed.Good, passed.reviewed(), level)
	}
	naive := func(x, of int, none string) agreement.Estimate {
		if of == 0 {
			return undefined(0, none)
		}
		return agreement.Proportion(x, of, level)
	}
	u.NaiveSensitivity = naive(flagged.Bad, flagged.Bad+passed.Bad, "no reviewed item is bad")
	u.NaiveSpecificity = naive(passed.Good, flagged.Good+passed.Good, "no reviewed item is good")

	t1, t0 := float64(flagged.all()), float64(passed.all())
	d1, d0 := 0.0, 0.0
	if flagged.reviewed() > 0 {
		d1 = float64(flagged.Bad) / float64(flagged.reviewed())
	}
	if passed.reviewed() > 0 {
		d0 = float64(passed.Bad) / float64(passed.reviewed())
	}
	bad, good := t1*d1+t0*d0, t1*(1-d1)+t0*(1-d0)
	u.Prevalence = bare(bad/(t1+t0), n)
	verdicts := 1/t1 + 1/t0 // of log(T1/T0)
	u.Sensitivity, u.SensitivityLogitSE = corrected(t1*d1, bad, "no bad item was found",
		verdicts+relative(flagged.Bad, flagged.reviewed())+relative(passed.Bad, passed.reviewed()), level, n)
	u.Specificity, u.SpecificityLogitSE = corrected(t0*(1-d0), good, "no good item was found",
		verdicts+relative(flagged.Good, flagged.reviewed())+relative(passed.Good, passed.reviewed()), level, n)
	u.MissedAtMost = undefined(0, "no passed item was reviewed")
	u.SensitivityAtLeast = u.MissedAtMost
	if ci, err := agreement.ClopperPearson(passed.Bad, passed.reviewed(), level); err == nil {
		// Unreviewed items carry what the review did not see.
		u.MissedAtMost = bare(ci.High, passed.reviewed())
		u.SensitivityAtLeast = undefined(n, "nothing flagged is bad")
		if d1 > 0 {
			u.SensitivityAtLeast = bare(t1*d1/(t1*d1+t0*ci.High), n)
		}
	}
	return u
}

// corrected is hit/all with the interval of Begg & Greenes. The logit of
// sensitivity is log(T1/T0) + log d1 - log d0, and that of specificity log(T0/T1) +
// log(1-d0) - log(1-d1); its variance is handed in.
func corrected(hit, all float64, none string, variance, level float64, n int) (agreement.Estimate, float64) {
	if all == 0 {
		return undefined(n, none), 0
	}
	e := agreement.Estimate{Value: hit / all, N: n}
	switch {
	case !(level > 0 && level < 1):
		e.NoInterval = fmt.Sprintf("confidence level %v is not between 0 and 1", level)
		return e, 0
	case e.Value <= 0 || e.Value >= 1:
		e.NoInterval = "no error of one kind was found, which gives no standard error: look at the bound instead"
		return e, 0
	}
	se := math.Sqrt(variance)
	mid := math.Log(e.Value / (1 - e.Value))
	e.SE = se * e.Value * (1 - e.Value)
	e.Low, e.High, e.Method = logistic(mid-z(level)*se), logistic(mid+z(level)*se), MethodLogit
	return e, se
}

// relative is the variance of log(x/m) for x of m.
func relative(x, m int) float64 { return float64(m-x) / (float64(x) * float64(m)) }

// Table is the weighted matrix of the same counts, label 0 bad: each reviewed item
// of a verdict stands for all items of that verdict over those reviewed. The error
// names a verdict that occurs and was never reviewed.
func (u Verdicts) Table() (Table, error) {
	t := Table{labels: []string{"bad", "good"}, cells: [][]float64{{0, 0}, {0, 0}}}
	for j, v := range []Reviewed{u.Flagged, u.Passed} {
		if v.Bad < 0 || v.Good < 0 || v.Unreviewed < 0 {
			return Table{}, fmt.Errorf("a count of verdict %d is negative", j+1)
		}
		m := v.reviewed()
		if m == 0 {
			if v.Unreviewed > 0 {
				return Table{}, fmt.Errorf("none of %d items of one verdict was reviewed, so no weight can stand for them", v.Unreviewed)
			}
			continue
		}
		w := float64(v.all()) / float64(m)
		t.cells[0][j], t.cells[1][j] = w*float64(v.Bad), w*float64(v.Good)
		t.n += m
		t.sum += w * float64(m)
		t.square += w * w * float64(m)
	}
	return t, nil
}

// Verdicts are all items by verdict.
type Verdicts struct{ Flagged, Passed Reviewed }

// Weights are those that Table gives to reviewed items, flagged ones first; 0 for a
// verdict without review.
func (u Verdicts) Weights() (flagged, passed float64) {
	w := func(r Reviewed) float64 {
		if r.reviewed() == 0 {
			return 0
		}
		return float64(r.all()) / float64(r.reviewed())
	}
	return w(u.Flagged), w(u.Passed)
}
