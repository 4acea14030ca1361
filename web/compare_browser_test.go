package web_test

import (
	"context"
	"fmt"
	"net/url"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// A comparison with its test split, and the page of a judge with a shadow, pass axe and
// fit a telephone.
func TestBrowserCompare(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	first, second := s.judgedByBoth(120)
	if err := s.store.SaveJudges(context.Background(), store.Operator("test"), "default", []judge.Judge{first}); err != nil {
		t.Fatal(err)
	}
	form := url.Values{"a": {first.PromptVersion + ",m"}, "b": {second.PromptVersion + ",m"}, "share": {"0.5"}}
	lead := s.signIn("lea@example.org")
	lead.post("/judges/tone/test-split", form)
	lead.post("/judges/tone/test-split/look", form)
	lead.post("/judges/tone/test-split/look", form)
	lead.post("/judges/tone/shadow", url.Values{"version": {second.PromptVersion}, "engine": {"rules"}, "share": {"0.25"}, "reason": {"does it find more?"}})
	ctx := browser(t)
	s.browserSignIn(ctx, "lea@example.org")
	for _, path := range []string{comparePath(first, second), "/judges/tone"} {
		visit(t, ctx, s.http.URL+path)
		for _, as := range looks {
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(as.width, 900)); err != nil {
				t.Fatal(err)
			}
			eval[bool](t, ctx, `document.documentElement.dataset.theme = "`+as.theme+`"; document.querySelectorAll("main details").forEach(d => d.open = true); true`)
			axeBy(t, ctx, fmt.Sprintf("%s, %s, %d px", path, as.theme, as.width), as.rules)
			if over := eval[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
				t.Errorf("%s, %d px: scrolls sideways by %d px", path, as.width, over)
			}
		}
	}
}
