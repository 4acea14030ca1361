package chart

import (
	"fmt"
	"math"
	"strings"
)

// Curve is one measure against another, both from 0 up: cost against hours.
type Curve struct {
	ID   string // unique on the page; names title and description
	Name string
	// Across and Up name the measures, with their units.
	Across, Up string
	// Points are in the order of X.
	Points []CurvePoint
	// Marks are places that have a letter, which the page explains.
	Marks []CurveMark
	// WriteX and WriteY write values as people read them.
	WriteX, WriteY func(float64) string
}

// CurvePoint is a place on the curve; What says it in the table.
type CurvePoint struct {
	X, Y float64
	What string
}

// CurveMark is a place of its own, on the curve or off it.
type CurveMark struct {
	X, Y         float64
	Letter, What string
}

// The drawing: room for the name above, for the scale below.
const (
	curveTop    = 30.0
	curveHeight = 190.0
	curveRoom   = 262
)

func (c Curve) tops() (x, y float64) {
	for _, p := range c.Points {
		x, y = max(x, p.X), max(y, p.Y)
	}
	for _, m := range c.Marks {
		x, y = max(x, m.X), max(y, m.Y)
	}
	return roundUp(x), roundUp(y)
}

// roundUp is the next 1, 2, 3, 4, 5, 6 or 8 of a power of ten.
func roundUp(most float64) float64 {
	if !(most > 0) || math.IsInf(most, 0) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(most)))
	for _, n := range []float64{1, 2, 3, 4, 5, 6, 8} {
		if n*unit >= most*(1-1e-9) {
			return n * unit
		}
	}
	return 10 * unit
}

func (c Curve) across(x float64) float64 {
	top, _ := c.tops()
	return 8 + 88*min(1, max(0, x/top))
}

func (c Curve) y(v float64) float64 {
	_, top := c.tops()
	return curveTop + curveHeight*(1-min(1, max(0, v/top)))
}

func (c Curve) gridX() []float64 {
	top, _ := c.tops()
	return []float64{0, top / 2, top}
}

func (c Curve) gridY() []float64 {
	_, top := c.tops()
	return []float64{0, top / 2, top}
}

func (c Curve) cx(x float64) string { return two(c.across(x)) + "%" }

// anchor keeps numbers at both ends inside the drawing.
func (c Curve) anchor(x float64) string {
	switch at := c.across(x); {
	case at < 12:
		return "start"
	case at > 90:
		return "end"
	}
	return "middle"
}

// points are those of the line, in a drawing of 100 by 100.
func (c Curve) points() string {
	var all []string
	for _, p := range c.Points {
		all = append(all, two(c.across(p.X))+","+two(100*(c.y(p.Y)-curveTop)/curveHeight))
	}
	return strings.Join(all, " ")
}

// letterY keeps the letters of marks apart that lie in one place.
func (c Curve) letterY(i int) string {
	at := c.y(c.Marks[i].Y) - 9
	for _, m := range c.Marks[:i] {
		if math.Abs(c.across(m.X)-c.across(c.Marks[i].X)) < 2.5 && math.Abs(c.y(m.Y)-c.y(c.Marks[i].Y)) < 14 {
			at -= 13
		}
	}
	return two(max(11, at))
}

// describe says the chart in a sentence.
func (c Curve) describe() string {
	if len(c.Points) == 0 {
		return "There is no point to draw."
	}
	first, last := c.Points[0], c.Points[len(c.Points)-1]
	s := fmt.Sprintf("%s against %s: from %s at %s to %s at %s.", c.Up, strings.ToLower(c.Across), c.WriteY(first.Y), c.WriteX(first.X), c.WriteY(last.Y), c.WriteX(last.X))
	for _, m := range c.Marks {
		s += fmt.Sprintf(" %s: %s, %s at %s.", m.Letter, m.What, c.WriteY(m.Y), c.WriteX(m.X))
	}
	return s
}
