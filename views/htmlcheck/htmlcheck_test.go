package htmlcheck_test

import (
	"strings"
	"testing"

	"github.com/countersign/countersign/views/htmlcheck"
)

const page = `<!doctype html><main id="m"><p class="a">One  <b>two</b></p><p class="a" title="t">Three</p></main>`

// Each check is tried both ways: a check that cannot fail checks nothing.
func TestChecks(t *testing.T) {
	for _, tt := range []struct {
		name  string
		check htmlcheck.Check
		want  string // part of the fault; empty when it must hold
	}{
		{"in finds", htmlcheck.In("main", htmlcheck.In("p", htmlcheck.Text("One two"))), ""},
		{"in misses", htmlcheck.In("aside"), "aside: not found"},
		{"text differs", htmlcheck.In("p", htmlcheck.Text("One")), `text "One two", want "One"`},
		{"contains", htmlcheck.In("p", htmlcheck.Contains("two")), ""},
		{"contains not", htmlcheck.In("p", htmlcheck.Contains("Three")), "does not contain"},
		{"count", htmlcheck.Count("p.a", 2), ""},
		{"count differs", htmlcheck.Count("p.a", 3), "found 2, want 3"},
		{"none", htmlcheck.None("script"), ""},
		{"none differs", htmlcheck.None("b"), "found 1, want 0, first: <b>two</b>"},
		{"attr", htmlcheck.In("main", htmlcheck.Attr("id", "m")), ""},
		{"attr differs", htmlcheck.In("main", htmlcheck.Attr("id", "n")), `attribute id is "m"`},
		{"attr misses", htmlcheck.In("main", htmlcheck.Attr("role", "x")), "no attribute role"},
		{"each", htmlcheck.Each("p", htmlcheck.Attr("class", "a")), ""},
		{"each differs", htmlcheck.Each("p", htmlcheck.Attr("title", "t")), "p, number 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc, err := htmlcheck.Parse(strings.NewReader(page))
			if err != nil {
				t.Fatal(err)
			}
			err = htmlcheck.Run(doc, tt.check)
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("got %v, want no fault", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("got %v, want a fault with %q", err, tt.want)
			}
		})
	}
}
