// Package chart draws small charts as SVG on the server. Geometry is in
// attributes, never in styles; each chart has a title and a description, and
// stands beside the same numbers as text. It computes positions and nothing
// else: no statistic is made here.
package chart

import (
	"fmt"
	"strconv"
)

// Whisker is a value with its interval on a scale from Min to Max.
type Whisker struct {
	ID             string  // unique on the page; names title and description
	Name           string  // of the thing measured
	Measure        string  // for instance "kappa"
	Value          float64 // in [Min, Max]; what lies outside is drawn at the edge
	Low, High      float64 // the interval; equal to Value when there is none
	Interval       bool    // whether Low and High mean something
	Min, Max, Step float64 // the scale and its grid; Step > 0
	Counted        bool    // false draws it in pencil: shown, not counted
}

// Agreement is the usual scale of kappa here, 0 to 1. Values below 0 are drawn
// at the left edge and said in the description.
func Agreement(id, name, measure string, value float64, low, high *float64, counted bool) Whisker {
	w := Whisker{ID: id, Name: name, Measure: measure, Value: value, Min: 0, Max: 1, Step: 0.2, Counted: counted}
	if low != nil && high != nil {
		w.Low, w.High, w.Interval = *low, *high, true
	}
	return w
}

// at is the place of v as a percentage across, with a margin of 1% each side.
func (w Whisker) at(v float64) string {
	share := 0.0
	if w.Max > w.Min {
		share = (v - w.Min) / (w.Max - w.Min)
	}
	return strconv.FormatFloat(1+98*min(1, max(0, share)), 'f', 2, 64) + "%"
}

// grid is the list of places of the grid.
func (w Whisker) grid() []float64 {
	if w.Step <= 0 || w.Max <= w.Min {
		return nil
	}
	var at []float64
	for i := 0; ; i++ {
		v := w.Min + float64(i)*w.Step
		if v > w.Max+w.Step/1000 || i > 100 {
			return at
		}
		at = append(at, v)
	}
}

// anchor keeps the labels at both ends inside the drawing.
func (w Whisker) anchor(i, n int) string {
	switch i {
	case 0:
		return "start"
	case n - 1:
		return "end"
	}
	return "middle"
}

func two(f float64) string { return strconv.FormatFloat(f, 'f', 2, 64) }
func one(f float64) string { return strconv.FormatFloat(f, 'f', 1, 64) }

// describe says the chart in a sentence.
func (w Whisker) describe() string {
	s := fmt.Sprintf("%s %s on a scale from %s to %s", w.Measure, two(w.Value), one(w.Min), one(w.Max))
	if w.Interval {
		s += fmt.Sprintf("; 95%% interval %s to %s", two(w.Low), two(w.High))
	}
	if !w.Counted {
		s += "; shown, not counted"
	}
	return s
}
