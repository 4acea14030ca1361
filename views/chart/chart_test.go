package chart_test

import (
	"context"
	"strings"
	"testing"

	"github.com/countersign/countersign/views/chart"
	"github.com/countersign/countersign/views/htmlcheck"
)

func ptr(f float64) *float64 { return &f }

func TestWhisker(t *testing.T) {
	for _, tt := range []struct {
		name   string
		w      chart.Whisker
		checks []htmlcheck.Check
	}{
		{"with interval", chart.Agreement("k", "citations", "kappa", 0.72, ptr(0.64), ptr(0.80), true), []htmlcheck.Check{
			htmlcheck.In("svg", htmlcheck.Attr("aria-labelledby", "k-t k-d"), htmlcheck.Attr("role", "img")),
			htmlcheck.In("title#k-t", htmlcheck.Text("citations")),
			htmlcheck.In("desc#k-d", htmlcheck.Text("kappa 0.72 on a scale from 0.0 to 1.0; 95% interval 0.64 to 0.80")),
			htmlcheck.Count("line.grid", 6),
			htmlcheck.In("line.ci", htmlcheck.Attr("x1", "63.72%"), htmlcheck.Attr("x2", "79.40%")), // 1 + 98*0.64, 1 + 98*0.80
			htmlcheck.In("circle.dot", htmlcheck.Attr("cx", "71.56%")),
			htmlcheck.None(".graphite"), htmlcheck.None(".hollow"),
		}},
		{"without interval, not counted", chart.Agreement("k", "x", "kappa", 0.5, nil, nil, false), []htmlcheck.Check{
			htmlcheck.None("line.ci"), htmlcheck.Count("svg.graphite", 1), htmlcheck.Count("circle.hollow", 1),
			htmlcheck.In("desc", htmlcheck.Contains("shown, not counted")),
		}},
		{"below the scale", chart.Agreement("k", "x", "kappa", -0.3, ptr(-0.5), ptr(0.1), true), []htmlcheck.Check{
			htmlcheck.In("circle", htmlcheck.Attr("cx", "1.00%")),
			htmlcheck.In("desc", htmlcheck.Contains("kappa -0.30")),
		}},
		{"no scale", chart.Whisker{ID: "k"}, []htmlcheck.Check{htmlcheck.None("line"), htmlcheck.In("circle", htmlcheck.Attr("cx", "1.00%"))}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var b strings.Builder
			if err := tt.w.Draw().Render(context.Background(), &b); err != nil {
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

func TestShare(t *testing.T) {
	for _, tt := range []struct {
		part, whole int
		want        string
	}{{14, 46, "30.4%"}, {46, 46, "100.0%"}, {50, 46, "100.0%"}, {0, 46, ""}, {3, 0, ""}} {
		if got := chart.Share(tt.part, tt.whole); got != tt.want {
			t.Errorf("Share(%d, %d) = %q, want %q", tt.part, tt.whole, got, tt.want)
		}
	}
}
