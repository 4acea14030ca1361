package web_test

import (
	"context"
	"testing"

	"github.com/countersign/countersign/judge"
)

// watchShifts notes what has moved on the page, and will move, without the person's doing,
// as the browser counts it.
const watchShifts = `window.moved = []; new PerformanceObserver((l) => {
	for (const s of l.getEntries()) if (!s.hadRecentInput) moved.push(s.value.toFixed(5) + " " + s.sources.map((x) =>
		x.node?.nodeName + "." + (x.node?.className ?? "") + " from " + JSON.stringify(x.previousRect) + " to " + JSON.stringify(x.currentRect)).join(", "));
}).observe({ type: "layout-shift", buffered: true });
new Promise((then) => setTimeout(() => then(moved.join("\n")), 300))`

// TestBrowserNothingMoves: a desk of each kind stays where it is while it is loaded, when
// news comes, a draft is saved and the next part is opened.
func TestBrowserNothingMoves(t *testing.T) {
	ctx := browser(t)
	for _, trace := range []judge.Trace{benchTrace(1), quotedTrace(), alignedTrace(), referenceTrace(), logicTrace(), longTrace()} {
		for _, blind := range []string{judge.BlindNever, judge.BlindAlways} {
			t.Run(trace.ID+" "+blind, func(t *testing.T) { nothingMoves(t, ctx, benchSite(t, blind, trace)) })
		}
	}
}

// TestBrowserShiftsAreTold: what nothingMoves listens to is told when something moves.
func TestBrowserShiftsAreTold(t *testing.T) {
	s := benchSite(t, judge.BlindNever, quotedTrace())
	ctx := browser(t)
	openNext(t, ctx, s)
	eval[string](t, ctx, watchShifts)
	eval[bool](t, ctx, `const late = document.createElement("div"); late.style.height = "200px"; document.querySelector(".pane .column").prepend(late); true`)
	waitFor(t, ctx, `moved.length > 0`)
}

func nothingMoves(t *testing.T, ctx context.Context, s *site) {
	s.browserSignIn(ctx, "ada@example.org")
	press(t, ctx, "g")
	pressAndLoad(t, ctx, "n")
	waitFor(t, ctx, `location.pathname.startsWith("/reviews/") && document.readyState === "complete"`)
	if moved := eval[string](t, ctx, watchShifts); moved != "" {
		t.Errorf("while it is loaded:\n%s", moved)
	}
	eval[bool](t, ctx, `moved.length = 0; document.querySelector("#decision input[name=verdict], #decision input[name=action]").click(); true`)
	waitFor(t, ctx, `document.querySelector("#draft-note")?.textContent.startsWith("Draft saved")`)
	if moved := eval[string](t, ctx, `new Promise((then) => setTimeout(() => then(moved.join("\n")), 200))`); moved != "" {
		t.Errorf("when a draft was saved:\n%s", moved)
	}
}
