package evidence

import (
	"fmt"
	"strings"
	"testing"
)

// By the places of a rare word or by reading: the same place is found.
func FuzzExact(f *testing.F) {
	f.Add("a b c d e a b c", "b c d")
	f.Add("the 1,000.5 mg don't stop. The 1,000.5 mg", "000.5 mg don't")
	f.Add("x 契約は無効 y 契約は無効 z", "x 契約は無効 y")
	f.Add(strings.Repeat("a b ", 100)+"c d", "b a b c d")
	f.Add("it's'x y z", "s'x y z")
	f.Fuzz(func(t *testing.T, source, quote string) {
		s, q := NewSource(source), foldedTrim(quote)
		if q == "" {
			return // nothing is looked for
		}
		start, end, ok := s.exact(q, new(Effort))
		wantStart, wantEnd, want := s.exactByReading(q, new(Effort))
		if ok != want || ok && (start != wantStart || end != wantEnd) {
			t.Fatalf("%q in %q: got [%d,%d) %v, want [%d,%d) %v", q, source, start, end, ok, wantStart, wantEnd, want)
		}
	})
}

// Each text costs in proportion to its own length and not to the source's, as
// long as it has a word that is rare in it.
func TestExactCost(t *testing.T) {
	cost := func(sentences int) int {
		var b strings.Builder
		for i := range sentences {
			fmt.Fprintf(&b, "The case %d was heard by judge number %d. ", i, i*7)
		}
		s, e := NewSource(b.String()), new(Effort)
		for i := range sentences {
			if _, _, ok := s.exact(fmt.Sprintf("the case %d was heard by judge number %d", i, i*7), e); !ok {
				t.Fatalf("sentence %d is not found", i)
			}
			if _, _, ok := s.exact(fmt.Sprintf("the case x%d was heard", i), e); ok {
				t.Fatalf("sentence x%d is found", i)
			}
		}
		return e.Steps
	}
	small, large := cost(2_000), cost(20_000) // the larger is 0.9 MB
	if large > 12*small {
		t.Errorf("ten times the text costs %d steps, the smaller %d: not in proportion", large, small)
	}
}
