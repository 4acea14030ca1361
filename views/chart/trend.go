package chart

import (
	"fmt"
	"math"
	"strings"
)

// Trend is a measure over time with its interval as a band, on a scale from 0 to 1.
type Trend struct {
	ID   string // unique on the page; names title and description
	Name string // for instance "Kappa of larch-2 over time"
	// Points are in the order of time.
	Points []Moment
	// Changes are moments after which other things are measured, by their place.
	Changes []Change
}

// Moment is one point. A nil Value is a gap: there was too little to measure.
type Moment struct {
	At               float64 // 0 is the first, 1 the last
	When             string  // as people read it
	Value, Low, High *float64
	N                int
}

// Change is a line down the drawing, with a letter that the page explains.
type Change struct {
	At     float64
	Letter string
}

// The drawing: room for letters above and for days below.
const (
	trendTop    = 18.0
	trendHeight = 160.0
	trendRoom   = 202
)

func (t Trend) y(v float64) float64 { return trendTop + trendHeight*(1-min(1, max(0, v))) }

func (t Trend) across(at float64) float64 {
	if len(t.Points) < 2 {
		return 50
	}
	return 8 + 88*min(1, max(0, at))
}

// stretches are the runs of points without a gap.
func (t Trend) stretches() (all [][]Moment) {
	var run []Moment
	for _, p := range t.Points {
		if p.Value != nil {
			run = append(run, p)
			continue
		}
		if len(run) > 0 {
			all, run = append(all, run), nil
		}
	}
	if len(run) > 0 {
		all = append(all, run)
	}
	return all
}

// line is a run as points of a drawing of 100 by 100.
func (t Trend) line(run []Moment) string {
	var points []string
	for _, p := range run {
		points = append(points, two(t.across(p.At))+","+two(100*(t.y(*p.Value)-trendTop)/trendHeight))
	}
	return strings.Join(points, " ")
}

// band is the outline of a run's intervals, empty where one of them is missing.
func (t Trend) band(run []Moment) string {
	var over, under []string
	for _, p := range run {
		if p.Low == nil || p.High == nil {
			return ""
		}
		x := two(t.across(p.At))
		over = append(over, x+","+two(100*(t.y(*p.High)-trendTop)/trendHeight))
		under = append([]string{x + "," + two(100*(t.y(*p.Low)-trendTop)/trendHeight)}, under...)
	}
	return strings.Join(append(over, under...), " ")
}

// describe says the chart in a sentence.
func (t Trend) describe() string {
	low, high, n := math.Inf(1), math.Inf(-1), 0
	var last Moment
	for _, p := range t.Points {
		if p.Value != nil {
			low, high, last, n = min(low, *p.Value), max(high, *p.Value), p, n+1
		}
	}
	if n == 0 {
		return "There is no point with labels enough."
	}
	s := fmt.Sprintf("%d points from %s to %s, between %s and %s; the last is %s", n, t.Points[0].When, t.Points[len(t.Points)-1].When, two(low), two(high), two(*last.Value))
	if last.Low != nil && last.High != nil {
		s += fmt.Sprintf(" (%s to %s)", two(*last.Low), two(*last.High))
	}
	return s + "."
}
