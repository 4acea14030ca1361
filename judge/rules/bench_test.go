package rules_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/rules"
)

// benchTrace is a trace of about 4 KB with five markers and a quotation, and
// five sources that together have about 3 KB: the case of the speed goal.
func benchTrace() judge.Trace {
	sentence := func(n int) string {
		return fmt.Sprintf("Under clause %d the supplier shall repair or replace any goods that fail within %d months of delivery, "+
			"provided that the buyer gives notice in writing and keeps the goods available for inspection. ", n, n+6)
	}
	filler := func(step, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "Point %d of step %d weighs how the parties dealt with each other before, which terms they had used in earlier "+
				"orders, and whether the conduct of either of them can be read as consent to a change of those terms. ", i, step)
		}
		return b.String()
	}
	t := judge.Trace{ID: "bench", Domain: "legal", Stakes: judge.HighStakes}
	var out strings.Builder
	for i := 1; i <= 5; i++ {
		t.Sources = append(t.Sources, judge.Source{ID: fmt.Sprint(i), Title: fmt.Sprintf("Contract %d", i),
			Text: sentence(i) + sentence(i+10) + sentence(i+20)})
		claim := fmt.Sprintf("Step %d: %sThe supplier has to mend or exchange goods that turn out faulty within %d months if the buyer says so in writing [%d].\n", i, filler(i, 3), i+6, i)
		switch i {
		case 2:
			claim = fmt.Sprintf("Step 2: %sThe contract says \"the supplier shall repair or replace any goods that fail within 8 months of delivery\" [2].\n", filler(2, 3))
		case 4:
			claim = fmt.Sprintf("Step 4: %s%s[4]\n", filler(4, 3), sentence(4))
		}
		out.WriteString(claim)
	}
	t.Output = out.String()
	return t
}

func BenchmarkCitations(b *testing.B) {
	t := benchTrace()
	size := len(t.Output)
	sources := 0
	for _, s := range t.Sources {
		sources += len(s.Text)
	}
	b.SetBytes(int64(size + sources))
	b.ReportAllocs()
	for b.Loop() {
		rules.Engine{}.Citations(&t, judge.DefaultBand)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "traces/s")
}

func BenchmarkReference(b *testing.B) {
	t := judge.Trace{
		Output:    "The programme was first shown on 4 March 1998 and ran for seven seasons on the same channel, ending in 2003.",
		Reference: "4 March 1998 | March 4, 1998",
	}
	b.ReportAllocs()
	for b.Loop() {
		rules.Reference(&t)
	}
}
