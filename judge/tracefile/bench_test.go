package tracefile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/tracefile"
)

// traces4KB are different traces of about 4 KB with sources and a label.
func traces4KB(tb testing.TB, n int) [][]byte {
	tb.Helper()
	passage := strings.Repeat("The lessee shall, \"subject to\" §4, give notice within 30 days.\n", 24)
	all := make([][]byte, n)
	for i := range all {
		b, err := json.Marshal(judge.Trace{
			ID: fmt.Sprintf("trace-%06d", i), Domain: "legal", Question: "Is the notice in time?",
			Output: passage[:1200] + " [1] [2]", Metadata: map[string]any{"row": i},
			Sources: []judge.Source{{ID: "1", Text: passage[:1300]}, {ID: "2", Text: passage[100:1400]}},
			Labels:  []judge.HumanLabel{{Judge: "citations", Verdict: judge.Pass, Reviewer: "lawyer"}},
		})
		if err != nil {
			tb.Fatal(err)
		}
		all[i] = b
	}
	return all
}

func benchmark(b *testing.B, name string, data []byte, want int) {
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		r := newReader(b, name, bytes.NewReader(data), tracefile.Options{})
		n := 0
		for {
			_, _, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != want {
			b.Fatalf("read %d traces, want %d", n, want)
		}
	}
}

func BenchmarkLines(b *testing.B) {
	const n = 1000
	benchmark(b, "t.jsonl", bytes.Join(traces4KB(b, n), []byte("\n")), n)
}

func BenchmarkArray(b *testing.B) {
	const n = 1000
	benchmark(b, "t.json", append(append([]byte("["), bytes.Join(traces4KB(b, n), []byte(",\n"))...), ']'), n)
}
