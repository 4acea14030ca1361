package web_test

import (
	"context"
	"testing"

	"github.com/countersign/countersign/judge"
)

// shifts are what has moved on the page without the person's doing, as the browser
// counts it, with what moved.
const shifts = `new Promise((then) => {
	const all = [], o = new PerformanceObserver((l) => all.push(...l.getEntries()));
	o.observe({ type: "layout-shift", buffered: true });
	setTimeout(() => { o.disconnect(); then(all.filter((s) => !s.hadRecentInput).map((s) => s.value.toFixed(5) + " " +
		s.sources.map((x) => x.node?.nodeName + "." + (x.node?.className ?? "") + " from " + JSON.stringify(x.previousRect) + " to " + JSON.stringify(x.currentRect)).join(", ")).join("\n")); }, 300);
})`

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

func nothingMoves(t *testing.T, ctx context.Context, s *site) {
	s.browserSignIn(ctx, "ada@example.org")
	press(t, ctx, "g")
	pressAndLoad(t, ctx, "n")
	waitFor(t, ctx, `location.pathname.startsWith("/reviews/") && document.readyState === "complete"`)
	if moved := eval[string](t, ctx, shifts); moved != "" {
		t.Errorf("while it is loaded:\n%s", moved)
	}
	eval[bool](t, ctx, `document.querySelector("#decision input[name=verdict], #decision input[name=action]").click(); true`)
	waitFor(t, ctx, `document.querySelector("#draft-note")?.textContent.startsWith("Draft saved")`)
	if moved := eval[string](t, ctx, shifts); moved != "" {
		t.Errorf("when a draft was saved:\n%s", moved)
	}
	// The browser does tell of what moves.
	eval[bool](t, ctx, `const late = document.createElement("div"); late.style.height = "200px"; document.querySelector(".pane .column").prepend(late); true`)
	if eval[string](t, ctx, shifts) == "" {
		t.Error("200 px put above the trace moved nothing: the browser counts no shifts here")
	}
}
