package web_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
)

// openNext claims the next item by keyboard and waits for its units.
func openNext(t *testing.T, ctx context.Context, s *site) {
	t.Helper()
	s.browserSignIn(ctx, "ada@example.org")
	press(t, ctx, "g")
	pressAndLoad(t, ctx, "n")
	waitFor(t, ctx, `location.pathname.startsWith("/reviews/") && document.readyState === "complete" && document.querySelectorAll("[data-unit]").length > 4`)
}

// chosenIn is what is chosen of a part on the page.
func chosenIn(t *testing.T, ctx context.Context, part string) string {
	t.Helper()
	return eval[string](t, ctx, `document.querySelector('[name="ruling.`+part+`"]:checked')?.value || ""`)
}

// TestBrowserCitationsBench: J and K step through citations and mark their claims,
// letters change the rulings; a changed one bars confirming, and the override keeps
// them. A chip in the trace opens its citation.
func TestBrowserCitationsBench(t *testing.T) {
	s := benchSite(t, judge.BlindNever, quotedTrace())
	ctx := browser(t)
	openNext(t, ctx, s)
	if got := eval[string](t, ctx, `[...document.querySelectorAll("[data-claim].here")].map((c) => c.dataset.claim).join()`); got != "c1,c1" { // before and behind the chip
		t.Errorf("at first the claims of %q are marked, want c1's", got)
	}
	axeBoth(t, ctx, "citations")

	eval[bool](t, ctx, `document.querySelector(".trace a.cite[href='#c4']").click(); true`)
	waitFor(t, ctx, `document.querySelector("#c4").open && document.querySelector("[data-claim~=c4].here") !== null && document.activeElement.closest("#c4") !== null`)
	change := func() {
		eval[bool](t, ctx, `document.querySelector("#c2 > summary").focus(); document.querySelector("#c2 > summary").click(); true`) // as a mouse does
		waitFor(t, ctx, `document.querySelector("#c2").open && document.querySelector("[data-claim~=c2].here") !== null`)
		for _, key := range []string{"e", "q", "q", "f", "f", "f", "s", "s"} {
			press(t, ctx, key)
		}
		want := map[string]string{"exists": "exists", "quote": "near", "fidelity": "mismatch", "support": "partially_supported"}
		got := map[string]string{}
		for part := range want {
			got[part] = chosenIn(t, ctx, "citation/2/"+part)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rulings of citation 2 (-want +got)\n%s", diff)
		}
	}
	change()
	press(t, ctx, "j")
	waitFor(t, ctx, `document.querySelector("#c3").open && document.querySelector("[data-claim~=c3].here") !== null && !document.querySelector("[data-claim~=c2].here")`)
	press(t, ctx, "k")
	waitFor(t, ctx, `document.activeElement === document.querySelector("#c2 > summary")`)

	waitFor(t, ctx, `document.querySelector("[name=action][value=confirm]").disabled && document.querySelector("#hint").textContent.includes("can no longer be confirmed")`)
	kept := s.overrideByKeyboard(t, ctx, "fail")
	want := []judge.Ruling{{Part: "citation/2/exists", Value: "exists"}, {Part: "citation/2/fidelity", Value: "mismatch"}, {Part: "citation/2/quote", Value: "near"}, {Part: "citation/2/support", Value: "partially_supported"}}
	if diff := cmp.Diff(want, kept.Rulings); diff != "" {
		t.Errorf("rulings (-want +got)\n%s", diff)
	}
}

