package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Line is one or two measures over time, drawn from 0 up.
type Line struct {
	ID   string // unique on the page; names title and description
	Name string // what is measured, for instance "Invalid reports"
	// X are the places in time of the values, from 0 (the first) to 1 (the last);
	// First and Last name both ends.
	X           []float64
	First, Last string
	// Series have a value, or none (nil), for each place. The first is drawn in
	// ink, the second in pencil.
	Series []Series
	// Write writes a value with its unit, as people read it.
	Write func(float64) string
}

// Series is one measure.
type Series struct {
	Name   string
	Values []*float64
}

// The drawing: room for the numbers above, for the days below.
const (
	lineTop    = 16.0
	lineHeight = 84.0
	lineRoom   = 122
)

// top is the end of the scale: the next 1, 2 or 5 of a power of ten.
func (l Line) top() float64 {
	most := 0.0
	for _, s := range l.Series {
		for _, v := range s.Values {
			if v != nil && !math.IsInf(*v, 0) && *v > most {
				most = *v
			}
		}
	}
	if most <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(most)))
	for _, n := range []float64{1, 2, 5, 10} {
		if n*unit >= most*(1-1e-9) {
			return n * unit
		}
	}
	return 10 * unit
}

// grid are the values of the lines across, the lowest first. The middle one is
// left out where it reads like another: there is no half token.
func (l Line) grid() []float64 {
	t := l.top()
	if half := l.Write(t / 2); half == l.Write(t) || half == l.Write(0) {
		return []float64{0, t}
	}
	return []float64{0, t / 2, t}
}

func (l Line) y(v float64) float64 {
	return lineTop + lineHeight*(1-min(1, max(0, v/l.top())))
}

// across is a place in time in per cent of the width; one alone stands in the
// middle.
func (l Line) across(i int) float64 {
	if len(l.X) < 2 {
		return 50
	}
	return 4 + 92*l.X[i]
}

func (l Line) cx(i int) string { return two(l.across(i)) + "%" }

// strokes are the points of each stretch without a gap, in a drawing of 100 by
// lineHeight.
func (l Line) strokes(s Series) []string {
	var all []string
	var points []string
	end := func() {
		if len(points) > 1 {
			all = append(all, strings.Join(points, " "))
		}
		points = nil
	}
	for i, v := range s.Values {
		if v == nil {
			end()
			continue
		}
		points = append(points, two(l.across(i))+","+two(l.y(*v)-lineTop))
	}
	end()
	return all
}

func lineViewBox() string { return "0 0 100 " + strconv.FormatFloat(lineHeight, 'f', 0, 64) }

// describe says the chart in a sentence for each measure.
func (l Line) describe() string {
	var parts []string
	for _, s := range l.Series {
		low, high, last, n := math.Inf(1), math.Inf(-1), 0.0, 0
		for _, v := range s.Values {
			if v != nil {
				low, high, last, n = min(low, *v), max(high, *v), *v, n+1
			}
		}
		name := s.Name
		if name == "" {
			name = l.Name
		}
		if n == 0 {
			parts = append(parts, name+": nothing to show.")
			continue
		}
		parts = append(parts, fmt.Sprintf("%s between %s and %s, last %s.", name, l.Write(low), l.Write(high), l.Write(last)))
	}
	return "From " + l.First + " to " + l.Last + ". " + strings.Join(parts, " ")
}
