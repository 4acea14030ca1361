package chart

import (
	"bytes"
	"context"
	"strings"
	"testing"
)

func TestTrend(t *testing.T) {
	v := func(f float64) *float64 { return &f }
	full := func(at float64, when string, value, low, high float64) Moment {
		return Moment{At: at, When: when, Value: v(value), Low: v(low), High: v(high), N: 60}
	}
	for _, tt := range []struct {
		name            string
		trend           Trend
		contains, lacks []string
	}{
		{"nothing", Trend{Points: []Moment{{When: "2 Mar", N: 3}}}, []string{"no point with labels enough", ">none<"}, []string{"<circle", "<polyline", "NaN"}},
		{"one", Trend{Points: []Moment{full(0, "2 Mar", .6, .5, .7)}}, []string{`cx="50.00%"`, "the last is 0.60 (0.50 to 0.70)"}, []string{"<polyline", "<polygon"}},
		{"two and a change", Trend{Points: []Moment{full(0, "2 Mar", .6, .5, .7), full(1, "9 Mar", -.1, -.3, .1)}, Changes: []Change{{At: .5, Letter: "A"}}},
			[]string{"<polyline", "<polygon", `cx="96.00%" cy="178.00"`, ">A<", "between -0.10 and 0.60"}, nil},
		{"a gap", Trend{Points: []Moment{full(0, "2 Mar", .6, .5, .7), {At: .5, When: "9 Mar"}, full(1, "16 Mar", .7, .6, .8)}}, []string{"2 points from 2 Mar to 16 Mar"}, []string{"<polyline"}},
		{"no interval", Trend{Points: []Moment{{When: "a", Value: v(0), N: 60}, {At: 1, When: "b", Value: v(0), N: 60}}}, []string{"hollow", "<polyline"}, []string{"<polygon"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out bytes.Buffer
			if err := tt.trend.Draw().Render(context.Background(), &out); err != nil {
				t.Fatal(err)
			}
			if err := tt.trend.Table("Kappa").Render(context.Background(), &out); err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.contains {
				if !strings.Contains(out.String(), want) {
					t.Errorf("lacks %q in %s", want, out.String())
				}
			}
			for _, bad := range tt.lacks {
				if strings.Contains(out.String(), bad) {
					t.Errorf("has %q", bad)
				}
			}
		})
	}
}
