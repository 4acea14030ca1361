package pack_test

import (
	"testing"

	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/store/pack"
)

// 1,000,000 evaluations fit into 3 GB with their rows and indexes when their
// texts take at most this many bytes each. The texts measured are not those
// that the dictionaries were made of.
func TestSizeOfAnEvaluation(t *testing.T) {
	limits := map[string]int{"body": 1600, "prompt": 300, "detail": 700, "reply": 180}
	const limit = 2450
	for _, j := range builtin.Judges() {
		learn, measure := corpusOf(t, j.Name)
		total := 0
		for _, k := range kinds {
			d := k.learnt(t, learn)
			plain, packed := 0, 0
			for _, x := range measure {
				plain += len(k.text(x))
				packed += len(pack.Pack(k.text(x), d, k.bases(x)...).Body)
			}
			t.Logf("%-16s %-6s %6d bytes become %5d", j.Name, k.name, plain/len(measure), packed/len(measure))
			if got := packed / len(measure); got > limits[k.name] {
				t.Errorf("judge %s: a %s takes %d bytes, more than %d", j.Name, k.name, got, limits[k.name])
			}
			total += packed
		}
		if got := total / len(measure); got > limit {
			t.Errorf("judge %s: the texts of an evaluation take %d bytes, more than %d", j.Name, got, limit)
		}
	}
}
