package main

import (
	"slices"
	"testing"
)

// TestNamesDoNotSteerATerminal: what a file names its labels and raters is shown, not done.
func TestNamesDoNotSteerATerminal(t *testing.T) {
	got := visibly([]string{"\x1b[31mred", "\u202ey", "a b\tc", "größe \\ 한", "\xff"})
	if want := []string{`\x1b[31mred`, `\u202ey`, `a b\tc`, `größe \ 한`, "\uFFFD"}; !slices.Equal(got, want) {
		t.Errorf("names are written %q, want %q", got, want)
	}
}
