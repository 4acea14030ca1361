package web_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// inSight fails when the focus is nowhere, does not show, or is out of view.
func inSight(t *testing.T, ctx context.Context, after string) {
	t.Helper()
	const state = `(() => {
		const at = document.activeElement, box = (at?.closest("label") ?? at)?.getBoundingClientRect();
		if (!at || at === document.body) return "nowhere";
		if (!at.matches(":focus-visible")) return "not shown on " + at.outerHTML.slice(0, 120);
		if (box.width === 0 || box.bottom <= 0 || box.top >= innerHeight) return "out of view on " + at.outerHTML.slice(0, 120);
		return "";
	})()`
	if got := eval[string](t, ctx, state); got != "" {
		t.Errorf("after %s the focus is %s", after, got)
	}
}

// tabTo presses Tab, or Shift+Tab, until the focus is where an expression of el says.
func tabTo(t *testing.T, ctx context.Context, where string, opts ...chromedp.KeyOption) {
	t.Helper()
	for range 80 {
		press(t, ctx, "\t", opts...)
		if eval[bool](t, ctx, `((el) => `+where+`)(document.activeElement)`) {
			inSight(t, ctx, "Tab")
			return
		}
	}
	t.Fatalf("Tab never comes to %s", where)
}

// keysSeen presses keys one after the other; after each the focus is in sight.
func keysSeen(t *testing.T, ctx context.Context, keys ...string) {
	t.Helper()
	for _, key := range keys {
		press(t, ctx, key)
		inSight(t, ctx, "the key "+key)
	}
}

