package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/ruling"
	"github.com/countersign/countersign/store"
)

// Words that stand in the report alone.
var (
	referenceSecrets = []string{"ocelot", "walrus", "acceptable variation</", "0.74", "zebra"}
	logicSecrets     = []string{"ocelot", "walrus", "undistributed", "0.55", "zebra", "class=\"violation\"", "class=\"flag\""}
)

// reportedTrace brings a report of another system's judge, and waits for a person.
func reportedTrace(id, name, report string) judge.Trace {
	return judge.Trace{
		ID: id, Domain: "legal", Stakes: judge.HighStakes, Judges: []string{name},
		Judgments: []judge.Judgment{{Judge: name, Model: "zebra-4", Output: json.RawMessage(report)}},
	}
}

func referenceTrace() judge.Trace {
	t := reportedTrace("ref", "reference", `{"rationale": "The candidate says “at least” for “not less than”: an ocelot.",
		"key_differences": ["“at least” stands for “not less than”.", "The walrus is not spoken of."],
		"critical_error_count": 0, "equivalence_class": "acceptable_variation", "similarity_score": 0.74, "partial_credit": 0.7}`)
	t.Question = "When may the tenant go?"
	t.Reference = "The tenant may end the lease on 29 September 2026 by giving not less than six months’ notice. Take 5 mg daily. Email is not sufficient."
	t.Output = "The tenant may end the lease on 30 September 2026 by giving at least six months’ notice. Take 5 g daily. Email is sufficient."
	return t
}

func logicTrace() judge.Trace {
	t := reportedTrace("log", "logic", `{"overall_validity_score": 2.75, "overall_assessment": "An ocelot.", "dimension_scores": {
		"premise_support": {"score": 5, "violations": []},
		"inference_rule_adherence": {"score": 1, "violations": [{"step_citation": "So Willy is a whale", "explanation": "a walrus does not follow", "fallacy_type": null, "severity": "major"}]},
		"formal_fallacy_detection": {"score": 1, "violations": [{"step_citation": "Willy is a whale, certainly", "explanation": "the walrus in the middle", "fallacy_type": "undistributed middle", "severity": "major"}]},
		"conclusion_alignment": {"score": 4, "violations": []}}}`)
	t.Premises = []string{"All whales are mammals.", "Willy is a mammal."}
	t.Output = "1. All whales are mammals.\n2. Willy is a mammal.\n3. So Willy is a whale, certainly."
	t.Conclusion = "Willy is a whale."
	return t
}

// benchSite has one item of each of the two judges, which ada reviews, blind or not.
func benchSite(t testing.TB, blind string, traces ...judge.Trace) *site {
	t.Helper()
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	s.changePolicy(func(p *judge.Policy) { p.Blind = blind })
	s.load(traces...)
	rows, _, err := s.store.ListEvaluations(context.Background(), store.Operator("test"), store.EvaluationFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.Status == judge.Accepted {
			if err := s.store.RequestReview(context.Background(), store.Operator("test"), r.ID, "look"); err != nil {
				t.Fatal(err)
			}
		}
	}
	return s
}

// TestBlindBenchTellsNothing: before the first answer no byte of the desk holds
// what the report says, while everything can be ruled on; after it both are there.
func TestBlindBenchTellsNothing(t *testing.T) {
	for _, tt := range []struct {
		trace   judge.Trace
		secrets []string
		field   string // of a ruling
		values  url.Values
		marks   string // what only the open desk draws
	}{
		{referenceTrace(), referenceSecrets, "ruling.difference/1", url.Values{"ruling.difference/1": {"material"}, "ruling.class": {"substantive_difference"}, "verdict": {"fail"}}, ".unplaced"},
		{logicTrace(), logicSecrets, "ruling.dimension/premise_support", url.Values{"ruling.dimension/premise_support": {"4"}, "verdict": {"fail"}}, "a.flag"},
	} {
		t.Run(tt.trace.ID, func(t *testing.T) {
			s := benchSite(t, judge.BlindAlways, tt.trace)
			v := s.signIn("ada@example.org")
			r := v.post("/queue/next", url.Values{})
			path := r.Request.URL.Path
			main := textOf(find(t, r.body, "main")[0])
			for _, secret := range tt.secrets {
				if strings.Contains(r.body, secret) {
					t.Errorf("the sealed desk tells %q", secret)
				}
			}
			for _, sign := range []string{".judged", ".by-judge", "abbr.pencil", ".unplaced", ".violation", ".flag"} {
				if n := find(t, r.body, "main "+sign); len(n) > 0 {
					t.Errorf("the sealed desk draws %s: %s", sign, textOf(n[0]))
				}
			}
			if len(find(t, r.body, `input[name="`+tt.field+`"]:not([disabled])`)) == 0 {
				t.Fatalf("the sealed desk takes no ruling in %s: %s", tt.field, main)
			}
			if r := v.post(path+"/decision", tt.values); r.StatusCode != http.StatusOK {
				t.Fatalf("commit: %s %s", r.Status, textOf(find(t, r.body, "main")[0]))
			}
			open := v.get(path).body
			if !strings.Contains(open, "walrus") || len(find(t, open, tt.marks)) == 0 || len(find(t, open, ".judged")) == 0 {
				t.Errorf("the open desk lacks the judge's rulings: %s", textOf(find(t, open, "main")[0]))
			}
		})
	}
}

