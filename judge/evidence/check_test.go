package evidence_test

import (
	"testing"
	"unicode/utf8"

	"github.com/countersign/countersign/judge/evidence"
)

// checkSpan fails when a span is no range of text on rune boundaries. In
// invalid UTF-8 each invalid byte counts as a rune.
func checkSpan(t *testing.T, text string, s evidence.Span) {
	t.Helper()
	if s.Start < 0 || s.End < s.Start || s.End > len(text) {
		t.Fatalf("span [%d,%d) is outside a text of %d bytes", s.Start, s.End, len(text))
	}
	if !utf8.ValidString(text) {
		return
	}
	for _, i := range []int{s.Start, s.End} {
		if i < len(text) && !utf8.RuneStart(text[i]) {
			t.Fatalf("span [%d,%d) cuts a rune of %q", s.Start, s.End, text)
		}
	}
}
