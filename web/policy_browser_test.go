package web_test

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/store"
)

// TestBrowserPolicy is a lead's way through the policy by keyboard: try it out,
// see what it would change, save it, and meet somebody who was faster. Each page
// on the way is clean to axe, with everything on it unfolded, light and dark.
func TestBrowserPolicy(t *testing.T) {
	s := newSite(t)
	s.user("lea@example.org", store.Lead)
	s.user("max@example.org", store.Lead)
	s.load(recordedTrace("r1", "Yes"), recordedTrace("r2", "No"), citationTrace("t1"))
	ctx := browser(t)
	s.browserSignIn(ctx, "lea@example.org")
	clean := func(where string) {
		t.Helper()
		for _, as := range looks {
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(as.width, 900)); err != nil {
				t.Fatal(err)
			}
			eval[bool](t, ctx, `document.querySelectorAll("details").forEach(d => d.open = true); document.documentElement.dataset.theme = "`+as.theme+`"; true`)
			axeBy(t, ctx, where+", "+as.theme, as.rules)
			if over := eval[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); as.width == 390 && over > 0 {
				t.Errorf("%s: scrolls sideways by %d px", where, over)
			}
		}
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(1440, 900)); err != nil {
			t.Fatal(err)
		}
	}
	yaml := func(text string) {
		t.Helper()
		eval[bool](t, ctx, `document.querySelector("#yaml").value = ""; document.querySelector("#yaml").focus(); true`)
		press(t, ctx, text)
	}
	visit(t, ctx, s.http.URL+"/policy")
	clean("the policy")

	yaml("lease_minutes: 17")
	eval[bool](t, ctx, `document.querySelector("form:has([value=yaml]) [formaction]").focus(); true`)
	pressAndLoad(t, ctx, "\r")
	waitFor(t, ctx, `location.pathname === "/policy/dry-run"`)
	if text := bodyText(t, ctx); !strings.Contains(text, "Sent to people") || !strings.Contains(text, "routed again") {
		t.Errorf("the dry run says %.600s", text)
	}
	clean("the dry run")

	s.signInAndChange("max@example.org", "lease_minutes: 11\n")
	eval[bool](t, ctx, `document.querySelector("form:has([value=yaml]) .primary").focus(); true`)
	pressAndLoad(t, ctx, "\r")
	waitFor(t, ctx, `document.body.innerText.includes("Somebody else changed the policy first")`)
	clean("the conflict")
	eval[bool](t, ctx, `document.querySelector("form:has([value=yaml]) .primary").focus(); true`)
	pressAndLoad(t, ctx, "\r")
	waitFor(t, ctx, `location.pathname === "/policy" && document.body.innerText.includes("Version 3 of the policy counts")`)
	if got := s.policy().LeaseMinutes; got != 17 {
		t.Errorf("stored are %d minutes, want 17", got)
	}

	yaml("lease: 5")
	eval[bool](t, ctx, `document.querySelector("form:has([value=yaml]) .primary").focus(); true`)
	pressAndLoad(t, ctx, "\r")
	waitFor(t, ctx, `document.querySelector("#yaml-faults") !== null`)
	clean("the faults")
}

// signInAndChange is another lead who saves a policy.
func (s *site) signInAndChange(email, yaml string) {
	s.t.Helper()
	v := s.signIn(email)
	form := formOf(s.t.(*testing.T), v.get("/policy").body, yamlForm)
	form.Set("yaml", yaml)
	v.post("/policy", form)
}
