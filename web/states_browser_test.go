package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// state is a page as somebody meets it in the middle of their work.
type state struct {
	name, who, path string
	act             string // what they do on it: an expression, awaited
	until           string // what is true of the page then
}

// longTitle is a question of more words than a head has room for.
const longTitle = "Under which conditions may a tenant of a furnished flat who moves abroad for work end a fixed-term lease before its end, and with what notice?"

// states brings a site into every state of the desk and tells where each is seen. The
// claims of what is revealed have not ended.
func (s *site) states() []state {
	t := s.t.(*testing.T)
	t.Helper()
	users, tokens := map[string]store.User{}, map[string]string{}
	for name, role := range map[string]store.Role{"ada": store.Reviewer, "ben": store.Reviewer, "lea": store.Lead, "una": store.Auditor} {
		users[name], tokens[name] = s.user(name+"@example.org", role)
	}
	reviews := map[string]string{} // by trace
	load := func(traces ...judge.Trace) {
		s.load(traces...)
		rows, _, err := s.store.ListEvaluations(t.Context(), store.Operator("test"), store.EvaluationFilter{Status: judge.Accepted})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			if err := s.store.RequestReview(t.Context(), store.Operator("test"), r.ID, "look"); err != nil {
				t.Fatal(err)
			}
		}
		items, _, err := s.store.ListQueue(t.Context(), store.Operator("test"), store.QueueFilter{Limit: 200})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range items {
			reviews[i.TraceID] = i.ReviewID
		}
	}
	ask := func(who, trace, what string, body any) reply {
		t.Helper()
		r := s.api(tokens[who], http.MethodPost, "/api/v1/reviews/"+reviews[trace]+"/"+what, body)
		if r.StatusCode/100 != 2 {
			t.Fatalf("%s, %s of %s: %s %s", who, what, trace, r.Status, r.body)
		}
		return r
	}
	visitors := map[string]*visitor{}
	for name := range users {
		if name != "una" {
			visitors[name] = s.signIn(name + "@example.org")
			visitors[name].get("/queue")
		}
	}
	claim := func(who, trace string) {
		t.Helper()
		if r := visitors[who].post("/reviews/"+reviews[trace]+"/claim", url.Values{}); r.StatusCode != http.StatusOK {
			t.Fatalf("%s claims %s: %s", who, trace, r.Status)
		}
	}
	desk := func(trace string) string { return "/reviews/" + reviews[trace] }
	named := func(tr judge.Trace, id string) judge.Trace { tr.ID = id; return tr }

	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindNever })
	load(named(quotedTrace(), "late"), named(logicTrace(), "expired"))
	claim("ada", "late")
	ask("ada", "late", "draft", map[string]any{"draft_version": 0, "action": "override", "comment": "The second quotation leaves a condition out."})
	claim("ada", "expired")
	ask("ada", "expired", "draft", map[string]any{"draft_version": 0, "comment": "Step 3 does not follow, whatever the words say."})
	s.clock.advance(40 * time.Minute)
	claim("ben", "late")
	ask("ben", "late", "decision", map[string]any{"action": "override", "verdict": "borderline", "reason_code": "dose_error", "comment": "Close, but the dose is for both conditions together."})

	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindAlways })
	long := named(citationTrace("long"), "long")
	long.Question = longTitle
	revealed := []judge.Trace{quotedTrace(), alignedTrace(), referenceTrace(), logicTrace()}
	load(append(revealed, long)...)
	for _, tr := range revealed {
		claim("ada", tr.ID)
		ask("ada", tr.ID, "decision", map[string]any{"verdict": "borderline"})
	}
	claim("ada", "long")

	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindNever; p.Opinions = &judge.Opinions{Default: 2} })
	load(named(quotedTrace(), "settle"), named(alignedTrace(), "settle-steps"))
	for who, verdict := range map[string]string{"ada": "pass", "ben": "fail"} {
		for _, trace := range []string{"settle", "settle-steps"} {
			claim(who, trace)
			body := map[string]any{"action": "override", "verdict": verdict, "reason_code": "too_strict", "comment": "Read page 3: it is what " + who + " says, in more words than fit on one line of the table."}
			if trace == "settle" {
				body["rulings"] = []map[string]any{{"part": "citation/2/support", "value": map[string]string{"ada": "fully_supported", "ben": "unsupported"}[who], "note": "the condition of age"}}
			}
			ask(who, trace, "decision", body)
		}
	}
	claim("lea", "settle")
	claim("lea", "settle-steps")

	s.changePolicy(func(p *judge.Policy) { p.Opinions = nil })
	load(named(referenceTrace(), "open"), named(logicTrace(), "drafts"), named(quotedTrace(), "correct"), vatTrace("vat"), named(alignedTrace(), "held"), citationTrace("free"), recordedTrace("own", "No"))
	for _, trace := range []string{"open", "drafts", "correct", "vat", "own"} {
		claim("ada", trace)
	}
	claim("ben", "held")
	var question store.Comment
	ask("ada", "open", "comments", map[string]any{"text": "Which edition of the code do you go by? The date differs.", "to": users["lea"].ID}).json(t, &question)
	ask("lea", "open", "comments", map[string]any{"text": "The one that was in force when the lease was signed.", "parent_id": question.ID})
	ask("ada", "vat", "correction", map[string]any{"target": "reference", "kind": "outdated", "explanation": "19 % since 2007.", "replacement": "The standard rate is 19 %.\nThe reduced rate is 7 %."})
	rows, err := s.store.ListCorrections(t.Context(), store.Operator("test"), store.CorrectionFilter{State: "open"})
	if err != nil || len(rows) != 1 {
		t.Fatalf("corrections: %d (%v)", len(rows), err)
	}
	if err := s.store.WriteLooks(t.Context()); err != nil {
		t.Fatal(err)
	}
	evaluation := func(trace string) string {
		r, err := s.store.GetReview(t.Context(), users["lea"].Actor(), reviews[trace])
		if err != nil {
			t.Fatal(err)
		}
		return "/evaluations/" + r.EvaluationID
	}

	chosen := func(action string) string {
		return `document.querySelector("[name=action][value=` + action + `]").click()`
	}
	list := []state{
		{name: "late", who: "ada", path: desk("late"), act: chosen("override")},
		{name: "expired", who: "ada", path: desk("expired")},
		{name: "held by somebody else", who: "ada", path: desk("held")},
		{name: "a long title", who: "ada", path: desk("long")},
		{name: "cannot judge, blind", who: "ada", path: desk("long"), act: chosen("cannot_judge")},
		{name: "escalate", who: "ada", path: desk("open"), act: chosen("escalate")},
		{name: "cannot judge", who: "ada", path: desk("open"), act: chosen("cannot_judge")},
		{name: "override", who: "ada", path: desk("drafts"), act: chosen("override")},
		{name: "questions and correction", who: "ada", path: desk("correct"), act: `document.querySelector("#talk").showPopover(), document.querySelector("#correction").open = true`},
		{name: "a question to a lead", who: "lea", path: desk("open"), act: `document.querySelector("#talk").showPopover()`},
		{name: "provenance", who: "ada", path: desk("open"), act: `document.querySelector("#provenance").showPopover()`},
		{name: "finding words", who: "ada", path: desk("cited"), act: `document.querySelector("[data-find-open]").click(), document.querySelector("#find-text").value = "dose", document.querySelector("#find-text").dispatchEvent(new Event("input"))`,
			until: `document.querySelector("#find output").textContent.startsWith("1 of ")`},
		{name: "history", who: "ada", path: desk("cited"), act: `document.querySelector("#history").showPopover()`},
		{name: "two drafts", who: "ada", path: desk("drafts"), act: `(async () => {
			const body = new URLSearchParams({comment: "Typed on another page.", draft_version: form.elements.draft_version.value, draft_tab: "other", draft_seq: "1"});
			await fetch(form.dataset.draft, {method: "POST", body, headers: {"X-CSRF-Token": csrf(), Accept: "application/json"}});
			const comment = form.elements.comment;
			comment.value = "Typed on this page.";
			comment.dispatchEvent(new Event("change", {bubbles: true}));
		})()`, until: `!document.querySelector("#draft-trouble").hidden`},
		{name: "a judge of one's own", who: "ada", path: desk("own"), act: chosen("override")},
		{name: "adjudication", who: "lea", path: desk("settle")},
		{name: "adjudication of steps", who: "lea", path: desk("settle-steps"), act: chosen("override")},
		{name: "the correction form", who: "ada", path: desk("correct") + "/correction"},
		{name: "waits for a correction", who: "ada", path: desk("vat")},
		{name: "corrections", who: "lea", path: "/corrections?state=open"},
		{name: "a correction", who: "lea", path: "/corrections/" + rows[0].ID},
		{name: "rows selected", who: "lea", path: "/queue", act: `document.querySelectorAll("[name=item]").forEach((b, i) => i < 2 && b.click())`},
		{name: "my work", who: "ada", path: "/queue?view=mine"},
		{name: "a lead's work", who: "lea", path: "/queue?view=mine"},
		{name: "evaluation", who: "lea", path: evaluation("settle")},
		{name: "an evaluation that is held", who: "lea", path: evaluation("held")},
	}
	for _, tr := range revealed {
		list = append(list, state{name: "revealed, " + tr.ID, who: "ada", path: desk(tr.ID), act: chosen("keep")})
	}
	return list
}

