package web_test

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestBrowserWithoutScript works on items in a browser that runs no scripts: claim,
// answer blind, see the reveal, decide, undo, save a draft, skip, ask, correct, and
// cannot judge. Nothing that is typed on the way is lost.
func TestBrowserWithoutScript(t *testing.T) {
	s := newSite(t)
	ada, _ := s.user("ada@example.org", store.Reviewer)
	s.lead, _ = s.user("lea@example.org", store.Lead)
	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindAlways })
	first := s.item(t, citationTrace("t1"))
	ctx := browser(t)
	if _, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true}); err != nil {
		t.Fatal(err)
	}
	s.browserSignIn(ctx, "ada@example.org")
	at := func(review string) string { return ready + ` && location.pathname === "/reviews/` + review + `"` }
	says := func(words string) string { return ` && document.body.innerText.includes("` + words + `")` }
	typeIn := func(id, text string) {
		t.Helper()
		step(t, ctx, "type into "+id, func(ctx context.Context) error { return chromedp.Do(ctx, chromedp.SendKeys(chromedp.ID(id), text)) })
	}
	next := func(review string) {
		t.Helper()
		visit(t, ctx, s.http.URL+"/queue")
		clickAndLoad(t, ctx, `button[form="claim-next"]`)
		waitFor(t, ctx, at(review))
	}

	visit(t, ctx, s.http.URL+"/queue")
	clickAndLoad(t, ctx, `button[form="claim-next"]`)
	waitFor(t, ctx, at(first))
	if eval[bool](t, ctx, `document.documentElement.outerHTML.includes("citation_not_found")`) {
		t.Error("the page tells the judge's findings before the first answer")
	}
	// Blind: a ruling, the verdict, and a draft on the way. Enter in a field, too,
	// presses what saves.
	click(t, ctx, `label:has(> [name="ruling.citation/1/support"][value=none]), label:has(> [name="ruling.citation/1/support"])`)
	ruled := chosenIn(t, ctx, "citation/1/support")
	clickAndLoad(t, ctx, `button[form=decision][formaction$="/draft"]`)
	waitFor(t, ctx, at(first)+says("Draft saved. It waits for you here"))
	if got := chosenIn(t, ctx, "citation/1/support"); got != ruled || got == "" {
		t.Errorf("the draft has the ruling %q, want %q", got, ruled)
	}
	click(t, ctx, "#decision label:has(> [name=verdict][value=pass])")
	clickAndLoad(t, ctx, "#decision button.primary")
	waitFor(t, ctx, at(first)+` && document.querySelector("[name=action][value=keep]") !== null`+says("Yours and the judge’s"))

	// A form with a fault comes back as it was typed.
	click(t, ctx, "label:has(> [name=action][value=keep])")
	typeIn("comment", "Common knowledge.")
	clickAndLoad(t, ctx, "button[name=then]")
	waitFor(t, ctx, ready+` && document.querySelector("#reason-fault") !== null && document.querySelector("#comment").value === "Common knowledge."`)
	second := s.item(t, citationTrace("t2"))
	typeIn("reason_code", "T") // as a person chooses in a list
	if eval[string](t, ctx, of("value", "#reason_code")) == "" {
		t.Fatal("no reason is chosen")
	}
	clickAndLoad(t, ctx, "button[name=then]")
	waitFor(t, ctx, at(second)+says("Signed and recorded"))

	// Undo, and sign again.
	clickAndLoad(t, ctx, `form[action$="/undo"] button`)
	waitFor(t, ctx, at(first)+says("Taken back.")+` && document.querySelector("#comment").value === "Common knowledge."`)
	clickAndLoad(t, ctx, "button[name=then]")
	waitFor(t, ctx, ready+says("Signed and recorded"))
	if got := s.decisionsOn(t, first); len(got) != 2 || got[0].UndoneAt == nil || got[1].Choice != store.Keep || got[1].UserID != ada.ID {
		t.Errorf("decisions: %+v", got)
	}

	// Ask: what is typed elsewhere in the form stays.
	s.open(t, ctx, second)
	click(t, ctx, "#decision label:has(> [name=verdict][value=fail])")
	click(t, ctx, "button[popovertarget=talk]")
	typeIn("question", "Which edition?")
	clickAndLoad(t, ctx, "#talk button[name=thread]")
	waitFor(t, ctx, at(second)+says("Sent. It stands under Questions.")+` && document.querySelector("[name=verdict]:checked")?.value === "fail"`)
	// Cannot judge.
	click(t, ctx, "label:has(> [name=action][value=cannot_judge])")
	typeIn("comment", "Outside my field.")
	clickAndLoad(t, ctx, "#decision button.primary")
	waitFor(t, ctx, ready+says("Recorded. Somebody else will be asked."))
	var last store.Decision // the item is sealed still: the lead's page has none
	if err := s.store.EachDecision(context.Background(), store.Operator("test"), store.EvaluationFilter{}, func(d store.Decision) error { last = d; return nil }); err != nil {
		t.Fatal(err)
	}
	if last.Action != store.CannotJudge || last.UserID != ada.ID || last.Comment != "Outside my field." {
		t.Errorf("the last decision: %+v", last)
	}

	// Skip.
	third := s.item(t, citationTrace("t3"))
	next(third)
	fourth := s.item(t, citationTrace("t4"))
	clickAndLoad(t, ctx, `button[formaction$="/skip"]`)
	waitFor(t, ctx, at(fourth))

	// A text is itself wrong.
	click(t, ctx, "button[popovertarget=talk]")
	click(t, ctx, "#talk details:has([name=correction_kind]) > summary")
	click(t, ctx, "label:has(> [name=correction_kind][value=outdated])")
	typeIn("correction_explanation", "A newer edition is out.")
	clickAndLoad(t, ctx, `button[formaction$="/correction"]`)
	waitFor(t, ctx, ready+` && location.pathname.startsWith("/corrections/")`+says("Proposed. The item waits until a lead accepts or declines it"))
	if text := bodyText(t, ctx); !strings.Contains(text, "A newer edition is out.") {
		t.Errorf("the correction: %s", text)
	}
}
