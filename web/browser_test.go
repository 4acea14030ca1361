package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// browser is a real Chromium. Where there is none the test is left out, but
// never with CI=true.
func browser(t testing.TB) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("no chromium on this machine, and CI=true: nothing may be left out")
		}
		t.Skip("left out: no chromium on this machine; .ci/setup installs it on Debian and Ubuntu")
	}
	ctx, cancel := chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-background-networking", true), chromedp.Flag("disable-component-update", true),
		chromedp.Flag("disable-sync", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-dev-shm-usage", true),
		// While one page fades into the next, a click that comes at once may be lost.
		chromedp.Flag("force-prefers-reduced-motion", true),
		chromedp.WindowSize(1440, 900), chromedp.WSURLReadTimeout(time.Minute),
	))
	t.Cleanup(cancel)
	ctx, stop := context.WithTimeout(ctx, 8*time.Minute)
	t.Cleanup(stop)
	return ctx
}

// eval runs an expression in the page.
func eval[T any](t testing.TB, ctx context.Context, expression string) T {
	t.Helper()
	got, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("evaluate %s: %v", expression, err)
	}
	return got
}

// visit loads a page and waits for it.
func visit(t testing.TB, ctx context.Context, address string) {
	t.Helper()
	for {
		err := chromedp.Do(ctx, chromedp.Navigate(address))
		if err == nil {
			return
		}
		// The page that is left may go on by itself in the same moment, which ends
		// this; it goes on once.
		if ctx.Err() != nil || !strings.Contains(err.Error(), "net::ERR_ABORTED") {
			t.Fatalf("go to %s: %v", address, err)
		}
	}
}

// press sends keys to the page as a keyboard does.
func press(t testing.TB, ctx context.Context, keys string, opts ...chromedp.KeyOption) {
	t.Helper()
	if err := chromedp.Do(ctx, chromedp.KeyEvent(keys, opts...)); err != nil {
		t.Fatalf("press %q: %v", keys, err)
	}
}

// pressAndLoad sends a key that leads to another page.
func pressAndLoad(t testing.TB, ctx context.Context, keys string, opts ...chromedp.KeyOption) {
	t.Helper()
	if _, err := chromedp.RunResponse(ctx, chromedp.KeyEvent(keys, opts...)); err != nil {
		t.Fatalf("press %q: %v", keys, err)
	}
}

// waitFor polls the page until an expression holds.
func waitFor(t testing.TB, ctx context.Context, expression string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		// Between two pages there is nothing to evaluate in: try again.
		if ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression)); err == nil && ok {
			return
		}
	}
	t.Fatalf("never came true: %s\npage: %.2000s", expression, eval[string](t, ctx, "document.body.innerText"))
}

func bodyText(t *testing.T, ctx context.Context) string {
	t.Helper()
	return eval[string](t, ctx, "document.body.innerText")
}

