package agreement

import (
	"fmt"

	"gonum.org/v1/gonum/stat/distuv"
)

// Band is a step of a scale of words for a coefficient, bounds included.
type Band struct {
	Word      string
	Low, High float64
}

// LandisKoch are the words of Landis & Koch (1977), best first. Their authors
// call the bounds arbitrary; show them, if at all, by Membership.
func LandisKoch() []Band {
	return []Band{
		{"almost perfect", 0.8, 1}, {"substantial", 0.6, 0.8}, {"moderate", 0.4, 0.6},
		{"fair", 0.2, 0.4}, {"slight", 0, 0.2}, {"poor", -1, 0},
	}
}

// Membership is how probable it is that the true coefficient lies in each band
// or a better one (bands from the best down), for a normal estimate cut off at -1
// and 1 (Gwet 2014). The band to name is the first whose probability reaches
// 0.95. The error names what does not fit: value outside [-1,1], se not above 0,
// bands that do not follow each other downwards.
func Membership(value, se float64, bands []Band) ([]float64, error) {
	if !(value >= -1 && value <= 1) {
		return nil, fmt.Errorf("membership in bands: a coefficient of %v is not between -1 and 1", value)
	}
	if !(se > 0) || se > 1e6 {
		return nil, fmt.Errorf("membership in bands: a standard error of %v gives no probability", se)
	}
	above := func(bound float64) float64 { return distuv.UnitNormal.CDF((value - bound) / se) }
	all := above(-1) - above(1)
	out := make([]float64, len(bands))
	sum := 0.0
	for i, b := range bands {
		if !(b.Low < b.High) || (i > 0 && b.High > bands[i-1].Low) {
			return nil, fmt.Errorf("membership in bands: band %d (%v to %v) does not lie below the one before it", i+1, b.Low, b.High)
		}
		sum += (above(b.Low) - above(b.High)) / all
		out[i] = sum
	}
	return out, nil
}
