package rate

import (
	"fmt"
	"math"

	"github.com/countersign/countersign/judge/agreement"
)

// Corrected is a rate after Rogan & Gladen.
type Corrected struct {
	// Raw is (p + specificity - 1)/(sensitivity + specificity - 1), which may
	// lie outside [0,1]; Value is Raw, clipped. Clipped says that it was: show
	// that, because the labels and the verdicts then contradict each other.
	Raw, Value float64
	Clipped    bool
	Undefined  string
}

// RoganGladen corrects the share of flagged items for the judge's errors (Rogan &
// Gladen 1978). Undefined unless sensitivity + specificity is above 1, and for a
// share outside [0,1].
func RoganGladen(flagged, sensitivity, specificity float64) Corrected {
	if !share(flagged) || !share(sensitivity) || !share(specificity) {
		return Corrected{Undefined: fmt.Sprintf("flagged %v, sensitivity %v and specificity %v are not all between 0 and 1", flagged, sensitivity, specificity)}
	}
	power := sensitivity + specificity - 1
	if !(power > 1e-12) {
		return Corrected{Undefined: noBetterThanChance}
	}
	c := Corrected{Raw: (flagged + specificity - 1) / power}
	c.Value = max(0, min(1, c.Raw))
	c.Clipped = c.Value != c.Raw
	return c
}

// Calibration is how the judge did on items of known human label.
type Calibration struct {
	Sensitivity, Specificity float64
	Positives, Negatives     int // items that people call bad, and good
}

// CorrectedRate is a rate after Rogan & Gladen with its interval.
type CorrectedRate struct {
	// Estimate has the plain value, clipped to [0,1], and the interval of Lang &
	// Reiczigel, whose SE it is. The interval is around Adjusted + Shift.
	agreement.Estimate
	Clipped         bool
	Adjusted, Shift float64
}

// LangReiczigel gives the interval of a Rogan-Gladen rate that accounts for the
// calibration sample (Lang & Reiczigel 2014): all three shares are drawn towards
// the middle (p by z²/2 of z², the others by 1 of 2), and the centre is shifted. n
// is the number of items judged, flagged the share among them. Undefined as
// RoganGladen is, and when n or a calibration count is not above 0.
func LangReiczigel(flagged float64, n int, c Calibration, level float64) CorrectedRate {
	plain := RoganGladen(flagged, c.Sensitivity, c.Specificity)
	out := CorrectedRate{Estimate: agreement.Estimate{N: n}, Clipped: plain.Clipped}
	switch {
	case n <= 0 || c.Positives <= 0 || c.Negatives <= 0:
		out.Undefined = fmt.Sprintf("%d items judged, %d bad and %d good in the calibration: each must be above 0", n, c.Positives, c.Negatives)
		return out
	case plain.Undefined != "":
		out.Undefined = plain.Undefined
		return out
	}
	out.Value = plain.Value
	if bad := badLevel(level); bad != "" {
		out.NoInterval = bad
		return out
	}
	zz := z(level) * z(level)
	N, m1, m0 := float64(n), float64(c.Positives)+2, float64(c.Negatives)+2
	p := (N*flagged + zz/2) / (N + zz)
	se := (float64(c.Positives)*c.Sensitivity + 1) / m1
	sp := (float64(c.Negatives)*c.Specificity + 1) / m0
	power := se + sp - 1
	if !(power > 1e-12) {
		out.NoInterval = noBetterThanChance
		return out
	}
	th := (p + sp - 1) / power
	out.Adjusted = th
	vse, vsp := se*(1-se)/m1, sp*(1-sp)/m0
	out.Shift = 2 * zz * (th*vse - (1-th)*vsp)
	out.SE = math.Sqrt(p*(1-p)/(N+zz)+th*th*vse+(1-th)*(1-th)*vsp) / power
	mid, half := th+out.Shift, z(level)*out.SE
	out.Low, out.High, out.Method = max(0, mid-half), min(1, mid+half), MethodLangReiczigel
	return out
}
