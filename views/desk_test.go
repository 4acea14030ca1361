package views_test

import (
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/views"
	"github.com/countersign/countersign/views/htmlcheck"
)

func blindDesk() templ.Component { return views.Desk(desk(views.DeskBlind)) }

// Each state offers what it allows, and posts it where the server takes it.
func TestDeskStates(t *testing.T) {
	for _, tt := range []struct {
		state  views.DeskState
		checks []htmlcheck.Check
	}{
		{views.DeskOpen, []htmlcheck.Check{
			htmlcheck.In("form.decision", htmlcheck.Attr("action", "/reviews/rv-4821/claim"), htmlcheck.Attr("method", "post")),
			htmlcheck.None("[name=verdict]"), htmlcheck.None("[name^='ruling.']:not([disabled])"), htmlcheck.None("[role=timer]")}},
		{views.DeskBlind, []htmlcheck.Check{
			htmlcheck.In("form#decision", htmlcheck.Attr("action", "/reviews/rv-4821/decision")),
			htmlcheck.Count("form#decision [name=verdict]", 3), htmlcheck.In("[name=verdict][value=borderline]", htmlcheck.Attr("aria-keyshortcuts", "Shift+2")),
			htmlcheck.Count("form#decision select[name=label] option", 4), htmlcheck.Count("form#decision [name=action]", 3), htmlcheck.In("form#decision [name=action][checked]", htmlcheck.Attr("value", "")), htmlcheck.Count("form [name=action][value=cannot_judge]", 1),
			htmlcheck.Count("[name='ruling.citation/2/support'][form=decision]", 3), htmlcheck.In("[name='ruling.citation/1/support'][value=fully_supported]", htmlcheck.Attr("checked", "")),
			htmlcheck.In("[aria-keyshortcuts=N]", htmlcheck.Attr("formaction", "/reviews/rv-4821/skip"), htmlcheck.Attr("aria-keyshortcuts", "N")),
			htmlcheck.In("[type=submit][aria-keyshortcuts='Control+Enter']", htmlcheck.Contains("Commit and reveal")),
			htmlcheck.In("[data-lease]", htmlcheck.Text("24:10"), htmlcheck.Attr("data-lease", "1450"), htmlcheck.Attr("data-renew", "/reviews/rv-4821/renew")),
			htmlcheck.Count("[role=timer]", 1)}},
		{views.DeskRevealed, []htmlcheck.Check{
			htmlcheck.Count("[name=action]", 4), htmlcheck.Count("[value=keep]", 1), htmlcheck.Count("[value=adopt]", 1), htmlcheck.Count("[value=override]", 1), htmlcheck.Count("[value=escalate]", 1),
			htmlcheck.Count(".when.on-override [name=verdict]", 3), htmlcheck.In(".by-you", htmlcheck.Contains("Fail")), htmlcheck.In(".compare .by-judge", htmlcheck.Contains("Borderline 0.72"))}},
		{views.DeskVisible, []htmlcheck.Check{
			htmlcheck.Count("[name=action]", 4), htmlcheck.In("[value=confirm]", htmlcheck.Attr("aria-keyshortcuts", "C")), htmlcheck.In("[value=override]", htmlcheck.Attr("aria-keyshortcuts", "O")),
			htmlcheck.In("[value=escalate]", htmlcheck.Attr("aria-keyshortcuts", "X")), htmlcheck.Count("[name=verdict]", 3), htmlcheck.Count("[name=reason_code]", 1), htmlcheck.Count("textarea[name=comment]", 1), htmlcheck.Count("form[data-draft='/reviews/rv-4821/draft']", 1),
			htmlcheck.Count("[name=confidence]", 1), htmlcheck.In("#c3", htmlcheck.Contains("Judge on support: No source of this id was given.")), htmlcheck.Count("#c3 .judged", 4)}},
		{views.DeskAdjudication, []htmlcheck.Check{
			htmlcheck.Count(".earlier", 2), htmlcheck.Count("[name=action]", 2), htmlcheck.None("[value=escalate]"), htmlcheck.None("[value=cannot_judge]"), htmlcheck.In(".earlier", htmlcheck.Contains("Physician A"))}},
		{views.DeskDecided, []htmlcheck.Check{
			htmlcheck.None("form.decision"), htmlcheck.In(".signoff", htmlcheck.Contains("Physician A"), htmlcheck.Contains("in 14 min 53 s")), htmlcheck.None(".signoff.open-ended"),
			htmlcheck.Count("main[data-draft-done='draft-rv-4821-u1']", 1)}},
		{views.DeskLost, []htmlcheck.Check{
			htmlcheck.None("form.decision"), htmlcheck.In(".pane .notice", htmlcheck.Contains("Physician E is reviewing this now"), htmlcheck.Contains("11:00")),
			htmlcheck.Count("main[data-draft-kept='draft-rv-4821-u1']:not([data-draft-done])", 1)}},
		{views.DeskExpired, []htmlcheck.Check{
			htmlcheck.In("form.decision", htmlcheck.Attr("action", "/reviews/rv-4821/claim")), htmlcheck.In(".pane .notice", htmlcheck.Contains("Your claim has ended"))}},
		{views.DeskReadOnly, []htmlcheck.Check{htmlcheck.None("form.decision"), htmlcheck.None("[name=action]")}},
	} {
		t.Run(string(tt.state), func(t *testing.T) { check(t, render(t, views.Desk(desk(tt.state))), tt.checks...) })
	}
}