// show brings a state in the browser.
func (s *site) show(t *testing.T, ctx context.Context, st state) {
	t.Helper()
	visit(t, ctx, s.http.URL+st.path)
	waitFor(t, ctx, `document.readyState === "complete"`)
	if st.act != "" {
		eval[bool](t, ctx, `Promise.resolve(`+st.act+`).then(() => true)`)
	}
	if st.until != "" {
		waitFor(t, ctx, st.until)
	}
}

// TestBrowserStates runs axe-core on the states in the middle of the work, and finds
// that none scrolls sideways.
func TestBrowserStates(t *testing.T) {
	s := newSite(t)
	list := s.states()
	slices.SortStableFunc(list, func(a, b state) int { return strings.Compare(a.who, b.who) })
	ctx := browser(t)
	for i, st := range list {
		if i == 0 || list[i-1].who != st.who {
			s.browserSignIn(ctx, st.who+"@example.org")
		}
		s.show(t, ctx, st)
		for _, as := range looks {
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(as.width, 900)); err != nil {
				t.Fatal(err)
			}
			eval[bool](t, ctx, `document.documentElement.dataset.theme = "`+as.theme+`"; true`)
			where := fmt.Sprintf("%s, %s, %d px", st.name, as.theme, as.width)
			axeBy(t, ctx, where, as.rules)
			if over := eval[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
				t.Errorf("%s: scrolls sideways by %d px", where, over)
			}
			// On a wide screen the panes of a desk scroll, and never the page under them,
			// whatever is opened.
			if as.width == 1440 && strings.HasPrefix(st.path, "/reviews/") && !strings.HasSuffix(st.path, "/correction") {
				over := eval[int](t, ctx, `document.querySelectorAll("main details").forEach((d) => d.open = true), document.documentElement.scrollHeight - document.documentElement.clientHeight`)
				if over > 0 {
					t.Errorf("%s: the page itself scrolls by %d px", where, over)
				}
			}
		}
		if text := bodyText(t, ctx); strings.TrimSpace(text) == "" {
			t.Errorf("%s is empty", st.name)
		}
	}
}
