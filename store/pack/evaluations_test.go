package pack_test

import (
	"bytes"
	"sync"
	"testing"

	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/store/pack"
)

// The texts of real evaluations come back to the byte, from several goroutines at
// once with the kinds mixed, so that no encoder keeps its dictionary. 1,000,000
// evaluations fit into 3 GB with their rows and indexes when their texts take no
// more than the limits here; no dictionary was made of the texts measured.
func TestEvaluationsPackedAtOnce(t *testing.T) {
	limits := map[string]int{"body": 1600, "prompt": 300, "detail": 700, "reply": 180}
	const limit = 2450 // bytes in all
	var wait sync.WaitGroup
	for _, j := range builtin.Judges() {
		learn, measure := corpusOf(t, j.Name)
		dicts := make([]*pack.Dictionary, len(kinds))
		for i, k := range kinds {
			dicts[i] = k.learnt(t, learn)
		}
		wait.Go(func() {
			plain, packed, total := make([]int, len(kinds)), make([]int, len(kinds)), 0
			for _, x := range measure {
				for i, k := range kinds {
					p := pack.Pack(k.text(x), dicts[i], k.bases(x)...)
					got, err := pack.Unpack(p, dicts[i], k.bases(x)...)
					if err != nil || !bytes.Equal(got, k.text(x)) {
						t.Errorf("judge %s: a %s of %d bytes came back as %d, error %v", j.Name, k.name, len(k.text(x)), len(got), err)
					}
					plain[i] += len(k.text(x))
					packed[i] += len(p.Body)
				}
			}
			for i, k := range kinds {
				mean := packed[i] / len(measure)
				t.Logf("%-16s %-6s %6d bytes become %5d", j.Name, k.name, plain[i]/len(measure), mean)
				if mean > limits[k.name] {
					t.Errorf("judge %s: a %s takes %d bytes, more than %d", j.Name, k.name, mean, limits[k.name])
				}
				total += mean
			}
			if total > limit {
				t.Errorf("judge %s: the texts of an evaluation take %d bytes, more than %d", j.Name, total, limit)
			}
		})
	}
	wait.Wait()
}