// TestBrowserReferenceBench: a difference ruled otherwise by keyboard bars
// confirming; the override keeps the rulings.
func TestBrowserReferenceBench(t *testing.T) {
	s := benchSite(t, judge.BlindNever, referenceTrace())
	ctx := browser(t)
	s.browserSignIn(ctx, "ada@example.org")
	press(t, ctx, "g")
	pressAndLoad(t, ctx, "n")
	waitFor(t, ctx, `location.pathname.startsWith("/reviews/") && document.querySelectorAll("[data-unit]").length > 2`)
	axeBoth(t, ctx, "reference")

	if got := eval[string](t, ctx, `[...document.querySelectorAll(".differences .telling small")].map((s) => s.textContent).join(" ")`); !strings.Contains(got, "date") || !strings.Contains(got, "unit") || !strings.Contains(got, "negation") {
		t.Errorf("kinds picked out: %q", got)
	}
	shown := `(name) => getComputedStyle(document.querySelector(name)).display !== "none"`
	if !eval[bool](t, ctx, `!(`+shown+`)(".merged") && (`+shown+`)(".diff>section")`) {
		t.Error("at first the two texts are not what is shown")
	}
	eval[bool](t, ctx, `document.querySelector("[name=view][value=merged]").click(); true`)
	if !eval[bool](t, ctx, `(`+shown+`)(".merged") && !(`+shown+`)(".diff>section")`) {
		t.Error("Merged does not show the merged text alone")
	}

	change := func() {
		press(t, ctx, "2") // the first difference: material
		press(t, ctx, "j")
		press(t, ctx, "1")
		for range 8 { // to the class, which is last
			press(t, ctx, "j")
		}
		press(t, ctx, "4")
		waitFor(t, ctx, `document.querySelector("[name='ruling.class']:checked")?.value === "substantive_difference"`)
		if got := eval[string](t, ctx, `document.querySelector("[name='ruling.difference/1']:checked")?.value`); got != "material" {
			t.Errorf("difference 1 is %q", got)
		}
	}
	change()
	waitFor(t, ctx, `document.querySelector("[name=action][value=confirm]").disabled && document.querySelector("#hint").textContent.includes("can no longer be confirmed")`)
	kept := s.overrideByKeyboard(t, ctx, "fail")
	want := []judge.Ruling{{Part: "class", Value: "substantive_difference"}, {Part: "difference/1", Value: "material"}, {Part: "difference/2", Value: "wording"}}
	if diff := cmp.Diff(want, kept.Rulings); diff != "" {
		t.Errorf("rulings (-want +got)\n%s", diff)
	}
	if len(kept.Findings) != 1 || kept.Findings[0].Class != "difference" {
		t.Errorf("findings %+v", kept.Findings)
	}
}