// TestBrowserStepsBench: pairs by digits, the first wrong step by W; the word on
// the line follows what is chosen.
func TestBrowserStepsBench(t *testing.T) {
	s := benchSite(t, judge.BlindNever, alignedTrace())
	ctx := browser(t)
	openNext(t, ctx, s)
	axeBoth(t, ctx, "steps")

	word := func(unit string) string {
		return eval[string](t, ctx, `[...document.querySelectorAll("#`+unit+` .word")].filter((w) => getComputedStyle(w).display !== "none").map((w) => w.innerText.trim().replace(/\s+/g, " ")).join("|")`)
	}
	if got := word("p2"); got != "⌀ Missing, material" {
		t.Errorf("before a ruling the line of pair 2 says %q, want the judge's word", got)
	}
	change := func() {
		eval[bool](t, ctx, `document.querySelector("#p2").scrollIntoView(); true`)
		for range 8 {
			press(t, ctx, "k")
		}
		press(t, ctx, "1") // the first pair is equivalent, as the judge says
		press(t, ctx, "j")
		press(t, ctx, "j")
		press(t, ctx, "5") // the missing step is not needed
		press(t, ctx, "j")
		press(t, ctx, "w") // candidate 3 is wrong first
		press(t, ctx, "w") // and then candidate 4
		want := map[string]string{"pair/1": "equivalent", "pair/2": "not_needed", "first_wrong": "4"}
		got := map[string]string{}
		for part := range want {
			got[part] = chosenIn(t, ctx, part)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rulings (-want +got)\n%s", diff)
		}
	}
	change()
	if got := word("p2"); got != "– Missing, not needed" {
		t.Errorf("after a ruling the line of pair 2 says %q", got)
	}
	if !eval[bool](t, ctx, `document.activeElement.name === "ruling.first_wrong"`) {
		t.Error("the focus is not on what was chosen last")
	}
	waitFor(t, ctx, `document.querySelector("[name=action][value=confirm]").disabled && document.querySelector("#hint").textContent.includes("can no longer be confirmed")`)
	kept := s.overrideByKeyboard(t, ctx, "fail")
	want := []judge.Ruling{{Part: "first_wrong", Value: "4"}, {Part: "pair/1", Value: "equivalent"}, {Part: "pair/2", Value: "not_needed"}}
	if diff := cmp.Diff(want, kept.Rulings); diff != "" {
		t.Errorf("rulings (-want +got)\n%s", diff)
	}
}

// TestBrowserVeryManyCitations: a citation far down opens with its insides, which
// can be ruled on and are sent; J goes on from there.
func TestBrowserVeryManyCitations(t *testing.T) {
	s := benchSite(t, judge.BlindNever, longTrace())
	ctx := browser(t)
	openNext(t, ctx, s)
	t.Logf("interactive after %s ms, complete after %s ms, bytes %s", eval[string](t, ctx, `String(Math.round(performance.getEntriesByType("navigation")[0].domInteractive))`),
		eval[string](t, ctx, `String(Math.round(performance.getEntriesByType("navigation")[0].loadEventEnd))`), eval[string](t, ctx, `String(performance.getEntriesByType("navigation")[0].transferSize)`))

	eval[bool](t, ctx, `document.querySelector(".trace a.cite[href='#c318']").click(); true`)
	waitFor(t, ctx, `document.querySelector("#c318").open && document.querySelector("#c318 [name='ruling.citation/318/support']") !== null`)
	press(t, ctx, "s")
	if got := chosenIn(t, ctx, "citation/318/support"); got != "fully_supported" {
		t.Errorf("citation 318 is ruled %q", got)
	}
	for range 4 { // into the next block
		press(t, ctx, "j")
	}
	waitFor(t, ctx, `document.querySelector("#c322").open && document.querySelector("#c322 [name='ruling.citation/322/support']") !== null`)
	if got := eval[string](t, ctx, `new FormData(document.querySelector("#decision")).get("ruling.citation/318/support")`); got != "fully_supported" {
		t.Errorf("the form sends %q for citation 318", got)
	}
	if got := eval[int](t, ctx, `document.querySelectorAll("[data-body]").length`); got != 500-4-2*20 {
		t.Errorf("%d citations wait for their insides, want those of all but the first and two blocks", got)
	}
}
