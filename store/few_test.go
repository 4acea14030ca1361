package store_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// However a lead narrows the health of a judge, and whatever views they take from
// each other: what comes out is of no fewer than ten evaluations, or of none. Each
// evaluation costs a power of two of its own, so a sum of costs says of which
// evaluations it is.
func TestHealthTellsOfNoFewEvaluations(t *testing.T) {
	const evaluations = 44 // more powers of two are no exact sums of dollars
	members := func(h store.Health) int64 { return int64(math.Round(h.CostUSD * 1e9)) }
	told := 0
	for seed := range uint64(4) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			d, random := openDesk(t), rand.New(rand.NewPCG(seed, 1))
			models := []string{"large", "small"}
			for bit := 0; bit < evaluations; d.clock.add(24 * time.Hour) {
				for _, model := range models {
					n := min(random.IntN(16), evaluations-bit)
					if random.IntN(3) == 0 {
						n = min(n, 3)
					}
					if n == 0 {
						continue
					}
					d.byModel(n, model, func(_ int, f *judge.Finished) {
						f.Evaluation.Calls = []judge.Attempt{d.call(1, float64(uint64(1)<<bit)/1e9)}
						bit++
					})
				}
			}
			d.clock.add(-24 * time.Hour)
			var views []int64
			for days := 1; days <= 40; days++ {
				for _, model := range append(models, "") {
					h := d.health(d.lea, store.HealthFilter{Days: days, Model: model})
					views = append(views, members(h.Total))
					all := h.Total.Evaluations + h.Total.Untold
					if whole := d.health(d.auditor, store.HealthFilter{Days: days, Model: model}).Total.Evaluations; all != whole {
						t.Errorf("%d days of %q: told and untold are %d, want %d", days, model, all, whole)
					}
					if n := int64(bits.OnesCount64(uint64(members(h.Total)))); n != h.Total.Evaluations {
						t.Errorf("%d days of %q: a sum over %d says it is over %d", days, model, n, h.Total.Evaluations)
					}
					for _, day := range h.Days {
						views = append(views, members(day.Health))
					}
				}
			}
			// Evaluations that every view tells or leaves out alike can't be told apart
			// by any sum or difference of views.
			alike := map[string]int{}
			for bit := range evaluations {
				signature, seen := make([]byte, len(views)), false
				for i, v := range views {
					signature[i] = byte(v >> bit & 1)
					seen = seen || signature[i] == 1
				}
				if seen {
					alike[string(signature)]++
					told++
				}
			}
			for _, n := range alike {
				if n < 10 {
					t.Errorf("views differ by %d evaluations", n)
				}
			}
		})
	}
	if told < evaluations {
		t.Errorf("of all evaluations only %d were told of at all", told)
	}
}
