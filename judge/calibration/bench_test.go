package calibration_test

import (
	"testing"

	"github.com/countersign/countersign/judge/calibration"
)

func BenchmarkCompose(b *testing.B) {
	c := openQA()
	for b.Loop() {
		if _, err := calibration.Compose(c); err != nil {
			b.Fatal(err)
		}
	}
}
