package agreement_test

import (
	"math/rand/v2"
	"testing"

	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/agreement/resample"
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

// A million labels of two raters, counted: under 50 ms.
func BenchmarkKappaOfAMillionLabels(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 6))
	counts := make([][]int, 5)
	for i := range counts {
		counts[i] = make([]int, 5)
	}
	for range 1_000_000 {
		x := r.IntN(5)
		y := x
		if r.IntN(3) == 0 {
			y = r.IntN(5)
		}
		counts[x][y]++
	}
	for b.Loop() {
		m, err := agreement.NewConfusion(numbered(5), counts)
		if err != nil {
			b.Fatal(err)
		}
		if k := agreement.CohenKappa(m, agreement.Identity(5), 0.95); !k.HasInterval() {
			b.Fatal(k.NoInterval)
		}
	}
}

// hundredThousand are ratings of 100,000 items by 5 raters, one in ten missing.
func hundredThousand() []int32 {
	r := rand.New(rand.NewPCG(1, 6))
	codes := make([]int32, 500_000)
	for i := range codes {
		switch {
		case r.IntN(10) == 0:
			codes[i] = -1
		case r.IntN(3) == 0:
			codes[i] = int32(r.IntN(5))
		default:
			codes[i] = int32(i / 5 % 5)
		}
	}
	return codes
}

// From ratings to alpha over 100,000 units by 5 raters: under 300 ms.
func BenchmarkAlphaOfAHundredThousandUnits(b *testing.B) {
	codes := hundredThousand()
	for b.Loop() {
		r, err := agreement.CodedRatings(numbered(5), 5, codes)
		if err != nil {
			b.Fatal(err)
		}
		if a := agreement.KrippendorffAlpha(r.Items(), agreement.MetricOrdinal, nil); !a.Defined() {
			b.Fatal(a.Undefined)
		}
	}
}

// tenThousand are pairs of labels in clusters of four.
func tenThousand(b *testing.B) resample.Units {
	b.Helper()
	r := rand.New(rand.NewPCG(1, 6))
	x, y := pairsOf(r, 10_000, 5)
	u, err := resample.Pairs(5, x, y)
	if err != nil {
		b.Fatal(err)
	}
	return u
}

// 2,000 bootstrap replicates of 10,000 items: under 2 s, with the jackknife of BCa.
func BenchmarkBootstrapOfTenThousandItems(b *testing.B) {
	u := tenThousand(b)
	for b.Loop() {
		r, err := resample.BCa(u, resample.Kappa(numbered(5), agreement.Quadratic(5)), resample.Plan{Level: .95, Seed: 1})
		if err != nil || !r.HasInterval() {
			b.Fatal(r.NoInterval, err)
		}
	}
}

// The same where items of a conversation are drawn together: each cluster is left out
// once for BCa.
func BenchmarkBootstrapOfClusters(b *testing.B) {
	u := tenThousand(b)
	for i := range u.Kind {
		u.Cluster = append(u.Cluster, i/4)
	}
	for b.Loop() {
		r, err := resample.BCa(u, resample.Kappa(numbered(5), agreement.Quadratic(5)), resample.Plan{Level: .95, Seed: 1})
		if err != nil || !r.HasInterval() {
			b.Fatal(r.NoInterval, err)
		}
	}
}

// A statistic that tells every item apart: the dearest case.
func BenchmarkBootstrapOfDistinctItems(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 6))
	scores := make([]float64, 10_000)
	for i := range scores {
		scores[i] = r.NormFloat64()
	}
	for b.Loop() {
		got, err := resample.Percentile(resample.Distinct(len(scores)), func(counts []int) (float64, bool) {
			sum := 0.0
			for i, c := range counts {
				sum += float64(c) * scores[i]
			}
			return sum / float64(len(scores)), true
		}, resample.Plan{Level: .95, Seed: 1})
		if err != nil || !got.HasInterval() {
			b.Fatal(got.NoInterval, err)
		}
	}
}

func BenchmarkBootstrapOfAlpha(b *testing.B) {
	r, err := agreement.CodedRatings(numbered(5), 5, hundredThousand()[:50_000])
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		u, profiles := resample.Items(r.Items())
		got, err := resample.Percentile(u, resample.Alpha(profiles, agreement.MetricOrdinal, nil), resample.Plan{Level: .95, Seed: 1})
		if err != nil || !got.HasInterval() {
			b.Fatal(got.NoInterval, err)
		}
	}
}
