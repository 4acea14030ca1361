package chart_test

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign/countersign/views/chart"
	"github.com/countersign/countersign/views/htmlcheck"
)

func TestLine(t *testing.T) {
	whole := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) + "%" }
	for _, tt := range []struct {
		name   string
		l      chart.Line
		checks []htmlcheck.Check
	}{
		{"a gap, two measures", chart.Line{ID: "a", Name: "Latency", X: []float64{0, 0.25, 0.5, 1}, First: "1 July", Last: "9 July", Write: whole,
			Series: []chart.Series{{Name: "median", Values: []*float64{ptr(10), ptr(30), nil, ptr(20)}}, {Name: "slowest", Values: []*float64{ptr(40), nil, ptr(35), ptr(30)}}}}, []htmlcheck.Check{
			htmlcheck.In("svg", htmlcheck.Attr("aria-labelledby", "a-t a-d"), htmlcheck.Attr("role", "img")),
			htmlcheck.In("desc", htmlcheck.Text("From 1 July to 9 July. median between 10% and 30%, last 20%. slowest between 30% and 40%, last 30%.")),
			// The scale ends at 50, the next of 1, 2 and 5: 10 lies at a fifth of 84 from below.
			htmlcheck.Count("polyline", 2), htmlcheck.In("polyline", htmlcheck.Attr("points", "4.00,67.20 27.00,33.60")),
			htmlcheck.In("polyline.pencil", htmlcheck.Attr("points", "50.00,25.20 96.00,33.60")),
			htmlcheck.Count("circle", 6), htmlcheck.Count("circle.hollow", 3), htmlcheck.In("circle", htmlcheck.Attr("cx", "4.00%"), htmlcheck.Attr("cy", "83.20")),
			htmlcheck.Count("line.grid", 3),
		}},
		{"one day", chart.Line{ID: "a", Name: "Cost", X: []float64{0}, First: "1 July", Last: "1 July", Write: whole, Series: []chart.Series{{Values: []*float64{ptr(0)}}}}, []htmlcheck.Check{
			htmlcheck.None("polyline"), htmlcheck.In("circle", htmlcheck.Attr("cx", "50.00%"), htmlcheck.Attr("cy", "100.00")),
			htmlcheck.In("desc", htmlcheck.Contains("Cost between 0% and 0%")),
		}},
		{"no half of one", chart.Line{ID: "a", Name: "Tokens", X: []float64{0}, First: "1 July", Last: "1 July",
			Write:  func(f float64) string { return strconv.FormatFloat(f, 'f', 0, 64) },
			Series: []chart.Series{{Values: []*float64{ptr(1)}}}}, []htmlcheck.Check{htmlcheck.Count("line.grid", 2)}},
		{"nothing", chart.Line{ID: "a", Name: "Cost", First: "1 July", Last: "9 July", Write: whole, Series: []chart.Series{{}}}, []htmlcheck.Check{
			htmlcheck.None("circle"), htmlcheck.In("desc", htmlcheck.Contains("Cost: nothing to show.")),
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := tt.l.Draw().Render(context.Background(), &b); err != nil {
				t.Fatal(err)
			}
			doc, err := htmlcheck.Parse(strings.NewReader(b.String()))
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range tt.checks {
				if err := htmlcheck.Run(doc, c); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
