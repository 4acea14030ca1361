package store

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestPartOfTraces: of more rows than are looked at, a part is taken that has about the
// wanted size and stays the same, and all of what fits.
func TestPartOfTraces(t *testing.T) {
	if sql, args := partOfTraces("t.id", 100, 100); sql != "" || args != nil {
		t.Errorf("of what fits a part is taken: %s %v", sql, args)
	}
	ids := make([]string, 20_000)
	for i := range ids {
		ids[i] = newID(time.UnixMilli(int64(1_700_000_000_000 + i)))
	}
	for _, share := range []float64{0.9, 0.5, 0.1, 0.01} {
		_, args := partOfTraces("t.id", int(share*1e6), 1e6)
		taken := 0
		for _, id := range ids {
			if strings.Compare(id[len(id)-2:], args[0].(string)) < 0 {
				taken++
			}
		}
		want := share * float64(len(ids))
		if math.Abs(float64(taken)-want) > 5*math.Sqrt(want)+float64(len(ids))/1024 {
			t.Errorf("%d of %d are taken, want about %.0f", taken, len(ids), want)
		}
	}
}
