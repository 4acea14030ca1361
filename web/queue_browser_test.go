package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestBrowserQueueSelection ticks rows by keys and by the box above them, sees the
// bar, changes them from its panel by keyboard alone, and finds that the list
// refreshes, but never under a selection or the focus.
func TestBrowserQueueSelection(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	var traces []judge.Trace
	for i := range 5 {
		traces = append(traces, citationTrace(fmt.Sprintf("t%d", i)))
	}
	s.load(traces...)
	ctx := browser(t)
	s.browserSignIn(ctx, "lea@example.org")
	visit(t, ctx, s.http.URL+"/queue")
	shown := func() bool {
		return eval[bool](t, ctx, `getComputedStyle(document.querySelector(".bulk")).display !== "none"`)
	}
	said := func() string { return eval[string](t, ctx, `document.querySelector("[data-selected]").textContent`) }
	if shown() {
		t.Error("the bar is there while nothing is selected")
	}
	press(t, ctx, "j")
	press(t, ctx, "x")
	if !shown() || said() != "1 selected" {
		t.Errorf("after X the bar says %q", said())
	}
	eval[bool](t, ctx, `document.querySelector("[data-select-all]").click(); true`)
	if said() != "5 selected" {
		t.Errorf("after the box above all rows the bar says %q", said())
	}

	// Somebody changes the queue meanwhile: the selection stays as it is.
	items, _, err := s.store.ListQueue(t.Context(), store.Operator("test"), store.QueueFilter{})
	if err != nil {
		t.Fatal(err)
	}
	priority := func(n int) {
		t.Helper()
		lea, _ := s.store.UserByEmail(t.Context(), "lea@example.org")
		if _, err := s.store.ChangeQueue(t.Context(), lea.Actor(), "", []string{items[4].ReviewID}, store.QueueChange{Action: store.ChangePriority, Priority: n}); err != nil {
			t.Fatal(err)
		}
	}
	firstRow := `document.querySelector("tbody tr .title").textContent + document.querySelector("tbody tr .priority").textContent`
	before := eval[string](t, ctx, firstRow)
	priority(1)
	// Coming back to the page asks at once, as the clock does each 30 seconds.
	eval[bool](t, ctx, `window.asked = 0; const ask = window.fetch; window.fetch = (...a) => { asked++; return ask(...a) }; true`)
	look := func() int {
		return eval[int](t, ctx, `document.dispatchEvent(new Event("visibilitychange", {bubbles: true})); asked`)
	}
	if look() != 0 {
		t.Error("the list is loaded again under a selection")
	}
	eval[bool](t, ctx, `document.querySelectorAll("tbody input:checked").forEach(b => b.click()); document.querySelector("tbody .title").focus(); true`)
	if look() != 0 {
		t.Error("the list is loaded again under the focus")
	}
	if got := eval[string](t, ctx, firstRow); got != before {
		t.Errorf("the list changed from %q to %q", before, got)
	}
	eval[bool](t, ctx, `document.activeElement.blur(); true`)
	if look() != 1 {
		t.Error("the list is not loaded again while nobody is in it")
	}
	waitFor(t, ctx, fmt.Sprintf("%s !== %q", firstRow, before))
	press(t, ctx, "k") // keys still step through the rows that are there
	press(t, ctx, "x")
	if said() != "1 selected" {
		t.Errorf("after the refresh X says %q", said())
	}

	// From the keyboard alone: the panel, its choice, its button.
	eval[bool](t, ctx, `document.querySelector("[popovertarget=bulk-priority]").focus(); true`)
	press(t, ctx, kb.Enter)
	waitFor(t, ctx, `document.querySelector("#bulk-priority").matches(":popover-open")`)
	press(t, ctx, kb.Tab)
	press(t, ctx, "P3")
	press(t, ctx, kb.Tab)
	if at := eval[string](t, ctx, `document.activeElement.value + " " + document.querySelector("#set-priority").value`); at != "priority 3" {
		t.Fatalf("the focus is on %q", at)
	}
	pressAndLoad(t, ctx, kb.Enter)
	if text := bodyText(t, ctx); !strings.Contains(text, "1 item moved in the queue.") {
		t.Errorf("after the change the page says %.300s", text)
	}
}
