package pack_test

import (
	"testing"

	"github.com/countersign/countersign/judge/builtin"
	"github.com/countersign/countersign/store/pack"
)

func TestTrain(t *testing.T) {
	of := func(list ...string) (samples [][]byte) {
		for _, s := range list {
			samples = append(samples, []byte(s))
		}
		return samples
	}
	tests := []struct {
		name    string
		samples [][]byte
		max     int
		want    string
	}{
		{"none", nil, 100, ""},
		{"no room", of("abc"), 0, ""},
		{"no room at all", of("abc"), -1, ""},
		{"too long to look at", [][]byte{make([]byte, 1<<20+1)}, 100, ""},
		{"all fit", of("abc", "de"), 5, "abcde"},
		{"the longer one is left out", of("abc", "defg", "h"), 5, "abch"},
		{"each once", of("abc", "abc", "d"), 100, "abcd"},
		{"what those share that don't fit", of("one: the template's first half, two: its second half!", "three: the template's first half, four: its second half?"), 45,
			"e: the template's first half, two: its second"},
		{"what is there already is not added", of("the template's first half", "three: the template's first half"), 40, "the template's first half"},
		{"start of the first", of("abcdef", "ghijkl"), 4, "abcd"},
		{"never over the limit", [][]byte{make([]byte, pack.MaxDictionary+9)}, 1 << 30, string(make([]byte, pack.MaxDictionary))},
	}
	for _, tt := range tests {
		if got := string(pack.Train(tt.samples, tt.max)); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// A dictionary keeps the whole template even when no sample fits into it, as
// with long traces: a prompt then takes a little more, not six times as much.
func TestTrainOnLongSamples(t *testing.T) {
	learn, measure := corpusOf(t, builtin.Citations)
	prompts := kinds[1]
	var samples [][]byte
	for _, x := range learn {
		samples = append(samples, x.prompt)
	}
	content := pack.Train(samples, 10<<10)
	for _, s := range samples {
		if len(s) <= 10<<10 {
			t.Fatalf("a sample has %d bytes and fits: this test has lost its case", len(s))
		}
	}
	d := must(pack.NewDictionary(1, content))
	total := 0
	for _, x := range measure {
		total += len(pack.Pack(x.prompt, d, prompts.bases(x)...).Body)
	}
	if got := total / len(measure); got > 400 {
		t.Errorf("a prompt takes %d bytes with a dictionary of %d", got, len(content))
	} else {
		t.Logf("a prompt takes %d bytes with a dictionary of %d", got, len(content))
	}
}
