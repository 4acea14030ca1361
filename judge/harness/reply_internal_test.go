package harness

import (
	"strings"
	"testing"
)

// TestSearchReadsOnce: hostile replies of a megabyte and more are decoded once,
// whatever they look like. The bytes are counted, not the time.
func TestSearchReadsOnce(t *testing.T) {
	const size = 1 << 20
	fill := func(unit string) string { return strings.Repeat(unit, size/len(unit)) }
	for name, text := range map[string]string{
		"one long report":     `{"a": "` + fill("x") + `"}`,
		"many small objects":  fill(`{"a":1} `),
		"empty objects":       fill(`{}`),
		"braces of prose":     fill(`{x `),
		"open braces":         fill(`{`),
		"braces and space":    fill(`{ ` + strings.Repeat(" ", 500)),
		"never closed":        fill(`{"a":`),
		"never closed lists":  fill(`{"a":[`),
		"broken at its end":   `{"a":[` + fill(`{"b":1},`) + `]`,
		"quotes":              fill(`{"`),
		"strings with braces": `{"a":"` + fill(`{\"`) + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			found, err := objects(text)
			if found.read > len(text) {
				t.Errorf("%d bytes of %d were decoded (error %v)", found.read, len(text), err)
			}
			if _, again := ExtractReport(text); err != nil && again == nil {
				t.Errorf("the search failed with %v, the report did not", err)
			}
		})
	}
}

// TestSearchAllocatesInStep: what a reply twice as long costs is about twice as
// much, for the whole of ExtractReport.
func TestSearchAllocatesInStep(t *testing.T) {
	for name, unit := range map[string]string{
		"nested":      `{"a":[`,
		"small":       `{"a":1} `,
		"prose":       `{x, y} `,
		"braces":      `{ `,
		"list of one": `[{"a":1},`,
	} {
		t.Run(name, func(t *testing.T) {
			cost := func(n int) float64 {
				text := strings.Repeat(unit, n/len(unit))
				return testing.AllocsPerRun(3, func() { _, _ = ExtractReport(text) })
			}
			small, large := cost(1<<17), cost(1<<18)
			if large > 3*small+100 {
				t.Errorf("128 KiB take %.0f allocations, 256 KiB %.0f", small, large)
			}
		})
	}
}
