package web_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/store"
)

// stays marks the page, so that a later look can tell that it was not loaded
// again.
func stays(t *testing.T, ctx context.Context) (check func()) {
	t.Helper()
	eval[bool](t, ctx, `window.stays = true`)
	return func() {
		t.Helper()
		if !eval[bool](t, ctx, `window.stays === true`) {
			t.Error("the page was loaded again")
		}
	}
}

func of(name, selector string) string {
	return `document.querySelector(` + "`" + selector + "`" + `).` + name
}

// TestBrowserQueueIsLive: the counts change in place, at the page of one server
// by what happens at another.
func TestBrowserQueueIsLive(t *testing.T) {
	here, there := twoSites(t)
	ada, _ := here.user("ada@example.org", store.Reviewer)
	ctx := browser(t)
	there.browserSignIn(ctx, "ada@example.org")
	visit(t, ctx, there.http.URL+"/queue")
	same := stays(t, ctx)
	if !eval[bool](t, ctx, of("hidden", ".tab-count")) {
		t.Error("an empty queue is counted in the bar")
	}
	here.load(citationTrace("t1"), citationTrace("t2"))
	waitFor(t, ctx, of("innerText", "main [data-live=open]")+` === "2"`)
	waitFor(t, ctx, of("innerText", "#queue-news")+`.includes("2 open now, 0 when this list was loaded. Load it again")`)
	if got := eval[string](t, ctx, of("innerText", ".mainnav a[aria-current]")); !strings.HasPrefix(got, "Queue") || !strings.HasSuffix(got, "2") {
		t.Errorf("the tab says %q, want the count 2", got)
	}
	same()

	// A page that is out of sight listens no more, and hears it all when it is back.
	eval[bool](t, ctx, `Object.defineProperty(document, "visibilityState", {value: "hidden", configurable: true}); dispatchEvent(new Event("visibilitychange")); true`)
	eventually(t, "nobody listens", func() bool { n, _ := there.web.Listeners(); return n == 0 })
	r, err := here.store.ClaimNext(ctx, ada.Actor(), "default", store.ClaimFilter{})
	if err != nil {
		t.Fatal(err)
	}
	here.load(citationTrace("t3"))
	eval[bool](t, ctx, `delete document.visibilityState; dispatchEvent(new Event("visibilitychange")); true`)
	waitFor(t, ctx, of("innerText", "main [data-live=open]")+` === "3"`)
	same()

	// The desk of an item that its holder gave back, and that somebody else took.
	ben, _ := here.user("ben@example.org", store.Reviewer)
	visit(t, ctx, there.http.URL+"/reviews/"+r.ReviewID)
	same = stays(t, ctx)
	if !eval[bool](t, ctx, of("hidden", "#lease-note")) {
		t.Error("the desk gives a notice though nothing changed")
	}
	note := of("innerText", "#lease-note")
	if err := here.store.ReleaseClaim(ctx, ada.Actor(), r.ReviewID); err != nil {
		t.Fatal(err)
	}
	waitFor(t, ctx, note+`.includes("Nobody holds this item now. You can claim it. Load the page again")`)
	if _, err := here.store.ClaimReview(ctx, ben.Actor(), r.ReviewID); err != nil {
		t.Fatal(err)
	}
	waitFor(t, ctx, note+`.includes("ben holds this item now.")`)
	if !eval[bool](t, ctx, of("closest('.lease').hidden", "[data-lease]")) {
		t.Error("the desk says that a lost claim is theirs")
	}
	if err := here.store.ReleaseClaim(ctx, ben.Actor(), r.ReviewID); err != nil {
		t.Fatal(err)
	}
	if _, err := here.store.ClaimReview(ctx, ada.Actor(), r.ReviewID); err != nil {
		t.Fatal(err)
	}
	waitFor(t, ctx, of("hidden", "#lease-note")) // theirs again, as the page has it
	waitFor(t, ctx, of("innerText", "[data-lease]")+`.startsWith("29:")`)
	here.clock.advance(31 * time.Minute)
	waitFor(t, ctx, note+`.includes("Your claim has ended, and nobody has taken the item.")`)
	axeClean(t, ctx, "the desk of a lost claim")
	same()

	// Broken for longer than a moment: the page says of when it is.
	there.web.EndStreams()
	waitFor(t, ctx, of("innerText", "#old-news")+`.match(/^No news from the server. What you see is of \d\d:\d\d UTC.$/) !== null`)
	axeClean(t, ctx, "the desk without news")
	same()
}

// TestBrowserLeavesQuietly: a decision is told by the page that follows it, and
// leaving a page ends its stream.
func TestBrowserLeavesQuietly(t *testing.T) {
	s := newSite(t)
	s.web.Beat(20*time.Millisecond, time.Hour)
	s.user("ada@example.org", store.Reviewer)
	s.load(citationTrace("t1"))
	ctx := browser(t)
	s.browserSignIn(ctx, "ada@example.org")
	for _, path := range []string{"/", "/queue", "/help", "/evaluations", "/queue/next", "/queue", "/runs", "/judges", "/traces/t1", "/preferences"} {
		visit(t, ctx, s.http.URL+path)
		eventually(t, path+" alone listens", func() bool { n, _ := s.web.Listeners(); return n == 1 })
	}
	eval[bool](t, ctx, `document.querySelector("form[action='/logout']").requestSubmit(); true`)
	waitFor(t, ctx, `location.pathname === "/login"`)
	eventually(t, "nobody listens", func() bool { n, _ := s.web.Listeners(); return n == 0 })
	if err := chromedp.Do(ctx, chromedp.Navigate(s.http.URL+"/login")); err != nil {
		t.Fatal(err)
	}
	if n, _ := s.web.Listeners(); n != 0 {
		t.Errorf("%d listen at the sign-in page, want none", n)
	}
}
