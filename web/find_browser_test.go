package web_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/countersign/countersign/judge"
)

// TestBrowserFindAndLateParts: words are found in what is closed and not loaded yet,
// across the marks in a text, and counted; a key that comes before the choices it is
// for waits for them, and says so when they do not come.
func TestBrowserFindAndLateParts(t *testing.T) {
	s := benchSite(t, judge.BlindNever, longTrace())
	ctx := browser(t)
	openNext(t, ctx, s)

	// A network that takes its time, then one that is gone.
	eval[bool](t, ctx, `window.real = window.fetch; window.fetch = (...a) => new Promise((go) => setTimeout(go, 400)).then(() => real(...a)); true`)
	eval[bool](t, ctx, `document.querySelector(".trace a.cite[href='#c418']").click(); true`)
	waitFor(t, ctx, `document.querySelector("#c418").open`)
	press(t, ctx, "s")
	waitFor(t, ctx, `document.querySelector("#c418 [name='ruling.citation/418/support']:checked")?.value === "fully_supported"`)
	eval[bool](t, ctx, `window.fetch = (a, o) => String(a).includes("/citations") ? Promise.reject(new TypeError("gone")) : real(a, o); true`)
	eval[bool](t, ctx, `document.querySelector(".trace a.cite[href='#c458']").click(); true`)
	waitFor(t, ctx, `document.querySelector("#c458").open`)
	press(t, ctx, "a")
	waitFor(t, ctx, `!document.querySelector("#lease-note").hidden && document.querySelector("#lease-note").textContent.includes("nothing was ruled")`)
	eval[bool](t, ctx, `window.fetch = real; true`)
	press(t, ctx, "a") // asked for once more
	waitFor(t, ctx, `document.querySelector("[data-body-of=c458]") !== null && document.querySelector("#lease-note").hidden`)

	press(t, ctx, "/")
	waitFor(t, ctx, `document.activeElement.id === "find-text"`)
	eval[bool](t, ctx, `document.activeElement.value = ""; true`)
	// It stands in the trace, with a chip behind it, and in what citations show.
	if err := chromedp.Do(ctx, chromedp.SendKeys(chromedp.ID("find-text"), "PATIENT 477  was set to 32 mg after review")); err != nil {
		t.Fatal(err)
	}
	said := `document.querySelector("#find output").textContent`
	where := `CSS.highlights.get("found-here")?.values().next().value`
	waitFor(t, ctx, said+`.startsWith("1 of ") && `+where+`?.toString().endsWith("review")`) // a part of it, while it is typed, was found elsewhere
	if got := eval[string](t, ctx, where+`.startContainer.parentElement.closest(".step")?.id + " " + `+where+`.toString()`); got != "s477 patient 477 was set to 32 mg after review" {
		t.Errorf("first found %q", got)
	}
	if left := eval[int](t, ctx, `document.querySelectorAll("[data-body]").length`); left != 0 {
		t.Errorf("%d parts are not loaded, and were searched", left)
	}
	press(t, ctx, kb.Enter)
	waitFor(t, ctx, said+`.startsWith("2 of ") && `+where+`.startContainer.parentElement.closest("details.citation")?.open`)
	eval[bool](t, ctx, `document.querySelector("#find-text").value = "nowhere in it"; document.querySelector("#find-text").dispatchEvent(new Event("input")); true`)
	waitFor(t, ctx, said+` === "Not found"`)
	press(t, ctx, "\x1b")
	waitFor(t, ctx, `document.querySelector("#find").hidden && !CSS.highlights.has("found")`)
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(390, 844)); err != nil {
		t.Fatal(err)
	}
	press(t, ctx, "/")
	waitFor(t, ctx, `!document.querySelector("#find").hidden`)
	if over := eval[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
		t.Errorf("with the box open the page scrolls sideways by %d px", over)
	}
}