// TestBrowserLogicBench: dimensions by digits, findings by U and R, a violation of
// one's own; the way from a finding to its words and back.
func TestBrowserLogicBench(t *testing.T) {
	s := benchSite(t, judge.BlindNever, logicTrace())
	ctx := browser(t)
	s.browserSignIn(ctx, "ada@example.org")
	press(t, ctx, "g")
	pressAndLoad(t, ctx, "n")
	waitFor(t, ctx, `location.pathname.startsWith("/reviews/") && document.querySelectorAll("[data-unit]").length > 4`)
	axeBoth(t, ctx, "logic")

	// Both violations quote “Willy is a whale”, which is one stretch of both.
	if got := eval[string](t, ctx, `[...document.querySelectorAll("mark.violation")].map((m) => m.dataset.claim + "=" + m.textContent).join("|")`); got != "v2=So |v2 v1=Willy is a whale|v1=, certainly" {
		t.Errorf("marked words: %q", got)
	}
	change := func() {
		press(t, ctx, "4") // premises: the judge gave 5
		press(t, ctx, "j")
		press(t, ctx, "1")
		press(t, ctx, "j") // the finding under it
		if got := eval[string](t, ctx, `[...document.querySelectorAll("mark.violation.here")].map((m) => m.textContent).join("")`); got != "So Willy is a whale" {
			t.Errorf("J to a finding marks %q", got)
		}
		press(t, ctx, "r")
		waitFor(t, ctx, `document.querySelector("[name='ruling.violation/2']:checked")?.value === "reject"`)
	}
	change()
	waitFor(t, ctx, `document.querySelector("[name=action][value=confirm]").disabled && document.querySelector("#hint").textContent.includes("can no longer be confirmed")`)
	eval[bool](t, ctx, `document.querySelector("a.flag[href='#v1']").click(); true`)
	waitFor(t, ctx, `document.querySelector("#v1.here") !== null`)
	press(t, ctx, "u") // the flag leads to its finding
	waitFor(t, ctx, `document.querySelector("[name='ruling.violation/1']:checked")?.value === "uphold"`)
	for range 8 {
		press(t, ctx, "k")
	}
	change()
	eval[bool](t, ctx, `document.querySelector("#a1").open = true; document.querySelector("[name='ruling.add/1'][value=minor]").click();
		document.querySelector("[name='added.1.step']").value = "3"; document.querySelector("[name='added.1.dimension']").value = "conclusion_alignment"; true`)
	if err := chromedp.Do(ctx, chromedp.SendKeys(chromedp.ID("added-1-quote"), "certainly"), chromedp.SendKeys(chromedp.ID("added-1-explanation"), "too strong")); err != nil {
		t.Fatal(err)
	}
	press(t, ctx, "\x1b")
	kept := s.overrideByKeyboard(t, ctx, "fail")
	want := []judge.Ruling{
		ruling.Added{Severity: "minor", Dimension: "conclusion_alignment", Step: 3, Quote: "certainly", Explanation: "too strong"}.Ruling(1),
		{Part: "dimension/inference_rule_adherence", Value: "1"}, {Part: "dimension/premise_support", Value: "4"},
		{Part: "violation/1", Value: "uphold"}, {Part: "violation/2", Value: "reject"},
	}
	if diff := cmp.Diff(want, kept.Rulings); diff != "" {
		t.Errorf("rulings (-want +got)\n%s", diff)
	}
	var found []string
	for _, f := range kept.Findings {
		found = append(found, f.Explanation)
	}
	if diff := cmp.Diff([]string{"the walrus in the middle", "too strong"}, found); diff != "" {
		t.Errorf("findings (-want +got)\n%s", diff)
	}
}

// overrideByKeyboard signs an override of what was ruled on the page, and is what
// was kept of it.
func (s *site) overrideByKeyboard(t *testing.T, ctx context.Context, verdict string) (kept store.Decision) {
	t.Helper()
	press(t, ctx, "o")
	waitFor(t, ctx, `document.querySelector("input[name=action]:checked")?.value === "override"`)
	eval[bool](t, ctx, `document.querySelector("#decision [name=verdict][value=`+verdict+`]").click(); document.querySelector("[name=reason_code]").selectedIndex = 1; true`)
	if err := chromedp.Do(ctx, chromedp.SendKeys(chromedp.CSS("textarea[name=comment]"), "It would lose the right.")); err != nil {
		t.Fatal(err)
	}
	pressAndLoad(t, ctx, "\r", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	waitFor(t, ctx, `document.body.innerText.includes("Signed")`)
	if err := s.store.EachDecision(context.Background(), store.Operator("test"), store.EvaluationFilter{}, func(d store.Decision) error { kept = d; return nil }); err != nil {
		t.Fatal(err)
	}
	return kept
}

// axeBoth runs axe-core in light and wide, dark and narrow, and leaves the page wide.
func axeBoth(t *testing.T, ctx context.Context, where string) {
	t.Helper()
	for _, as := range looks {
		if err := chromedp.Do(ctx, chromedp.EmulateViewport(as.width, 900)); err != nil {
			t.Fatal(err)
		}
		eval[bool](t, ctx, `document.documentElement.dataset.theme = "`+as.theme+`"; for (const d of document.querySelectorAll("main details")) d.open = true; true`)
		axeBy(t, ctx, fmt.Sprintf("%s, %s, %d px", where, as.theme, as.width), as.rules)
		if over := eval[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); over > 0 {
			t.Errorf("%s, %d px: scrolls sideways by %d px", where, as.width, over)
		}
	}
	eval[bool](t, ctx, `for (const d of document.querySelectorAll("main details")) d.open = false; true`)
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(1440, 900)); err != nil {
		t.Fatal(err)
	}
}
