package pack_test

import (
	"testing"

	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/store/pack"
)

// BenchmarkPack packs the texts of real evaluations, kind by kind: alone, as the
// store did before, and with dictionary and base. It tells the mean size of a
// text before and after.
func BenchmarkPack(b *testing.B) {
	eachKind(b, func(b *testing.B, k kind, dict *pack.Dictionary, list []texts) {
		b.Run("alone", func(b *testing.B) {
			packed, plain, n := 0, 0, 0
			b.ReportAllocs()
			for b.Loop() {
				x := k.text(list[n%len(list)])
				packed += len(pack.Pack(x, nil).Body)
				plain += len(x)
				n++
			}
			b.ReportMetric(float64(plain)/float64(n), "plainB/text")
			b.ReportMetric(float64(packed)/float64(n), "packedB/text")
		})
		b.Run("primed", func(b *testing.B) {
			packed, plain, n := 0, 0, 0
			b.ReportAllocs()
			for b.Loop() {
				x := list[n%len(list)]
				packed += len(pack.Pack(k.text(x), dict, k.bases(x)...).Body)
				plain += len(k.text(x))
				n++
			}
			b.ReportMetric(float64(plain)/float64(n), "plainB/text")
			b.ReportMetric(float64(packed)/float64(n), "packedB/text")
		})
	})
}

// BenchmarkUnpack is the way back of BenchmarkPack/…/primed.
func BenchmarkUnpack(b *testing.B) {
	eachKind(b, func(b *testing.B, k kind, dict *pack.Dictionary, list []texts) {
		packed := make([]pack.Packed, len(list))
		for i, x := range list {
			packed[i] = pack.Pack(k.text(x), dict, k.bases(x)...)
		}
		n := 0
		b.ReportAllocs()
		for b.Loop() {
			i := n % len(list)
			if _, err := pack.Unpack(packed[i], dict, k.bases(list[i])...); err != nil {
				b.Fatal(err)
			}
			n++
		}
	})
}

func eachKind(b *testing.B, run func(*testing.B, kind, *pack.Dictionary, []texts)) {
	for _, j := range builtin.Judges() {
		learn, measure := corpusOf(b, j.Name)
		for _, k := range kinds {
			dict := k.learnt(b, learn)
			b.Run(j.Name+"/"+k.name, func(b *testing.B) { run(b, k, dict, measure) })
		}
	}
}
