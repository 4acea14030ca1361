package web

import (
	"math"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge/agreement"
)

// TestDecimal: a number has one way to be read, or none.
func TestDecimal(t *testing.T) {
	for text, want := range map[string]float64{"1.5": 1.5, " 1000 ": 1000, ".5": 0.5, "2.": 2, "-3": -3, "1e3": 1000} {
		if v, err := decimal(text); err != nil || v != want {
			t.Errorf("%q is %v, %v", text, v, err)
		}
	}
	for _, text := range []string{"1,5", "1,000", "1_000", "0x1p3", "NaN", "Inf", "1e999", "", ".", "1 000", "--1"} {
		if v, err := decimal(text); err == nil {
			t.Errorf("%q is read as %v", text, v)
		}
	}
}

// TestNumbersOfAnySize: no number that a sum can come to stops a page.
func TestNumbersOfAnySize(t *testing.T) {
	for v, want := range map[float64]string{1234567: "1,234,567", -1234: "-1,234", 999.6: "1,000", -999: "-999", 0: "0", math.Inf(1): "not known", math.Inf(-1): "not known", 1e300: "1e+300"} {
		if got := moneyText(v); got != want {
			t.Errorf("money %v is %q, want %q", v, got, want)
		}
	}
	if got := moneyText(math.NaN()); got != "not known" {
		t.Errorf("money NaN is %q", got)
	}
	if got := amountText(math.NaN()); got != "not known" {
		t.Errorf("an amount NaN is %q", got)
	}
	if got := thousands(math.MinInt); got != "-9,223,372,036,854,775,808" {
		t.Errorf("the lowest number is %q", got)
	}
}

// TestReckonedNumbersAreRounded: what comes of a division does not show its floating point.
func TestReckonedNumbersAreRounded(t *testing.T) {
	for v, want := range map[float64]string{1.0 / 3: "0.333 h", 0: "0 h", 2.5: "2.5 h", 40: "40 h", 1250: "1,250 h", 0.0012345: "0.00123 h"} {
		if got := hoursShort(v); got != want {
			t.Errorf("%v is %q, want %q", v, got, want)
		}
	}
	if got := spanText(agreement.Estimate{Value: 0.2, Low: 0.17, High: 0.5309999999999991}); got != "0.17–0.531" {
		t.Errorf("a span is %q", got)
	}
}

// TestPlanThatDoesNotNarrow: more labels that weigh unequally can widen kappa's interval,
// and that is not called narrowing.
func TestPlanThatDoesNotNarrow(t *testing.T) {
	at := func(half float64) agreement.Estimate {
		return agreement.Estimate{Value: 0.5, Low: 0.5 - half, High: 0.5 + half}
	}
	for after, want := range map[float64]string{0.16: "not narrow it (± 0.15 now, ± 0.16 after)", 0.149: "not narrow it (± 0.15 now", 0.1: "narrow it from ± 0.15 to ± 0.10"} {
		if got := kappaPlanned(at(0.15), at(after)); !strings.Contains(got, "would "+want) {
			t.Errorf("from 0.15 to %v: %s", after, got)
		}
	}
}
