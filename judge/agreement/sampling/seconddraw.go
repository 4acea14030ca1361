package sampling

import (
	"fmt"
	"math"
	"strconv"
)

// Class are items of a frame that had the same chance of being drawn before, and were
// not. Before lies in [0,1): 0 where they had none, or where nobody knows.
type Class struct {
	Size   int
	Before float64
}

// SecondDraw is a draw from what an earlier one left, and what it makes of all weights.
//
// Two estimates of a total are there after it, each without bias: the earlier labels
// by their weights w; and the earlier ones as themselves beside the new ones, which
// stand for the frame that they were drawn from. They are uncorrelated, because the
// second has the true total as its mean whatever was drawn before. Their mean, weighted
// by Earlier and 1-Earlier, has no bias either: an earlier label gets the weight
// Earlier*w + 1-Earlier, a new one (1-Earlier) * size / drawn (Hartley 1962 for two
// frames). Earlier is that of least variance. Where all had one chance p, both weights
// are one over 1-(1-p)(1-q), the single-frame estimator of Kalton & Anderson (1986);
// but no chance of what was never drawn need be known exactly, so items near a
// boundary, which had a greater one, stay right.
//
// What had no chance before is a class of its own: the earlier labels say nothing of
// it, so its new labels stand for it alone.
type SecondDraw struct {
	// Earlier in [0,1] is the share that the estimate of the earlier labels has.
	Earlier float64
	// Known and New are how many to draw of what had a chance before and of what had
	// none; Chance is what each of the drawn then counts by.
	Known, New Part
}

// Part is what is drawn of one class: N of Size, each to count one over Chance.
type Part struct {
	N, Size int
	Chance  float64
}

// PlanSecondDraw says how n items are drawn from a frame. It draws all of a smaller one.
// The error names a class that cannot be.
func PlanSecondDraw(frame []Class, n int) (SecondDraw, error) {
	var d SecondDraw
	spread := 0.0 // of the earlier labels' estimate, in units of the items' variance
	for i, c := range frame {
		if c.Size < 0 || !(c.Before >= 0 && c.Before < 1) {
			return d, fmt.Errorf("second draw: class %d has %d items that had a chance of %v", i+1, c.Size, c.Before)
		}
		if c.Before == 0 {
			d.New.Size += c.Size
			continue
		}
		d.Known.Size += c.Size
		spread += float64(c.Size) / c.Before
	}
	size := d.Known.Size + d.New.Size
	if n < 0 {
		return d, fmt.Errorf("second draw: %d of %d items cannot be drawn", n, size)
	}
	if n = min(n, size); n == 0 {
		return d, nil
	}
	d.New.N = min(d.New.Size, int(math.Round(float64(n)*float64(d.New.Size)/float64(size))))
	if d.New.Size > 0 && n > 1 {
		d.New.N = max(1, d.New.N)
	}
	if d.Known.Size > 0 && d.New.N == n && n > 1 {
		d.New.N--
	}
	if d.Known.N = min(n-d.New.N, d.Known.Size); d.Known.N+d.New.N < n {
		d.New.N = n - d.Known.N
	}
	if d.Known.N > 0 {
		of, drawn := float64(d.Known.Size), float64(d.Known.N)
		own := of * (of - drawn) / drawn
		d.Earlier = own / (own + spread)
		d.Known.Chance = sane(drawn / ((1 - d.Earlier) * of))
	}
	if d.New.N > 0 {
		d.New.Chance = sane(float64(d.New.N) / float64(d.New.Size))
	}
	if d.Known.N == 0 && d.Known.Size > 0 {
		d.Earlier = 1 // nothing new stands for it
	}
	return d, nil
}

// LaterChance is the chance that a label counts by after later draws, each given by
// its Earlier, in their order: p in (0,1] before them. 0, not known, stays so.
func LaterChance(p float64, earlier ...float64) float64 {
	if !(p > 0) || p >= 1 || len(earlier) == 0 {
		return p
	}
	w := 1 / p
	for _, share := range earlier {
		w = share*w + 1 - share
	}
	return sane(1 / w)
}

// sane drops the last digits of a chance: two ways of working it out give one number,
// so that labels of one chance are one stratum.
func sane(p float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(p, 'g', 12, 64), 64)
	if err != nil {
		return p
	}
	return min(1, v)
}