// TestBrowserKeyboardAlone is two items of two judges from the queue to the
// signature without a mouse: rulings, the blind answer, the reveal, a revision, the
// list of keys, undo, and the way to an item in the queue. The focus is always in
// sight, and letters that are typed are letters.
func TestBrowserKeyboardAlone(t *testing.T) {
	s := newSite(t)
	ada, _ := s.user("ada@example.org", store.Reviewer)
	s.lead, _ = s.user("lea@example.org", store.Lead)
	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindAlways })
	cited := s.item(t, quotedTrace())
	ctx := browser(t)
	s.browserSignIn(ctx, "ada@example.org")
	shift := chromedp.KeyModifiers(chromedp.ModifierShift)
	at := func(review string) string { return ready + ` && location.pathname === "/reviews/` + review + `"` }

	visit(t, ctx, s.http.URL+"/queue")
	press(t, ctx, "g")
	pressAndLoad(t, ctx, "n")
	waitFor(t, ctx, at(cited))
	logic := s.item(t, logicTrace())

	// The list of keys opens and closes, and the focus is where it was.
	keysSeen(t, ctx, "j", "k")
	before := eval[string](t, ctx, `document.activeElement.outerHTML`)
	press(t, ctx, "?")
	waitFor(t, ctx, `document.querySelector("#help").matches(":popover-open")`)
	press(t, ctx, "\x1b")
	waitFor(t, ctx, `!document.querySelector("#help").matches(":popover-open")`)
	if now := eval[string](t, ctx, `document.activeElement.outerHTML`); now != before {
		t.Errorf("after the list of keys the focus is on %.200s, was on %.200s", now, before)
	}

	// Rulings, and the answer.
	keysSeen(t, ctx, "e", "q", "f", "s", "j", "s", "s", "j", "f")
	for part, want := range map[string]string{"citation/1/exists": "exists", "citation/2/support": "partially_supported", "citation/3/fidelity": "accurate"} {
		if got := chosenIn(t, ctx, part); got != want {
			t.Errorf("%s is ruled %q, want %q", part, got, want)
		}
	}
	// Enter on a choice sends nothing and presses no other button.
	press(t, ctx, "\r")
	if got := eval[string](t, ctx, "location.pathname"); got != "/reviews/"+cited {
		t.Fatalf("Enter on a choice led to %s", got)
	}
	press(t, ctx, "!", shift) // Shift+1: pass
	inSight(t, ctx, "Shift+1")
	signAndLoad(t, ctx)
	waitFor(t, ctx, at(cited)+` && document.querySelector("[name=action][value=keep]") !== null`)

	// Revised: the verdict, a reason, words of all letters that are keys elsewhere.
	press(t, ctx, "o")
	inSight(t, ctx, "O")
	press(t, ctx, "#", shift) // Shift+3: fail
	waitFor(t, ctx, `document.querySelector("[name=verdict]:checked")?.value === "fail"`)
	inSight(t, ctx, "Shift+3")
	tabTo(t, ctx, `el.name === "reason_code"`)
	press(t, ctx, kb.ArrowDown) // the first reason
	tabTo(t, ctx, `el.id === "comment"`)
	const words = "Zinc again: no box, just hope? Ungefähr 12 x 5."
	press(t, ctx, words)
	if got := eval[string](t, ctx, of("value", "#comment")+` + "|" + location.pathname + "|" + document.querySelectorAll(":popover-open").length`); got != words+"|/reviews/"+cited+"|0" {
		t.Errorf("while typing: %q", got)
	}
	press(t, ctx, "\x1b")
	inSight(t, ctx, "Esc in a field")
	press(t, ctx, "h")
	waitFor(t, ctx, `document.querySelector("#history").matches(":popover-open") && document.activeElement.closest("#history") !== null`)
	press(t, ctx, "\x1b")
	waitFor(t, ctx, `!document.querySelector("#history").matches(":popover-open")`)
	inSight(t, ctx, "closing a drawer")
	signAndLoad(t, ctx)
	waitFor(t, ctx, at(logic)+` && document.body.innerText.includes("Signed and recorded")`)

	// Taken back, and signed again as it was.
	pressAndLoad(t, ctx, "z")
	waitFor(t, ctx, at(cited)+` && document.querySelector("#comment")?.value === "`+words+`" && document.querySelector("[name=action]:checked")?.value === "override"`)
	signAndLoad(t, ctx)
	waitFor(t, ctx, ready+` && location.pathname === "/queue" && document.body.innerText.includes("Signed and recorded")`)
	signed := s.decisionsOn(t, cited)
	if len(signed) != 2 || signed[0].UndoneAt == nil || signed[1].UndoneAt != nil || signed[1].Comment != words || signed[1].Verdict != judge.Fail || signed[1].FirstVerdict != judge.Pass {
		t.Errorf("signed: %+v", signed)
	}

	// The other item is found in the queue; its dimensions are ruled on by digits.
	tabTo(t, ctx, fmt.Sprintf(`el.getAttribute("href") === "/reviews/%s"`, logic))
	pressAndLoad(t, ctx, "\r")
	waitFor(t, ctx, at(logic)+` && document.querySelectorAll("[data-unit]").length > 3`)
	keysSeen(t, ctx, "4", "j", "2")
	if a, b := chosenIn(t, ctx, "dimension/premise_support"), chosenIn(t, ctx, "dimension/inference_rule_adherence"); a != "4" || b != "2" {
		t.Errorf("dimensions are ruled %q and %q", a, b)
	}
	press(t, ctx, "#", shift)
	signAndLoad(t, ctx)
	waitFor(t, ctx, at(logic)+` && document.querySelector("[name=action][value=adopt]") !== null`)
	press(t, ctx, "a")
	waitFor(t, ctx, `document.querySelector("[name=action]:checked")?.value === "adopt"`)
	inSight(t, ctx, "A")
	signAndLoad(t, ctx)
	waitFor(t, ctx, ready+` && location.pathname === "/queue" && document.body.innerText.includes("Nothing else waits that you could take.")`)
	if got := s.decisionsOn(t, logic); len(got) != 1 || got[0].UserID != ada.ID || got[0].Choice != store.Adopt {
		t.Errorf("signed: %+v", got)
	}

	// What else a desk offers has a key: give back, cannot judge, ask.
	third := s.item(t, citationTrace("third"))
	press(t, ctx, "g")
	pressAndLoad(t, ctx, "n")
	waitFor(t, ctx, at(third))
	press(t, ctx, "t")
	waitFor(t, ctx, `document.querySelector("#talk").matches(":popover-open") && document.activeElement.id === "question"`)
	press(t, ctx, "\x1b")
	waitFor(t, ctx, `!document.querySelector("#talk").matches(":popover-open")`)
	inSight(t, ctx, "closing the questions")
	press(t, ctx, "i")
	waitFor(t, ctx, `document.querySelector("[name=action]:checked")?.value === "cannot_judge"`)
	inSight(t, ctx, "I")
	pressAndLoad(t, ctx, "b")
	waitFor(t, ctx, ready+` && document.body.innerText.includes("You gave the item back.")`)
}
