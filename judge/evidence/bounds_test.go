package evidence_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/evidence"
)

const megabyte = 1 << 20

// Hostile quotations and sources must not cost more than their length: ten times
// the text may cost ten times the steps, and a little for what is rounded.
func TestLocateIsBounded(t *testing.T) {
	varied := func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "word%d ", i*7919%997)
		}
		return b.String()
	}
	tests := []struct {
		name string
		of   func(n int) (quote, source string)
	}{
		{"one word", func(n int) (string, string) {
			return strings.Repeat("the ", 400) + "end", strings.Repeat("the ", n/4)
		}},
		{"one long word", func(n int) (string, string) { return strings.Repeat("a", n/2), strings.Repeat("a", n) }},
		{"ends inside words", func(n int) (string, string) {
			return strings.Repeat("ab ", n/6) + "a", strings.Repeat("ab ", n/3)
		}},
		{"long quotation", func(n int) (string, string) { v := varied(n); return v[:n*9/10] + " x", v }},
		{"ellipses", func(n int) (string, string) { return strings.Repeat("the … ", n/30), strings.Repeat("of the ", n/7) }},
		{"dots", func(n int) (string, string) { return strings.Repeat(".", n/2) + "a", strings.Repeat(". ", n/2) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cost := func(n int) int {
				quote, source := tt.of(n)
				e := new(evidence.Effort)
				evidence.NewSource(source).LocateNearCounting(quote, e)
				return e.Steps
			}
			small, large := cost(megabyte/10), cost(megabyte)
			// What is bounded by a constant alone may cost all of it.
			if bound := max(15*small, 64*megabyte); large > bound {
				t.Errorf("1 MB costs %d steps, a tenth of it %d; want at most %d", large, small, bound)
			}
		})
	}
}

// What these do to 1 MB is seen by what they find. Where each find read the text,
// the sources or the numbers again they did not end in the time that a test has.
func TestMegabytes(t *testing.T) {
	t.Run("markers of many sources", func(t *testing.T) {
		list := make([]judge.Source, 100_000)
		for i := range list {
			list[i].ID = fmt.Sprintf("doc %06d", i)
		}
		output := strings.Repeat("[xyz]", megabyte/5) + " [doc 099999]"
		got := evidence.Markers(output, list, nil)
		if len(got) != 1 || got[0].CitationID != "doc 099999" {
			t.Errorf("got %d markers", len(got))
		}
	})
	t.Run("steps", func(t *testing.T) {
		for name, line := range map[string]string{
			"lines": "A line.\n", "numbered": "1. a\n", "step": "Step 1: a\n", "brackets": "[1] [2]]]\n", "bullets": "- a\n   b\n",
			"one line": "[a] ", "blank": " \n", "hashes": "# # #",
		} {
			output := strings.Repeat(line, megabyte/len(line))
			steps := evidence.Steps(output)
			if n := len(steps); n > 0 && evidence.StepAt(steps, len(output)) != n {
				t.Errorf("%s: the last byte is in step %d of %d", name, evidence.StepAt(steps, len(output)), n)
			}
			if name == "lines" && len(steps) != megabyte/len(line) {
				t.Errorf("%s: got %d steps", name, len(steps))
			}
		}
	})
	t.Run("claims", func(t *testing.T) {
		for name, part := range map[string]string{
			"sentences": "It fell by a half [1]. ", "no space": ".[1]", "dots": "....[1] ", "side by side": "[1]", "many in one": "so it is [1] ",
			"quoted": `It says "so it is. Thus." [1]. `, "lower": "a.[1] b ", "brackets": ").)[1]",
		} {
			output := strings.Repeat(part, megabyte/len(part))
			markers := evidence.Markers(output, nil, nil)
			claims := evidence.Claims(output, markers)
			if len(claims) != len(markers) || len(markers) == 0 {
				t.Fatalf("%s: %d claims of %d markers", name, len(claims), len(markers))
			}
			if name == "sentences" && claims[len(claims)-1].Text != "It fell by a half." {
				t.Errorf("%s: the last claim is %q", name, claims[len(claims)-1].Text)
			}
		}
	})
	t.Run("quotations", func(t *testing.T) {
		for part, want := range map[string]int{
			"「契約は無効」": 1, "“a-b-c”": 1, `("a b c")`: 1, `"a b c" `: 1, "“": 0, `say "a b c" `: 0, "\"a b c\n\n": 0,
		} {
			n := megabyte / len(part)
			if got := len(evidence.Quotations(strings.Repeat(part, n))); got != want*n {
				t.Errorf("%q: got %d quotations, want %d", part, got, want*n)
			}
		}
	})
	t.Run("numbers", func(t *testing.T) {
		for _, part := range []string{"mg/kg", "1.", "a-1-", "1:", "1,000,", "twenty", "twenty-", "$-", "Jan 1 ", "1 million ", "9", "é1", "/kg"} {
			if got := evidence.Numbers("5 " + strings.Repeat(part, megabyte/len(part))); len(got) == 0 {
				t.Errorf("%q: no number is found", part)
			}
		}
	})
	t.Run("numbers of two texts", func(t *testing.T) {
		var b strings.Builder
		for i := range 100_000 {
			fmt.Fprintf(&b, "%d mg, ", i)
		}
		have := evidence.Numbers(b.String())
		want := append(evidence.Numbers(b.String()), evidence.Numbers("100001 mg, 5 kg and 5 mg/kg")...)
		var got []string
		for _, n := range evidence.MissingNumbers(want, have) {
			got = append(got, n.Text)
		}
		if s := strings.Join(got, ", "); s != "100001 mg, 5 kg" {
			t.Errorf("missing: %s", s)
		}
		if got := evidence.ChangedNumbers(have, have); got != nil {
			t.Errorf("changed: %v", got)
		}
		nots := strings.Repeat("not never ", 50_000)
		if !evidence.SameNegations(nots, "never "+nots[:len(nots)-len("never ")]) {
			t.Error("the same negations in another order are not the same")
		}
	})
}

// The index of numbers answers as a look at each of them does.
func TestNumberIndex(t *testing.T) {
	texts := []string{"5 mg and 10%", "31 January 2020", "January 2020", "Jan 31", "2020-01-31", "in 2020", "31 of them", "5", "5 mg/kg", "5 kg", "seven", "7", "B12", ""}
	for _, a := range texts {
		for _, b := range texts {
			want, have := evidence.Numbers(a), evidence.Numbers(b)
			x := evidence.IndexNumbers(have)
			missing := 0
			for _, n := range want {
				if !n.Spelled && !x.Says(n) {
					missing++
				}
			}
			if got := len(evidence.MissingNumbers(want, have)); got != missing {
				t.Errorf("%q in %q: the index misses %d, the list %d", a, b, missing, got)
			}
		}
	}
}
