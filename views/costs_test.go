package views

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
)

// A cost says whether a model was asked at all, whether its price is known, and
// what it came to: three things that are all zero dollars or look alike.
func TestCostsAreTold(t *testing.T) {
	for name, c := range map[string]struct {
		usd              float64
		unpriced, tokens int64
		want             string
	}{
		"rules or recorded": {0, 0, 0, "no model asked"}, "no price": {0, 3, 500, "no price known"}, "a price of nothing": {0, 0, 500, "none"},
		"a price": {1.5, 0, 500, "$1.50"}, "some without a price": {1.5, 1, 500, "$1.50 and more"},
	} {
		if got := costOf(c.usd, c.unpriced, c.tokens); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := costLine(HealthSum{Evaluations: 50, CostUSD: 0.5}); !strings.HasPrefix(got, "$0.01") {
		t.Errorf("an evaluation of fifty for $0.50: %q", got)
	}
	few := RunMoney{Rows: []RunCost{{TooFew: true}}}
	if got := spent(few); got == noModel {
		t.Errorf("that no model was asked is said of %q, which is not told", got)
	}
}

// What a page says of an outcome is its status, and a report that no repair made
// valid is not a judge that failed.
func TestFaultsHaveTheirName(t *testing.T) {
	if got := faultTitle([]judge.Reason{{Code: judge.ReasonRequested}, {Code: judge.ReasonInvalidOutput}}); got != "No valid report" {
		t.Errorf("an invalid report is titled %q", got)
	}
	if got := faultTitle([]judge.Reason{{Code: judge.ReasonJudgeFailed}}); got != "The judge failed" {
		t.Errorf("a judge that failed is titled %q", got)
	}
}