// When the judge failed there is nothing to confirm or adopt.
func TestDeskWithoutReport(t *testing.T) {
	p := desk(views.DeskVisible)
	p.Proposal, p.JudgeFault = nil, "The endpoint refused the key."
	check(t, render(t, views.Desk(p)), htmlcheck.None("[value=confirm]"), htmlcheck.In(".pane [role=alert]", htmlcheck.Contains("The endpoint refused the key."), htmlcheck.Contains("nothing to confirm")), htmlcheck.In("label:has([value=override])", htmlcheck.Contains("Decide")))
	p = desk(views.DeskRevealed)
	p.Proposal = nil
	check(t, render(t, views.Desk(p)), htmlcheck.None("[value=adopt]"), htmlcheck.Count("[value=keep]", 1))
}

// A refused decision comes back as typed, each fault beside its field.
func TestDeskFaults(t *testing.T) {
	p := desk(views.DeskVisible)
	p.Form = views.DeskForm{Action: "override", Verdict: judge.Fail, Label: "partial", ReasonCode: "other", Comment: "As\n<typed>", Confidence: "low",
		VerdictFault: "v fault", LabelFault: "l fault", ReasonFault: "r fault", CommentFault: "c fault", ActionFault: "a fault"}
	check(t, render(t, views.Desk(p)),
		htmlcheck.Count("form[data-refused]", 1), htmlcheck.In("[value=override]", htmlcheck.Attr("checked", "")), htmlcheck.In("[name=verdict][value=fail]", htmlcheck.Attr("checked", "")),
		htmlcheck.In("select[name=label] [selected]", htmlcheck.Attr("value", "partial")), htmlcheck.In("select[name=reason_code] [selected]", htmlcheck.Attr("value", "other")),
		htmlcheck.In("select[name=confidence] [selected]", htmlcheck.Attr("value", "low")), htmlcheck.In("textarea[name=comment]", htmlcheck.Text("As <typed>"), htmlcheck.Attr("aria-invalid", "true")),
		htmlcheck.In("#comment-fault", htmlcheck.Text("c fault")), htmlcheck.In("#reason-fault", htmlcheck.Text("r fault")), htmlcheck.In("#verdict-fault", htmlcheck.Text("v fault")),
		htmlcheck.In("#label-fault", htmlcheck.Text("l fault")), htmlcheck.In("#action-fault", htmlcheck.Text("a fault")), refsFound)
}

// The trace stands on the page to the letter: segments add no space between.
func TestTraceToTheLetter(t *testing.T) {
	p := desk(views.DeskBlind)
	p.Bench = nil
	p.Trace.Steps = []views.Step{{N: 1, Segments: []views.Segment{{Text: "a  b\n"}, {Text: "claim", Kind: views.Claim, Ref: "1"}, {Text: "x", Kind: views.Marked}, {Text: "y", Kind: views.Near}, {Text: "\tz ", Kind: views.Far}, {Text: "v", Kind: views.Violation}, {Text: "end", Kind: "unknown"}}}}
	p.Trace.Question = " Why?\n\nBecause "
	doc := render(t, views.Desk(p))
	if got, want := htmlcheck.Raw(htmlcheck.All(doc, "#s1 p")[0]), "a  b\nclaimxy\tz vend"; got != want {
		t.Errorf("step is %q, want %q", got, want)
	}
	if got, want := htmlcheck.Raw(htmlcheck.All(doc, ".question p")[0]), " Why?\n\nBecause "; got != want {
		t.Errorf("question is %q, want %q", got, want)
	}
}

// A chip leads to its citation and says in words what its shape says.
func TestChips(t *testing.T) {
	doc := render(t, blindDesk())
	check(t, doc,
		htmlcheck.In("a.cite.exact", htmlcheck.Attr("href", "#c1"), htmlcheck.Attr("aria-label", "Citation [1], occurrence 1, exact match")),
		htmlcheck.In("a.cite.near", htmlcheck.Attr("href", "#c2")), htmlcheck.In("a.cite.none", htmlcheck.Attr("href", "#c3"), htmlcheck.Attr("aria-label", "Citation [5], occurrence 3, not found")),
		htmlcheck.In("#c2 .omitted", htmlcheck.Contains("left out: at least two")), htmlcheck.Count("#c2 mark.near", 2), htmlcheck.In("#c3 summary", htmlcheck.Contains("No such source")), htmlcheck.Count("details.citation", 4))
	// On a page without citations chips lead nowhere, and on the record they lead to the desk.
	e := evaluationPage()
	check(t, render(t, views.Evaluation(e)), htmlcheck.In("a.cite.exact", htmlcheck.Attr("href", "/reviews/rv-4821#c1")))
	e.ReviewHref = ""
	check(t, render(t, views.Evaluation(e)), htmlcheck.None("a.cite"), htmlcheck.In("span.cite.exact", htmlcheck.Contains("exact match")))
}

// Ids of any shape make addresses that lead back to them.
func TestIDsInAddresses(t *testing.T) {
	p := desk(views.DeskOpen)
	p.ID = "a/b?c#d"
	check(t, render(t, views.Desk(p)), htmlcheck.In("form.decision", htmlcheck.Attr("action", "/reviews/a%2Fb%3Fc%23d/claim")))
	if strings.Contains(source(t, views.Desk(p)), "/reviews/a/b") {
		t.Error("an id climbed into the path")
	}
}
