package agreement_test

import (
	"testing"

	"github.com/countersign/countersign/judge/agreement"
)

var five = [][]int{{30, 3, 3, 2, 3}, {5, 48, 5, 4, 4}, {5, 3, 40, 2, 1}, {8, 6, 8, 45, 2}, {2, 5, 7, 8, 51}}

func BenchmarkCohenKappa(b *testing.B) {
	m, w := matrix(b, five), agreement.Quadratic(5)
	for b.Loop() {
		agreement.CohenKappa(m, w, 0.95)
	}
}

func BenchmarkGwetAC(b *testing.B) {
	m, w := matrix(b, five), agreement.Quadratic(5)
	for b.Loop() {
		agreement.GwetAC(m, w, 0.95)
	}
}

func BenchmarkClopperPearsonMillion(b *testing.B) {
	for b.Loop() {
		if _, err := agreement.ClopperPearson(900_000, 1_000_000, 0.95); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkKrippendorffAlpha(b *testing.B) {
	counts := make([][]int, 10_000)
	for i := range counts {
		counts[i] = make([]int, 5)
		counts[i][i%5]++
		counts[i][i%3]++
		counts[i][i%4]++
	}
	it, err := agreement.NewItems(numbered(5), counts)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		agreement.KrippendorffAlpha(it, agreement.MetricOrdinal, nil)
	}
}