// TestBrowserReview is a reviewer's way through one item by keyboard: sign in,
// claim, answer blind, see the verdict, keep the answer with a reason, and see
// the result and the counts change.
func TestBrowserReview(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	s.user("lea@example.org", store.Lead)
	s.load(citationTrace("t1"), citationTrace("t2"))
	ctx := browser(t)

	visit(t, ctx, s.http.URL+"/queue")
	waitFor(t, ctx, `location.pathname === "/login"`)
	if err := chromedp.Do(ctx, chromedp.SendKeys(chromedp.ID("email"), "ada@example.org"), chromedp.SendKeys(chromedp.CSS("input[type=password]"), password)); err != nil {
		t.Fatal(err)
	}
	pressAndLoad(t, ctx, "\r")
	waitFor(t, ctx, `location.pathname === "/queue"`)
	if text := bodyText(t, ctx); !strings.Contains(text, "2") || strings.Contains(text, "Misattribution") {
		t.Errorf("queue before: %s", text)
	}

	press(t, ctx, "g")
	pressAndLoad(t, ctx, "n")
	waitFor(t, ctx, `location.pathname.startsWith("/reviews/")`)
	first := eval[string](t, ctx, "location.pathname")
	source := eval[string](t, ctx, "document.documentElement.outerHTML")
	if word := tells(source); word != "" && word != "unsupported" {
		t.Errorf("the page's source tells %q before the first answer", word)
	}
	if !strings.Contains(bodyText(t, ctx), "sealed") {
		t.Error("the desk does not say that the verdict is sealed")
	}
	press(t, ctx, "j") // the second citation
	waitFor(t, ctx, `document.querySelectorAll("details.citation")[1].open`)
	press(t, ctx, "!", chromedp.KeyModifiers(chromedp.ModifierShift)) // Shift+1: pass
	waitFor(t, ctx, `document.querySelector("input[name=verdict]:checked")?.value === "pass"`)
	pressAndLoad(t, ctx, "\r", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	waitFor(t, ctx, `document.querySelector("input[name=action][value=keep]") !== null`)
	if text := bodyText(t, ctx); !strings.Contains(text, "Fail") && !strings.Contains(text, "Borderline") {
		t.Errorf("the judge's verdict is not revealed: %s", text)
	}
	press(t, ctx, "c") // keep mine
	waitFor(t, ctx, `document.querySelector("input[name=action]:checked")?.value === "keep"`)
	if err := chromedp.Do(ctx, chromedp.SetValue(chromedp.CSS("[name=reason_code]"), "too_strict"),
		chromedp.SendKeys(chromedp.CSS("textarea[name=comment]"), "It is common knowledge.")); err != nil {
		t.Fatal(err)
	}
	pressAndLoad(t, ctx, "\r", chromedp.KeyModifiers(chromedp.ModifierCtrl))
	// Countersigning goes on to the next item, where the last one can be undone.
	waitFor(t, ctx, `document.body.innerText.includes("Signed and recorded") && document.querySelector("form[action$='/undo']") !== null`)
	if now := eval[string](t, ctx, "location.pathname"); now == first || !strings.HasPrefix(now, "/reviews/") {
		t.Errorf("countersigning led from %s to %s, not to the next item", first, now)
	}

	visit(t, ctx, s.http.URL+"/")
	if text := bodyText(t, ctx); !strings.Contains(text, "you hold 1 of them") {
		t.Errorf("overview after: %s", text)
	}
	rows, _, err := s.store.ListEvaluations(context.Background(), store.Operator("test"), store.EvaluationFilter{Project: "default", Status: judge.Final})
	if err != nil || len(rows) != 1 || rows[0].Result == nil || *rows[0].Result != (judge.Result{Verdict: judge.Pass, Source: judge.ByHuman}) {
		t.Fatalf("final evaluations = %+v (%v)", rows, err)
	}
	visit(t, ctx, s.http.URL+"/evaluations/"+rows[0].ID)
	if text := bodyText(t, ctx); !strings.Contains(text, "It is common knowledge.") {
		t.Errorf("evaluation after: %s", text)
	}
}

// TestBrowserKeysWhileTyping: letters are letters in a text field.
func TestBrowserKeysWhileTyping(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	s.load(citationTrace("t1"), citationTrace("t2"))
	ctx := browser(t)
	s.browserSignIn(ctx, "ada@example.org")
	press(t, ctx, "g")
	pressAndLoad(t, ctx, "n")
	waitFor(t, ctx, `location.pathname.startsWith("/reviews/")`)
	at := eval[string](t, ctx, "location.pathname")
	press(t, ctx, "/")
	press(t, ctx, "n")
	// The driver types the slash itself too, which a keyboard would not.
	if got := strings.TrimPrefix(eval[string](t, ctx, `document.querySelector("#find-text").value`), "/"); got != "n" {
		t.Errorf("the field that finds words holds %q, want n", got)
	}
	if now := eval[string](t, ctx, "location.pathname"); now != at {
		t.Errorf("a letter in a field led to %s", now)
	}
	press(t, ctx, "\x1b")
	pressAndLoad(t, ctx, "n") // skip
	waitFor(t, ctx, `location.pathname.startsWith("/reviews/") && location.pathname !== "`+at+`"`)
}

func (s *site) browserSignIn(ctx context.Context, email string) {
	s.t.Helper()
	u, err := s.store.UserByEmail(ctx, email)
	if err != nil {
		s.t.Fatal(err)
	}
	link, err := s.web.DemoLink(u.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := chromedp.Do(ctx, chromedp.Navigate(s.http.URL+link)); err != nil {
		s.t.Fatal(err)
	}
}

// TestBrowserAccessibility runs axe-core on every page, light and dark, wide
// and narrow, and finds that no page scrolls sideways at 390 px.
func TestBrowserAccessibility(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	lea, _ := s.user("lea@example.org", store.Lead)
	s.user("max@example.org", store.Admin)
	var traces []judge.Trace
	for i := range 60 {
		tr := recordedTrace(fmt.Sprintf("r%d", i), []string{"Yes", "Yes", "No"}[i%3])
		tr.Run = "nightly"
		tr.Labels = []judge.HumanLabel{
			{Judge: "answer-equivalence", Label: []string{"Yes", "No"}[i%2], Reviewer: "annotator1"},
			{Judge: "answer-equivalence", Label: []string{"Yes", "Yes", "No", "No"}[i%4], Reviewer: "annotator2"},
			{Judge: "answer-equivalence", Label: []string{"Yes", "No"}[i%2], Reviewer: "panel", Adjudicated: true},
		}
		traces = append(traces, tr)
	}
	s.load(append(traces, citationTrace("t1"), citationTrace("t2"), citationTrace("t3"),
		judge.Trace{ID: "eq", Domain: "legal", Question: "What is due?", Output: "The sum of 400 euros.", Reference: "Enough money.", Judges: []string{"reference"}})...)

	ctx := browser(t)
	s.browserSignIn(ctx, "ada@example.org")
	visit(t, ctx, s.http.URL+"/queue/next")
	sealed := eval[string](t, ctx, "location.pathname")
	visit(t, ctx, s.http.URL+"/queue/next")
	revealed := eval[string](t, ctx, "location.pathname")
	if _, err := chromedp.RunResponse(ctx, chromedp.Evaluate[chromedp.Void](
		`document.querySelector("input[name=verdict][value=pass]").checked = true; document.querySelector("#decision").requestSubmit()`)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, ctx, ready+` && document.querySelector("input[name=action][value=keep], button[name=action][value=keep]") !== null`)
	reviewerPages := []string{"/", "/queue", "/queue?judge=nope", "/queue?view=mine", "/queue?state=free&overdue=1", sealed, revealed, "/evaluations", "/traces/t1", "/help", "/preferences"}
	leadPages := []string{"/", "/queue", "/queue?domain=medical&lead=sealed", "/queue?view=mine", "/members", "/members/" + lea.ID, "/calibration", "/calibration/answer-equivalence", "/calibration/citations", "/calibration/answer-equivalence/thresholds", "/calibration/answer-equivalence/plan", "/audit?verify=1", "/runs",
		"/runs/nightly", "/runs/nightly/release", "/policy", "/judges/answer-equivalence/health", "/judges/answer-equivalence/rerun?kind=version&engine=rules&cost=show", "/judges", "/judges/answer-equivalence", "/judges/citations", "/import", "/evaluations?verdict=pass", "/traces/eq", "/nowhere", sealed,
		"/evaluations/" + finalEvaluation(t, s)}

	check := func(who, path string) {
		t.Helper()
		visit(t, ctx, s.http.URL+path)
		for _, as := range looks {
			if err := chromedp.Do(ctx, chromedp.EmulateViewport(as.width, 900)); err != nil {
				t.Fatal(err)
			}
			eval[bool](t, ctx, `document.documentElement.dataset.theme = "`+as.theme+`"; true`)
			axeBy(t, ctx, fmt.Sprintf("%s, %s, %s, %d px", who, path, as.theme, as.width), as.rules)
			if over := eval[int](t, ctx, `document.documentElement.scrollWidth - document.documentElement.clientWidth`); as.width == 390 && over > 0 {
				t.Errorf("%s, %s, %s: scrolls sideways by %d px", who, path, as.theme, over)
			}
		}
	}
	for _, path := range reviewerPages {
		check("reviewer", path)
	}
	s.drifted()
	s.browserSignIn(ctx, "lea@example.org")
	for _, path := range leadPages {
		check("lead", path)
	}
	for _, panel := range []string{"bulk-priority", "bulk-withdraw", "bulk-due", "bulk-blind"} {
		visit(t, ctx, s.http.URL+"/queue")
		eval[bool](t, ctx, `document.querySelector("[name=item]").click(); document.querySelector("#`+panel+`").showPopover(); true`)
		axeClean(t, ctx, "the panel "+panel)
	}
	s.browserSignIn(ctx, "max@example.org")
	for _, path := range []string{"/members", "/members/" + lea.ID} {
		check("admin", path)
	}
	visit(t, ctx, s.http.URL+"/")
	eval[bool](t, ctx, `document.querySelector("form[action='/logout']").requestSubmit(); true`)
	waitFor(t, ctx, `location.pathname === "/login"`)
	check("nobody", "/login")
}

// looks are the two ways in which every page is looked at. Colours depend on the
// theme and reflow on the width, not on each other: two of the four combinations
// show both. The first look goes by every rule; the second by those whose answer a
// theme or a width can change, because structure stays the same.
var looks = []struct {
	theme string
	width int64
	rules string
}{
	{"light", 1440, ""},
	{"dark", 390, `, runOnly: ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "aria-hidden-focus", "target-size", "empty-table-header", "meta-viewport"]`},
}

// axeClean runs axe-core on the page as it stands.
func axeClean(t *testing.T, ctx context.Context, where string) {
	t.Helper()
	axeBy(t, ctx, where, "")
}

// axeBy runs axe-core with more options, as JavaScript has them.
func axeBy(t *testing.T, ctx context.Context, where, options string) {
	t.Helper()
	axe, err := os.ReadFile("testdata/axe/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	if !eval[bool](t, ctx, `"axe" in window`) {
		if err := chromedp.Do(ctx, chromedp.Evaluate[chromedp.Void](string(axe))); err != nil {
			t.Fatalf("load axe: %v", err)
		}
	}
	found := eval[string](t, ctx, `axe.run(document, {resultTypes: ["violations"]`+options+`}).then(r => JSON.stringify(r.violations.map(v =>
		({id: v.id, help: v.help, nodes: v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + " " + (n.any[0]?.message || n.all[0]?.message || ""))}))))`)
	var violations []struct {
		ID, Help string
		Nodes    []string
	}
	if err := json.Unmarshal([]byte(found), &violations); err != nil {
		t.Fatal(err)
	}
	for _, v := range violations {
		t.Errorf("%s: %s: %s\n\t%s", where, v.ID, v.Help, strings.Join(v.Nodes, "\n\t"))
	}
}

func finalEvaluation(t *testing.T, s *site) string {
	t.Helper()
	rows, _, err := s.store.ListEvaluations(context.Background(), store.Operator("test"), store.EvaluationFilter{Project: "default", Status: judge.Final})
	if err != nil || len(rows) == 0 {
		t.Fatalf("no final evaluation: %v", err)
	}
	return rows[0].ID
}

// TestBrowserHostileTrace opens a trace full of scripts in a browser that
// would run them.
func TestBrowserHostileTrace(t *testing.T) {
	s := newSite(t)
	s.user("ada@example.org", store.Reviewer)
	tr := citationTrace("t1")
	tr.Question = hostile
	tr.Output = "1. " + hostile + " [1].\n2. " + hostile + " [2]."
	tr.Sources = []judge.Source{{ID: "1", Title: hostile, Text: hostile}}
	s.load(tr)
	ctx := browser(t)
	s.browserSignIn(ctx, "ada@example.org")
	for _, path := range []string{"/", "/queue", "/queue/next", "/traces/t1"} {
		visit(t, ctx, s.http.URL+path)
		if eval[bool](t, ctx, `"hacked" in window`) {
			t.Errorf("%s ran a script of the trace", path)
		}
		if !strings.Contains(bodyText(t, ctx), "window.hacked=1") {
			t.Errorf("%s does not show the trace's text", path)
		}
	}
}
