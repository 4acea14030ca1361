package web_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// person is somebody's browser: cookies and storage of its own in the browser of
// the test, signed in.
func (s *site) person(t *testing.T, in context.Context, email string) context.Context {
	t.Helper()
	ctx, cancel := chromedp.NewContext(in, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	s.browserSignIn(ctx, email)
	return ctx
}

// tab is another page in somebody's browser.
func tab(t *testing.T, of context.Context) context.Context {
	t.Helper()
	ctx, cancel := chromedp.NewContext(of)
	t.Cleanup(cancel)
	return ctx
}

// item loads a trace that waits for a person, and gives its review's id.
func (s *site) item(t *testing.T, tr judge.Trace) string {
	t.Helper()
	s.load(tr)
	rows, _, err := s.store.ListEvaluations(context.Background(), store.Operator("test"), store.EvaluationFilter{Project: "default"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.TraceID == tr.ID && r.ReviewID != "" {
			return r.ReviewID
		}
	}
	t.Fatalf("%s waits for nobody", tr.ID)
	return ""
}

const ready = `document.readyState === "complete"`

// open shows an item's desk; claim takes it from there, by its button.
func (s *site) open(t *testing.T, ctx context.Context, review string) {
	t.Helper()
	visit(t, ctx, s.http.URL+"/reviews/"+review)
	waitFor(t, ctx, ready)
}

func (s *site) claimItem(t *testing.T, ctx context.Context, review string) {
	t.Helper()
	s.open(t, ctx, review)
	clickAndLoad(t, ctx, `form[action$="/claim"] button`)
	waitFor(t, ctx, ready+` && document.querySelector("#decision") !== null`)
}

// patience is how long one step of a page may take before the test says which.
const patience = 20 * time.Second

// click presses what a selector finds as a mouse does.
func click(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	step(t, ctx, "click "+selector, func(ctx context.Context) error { return chromedp.Do(ctx, chromedp.Click(chromedp.CSS(selector))) })
}

func clickAndLoad(t *testing.T, ctx context.Context, selector string) {
	t.Helper()
	step(t, ctx, "click "+selector+" and load", func(ctx context.Context) error {
		_, err := chromedp.RunResponse(ctx, chromedp.Click(chromedp.CSS(selector)))
		return err
	})
}

// signAndLoad presses the key that sends the desk's form.
func signAndLoad(t *testing.T, ctx context.Context) {
	t.Helper()
	step(t, ctx, "Ctrl+Enter and load", func(ctx context.Context) error {
		_, err := chromedp.RunResponse(ctx, chromedp.KeyEvent("\r", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
		return err
	})
}

// sign presses that key where no other page follows.
func sign(t *testing.T, ctx context.Context) {
	t.Helper()
	press(t, ctx, "\r", chromedp.KeyModifiers(chromedp.ModifierCtrl))
}

func step(t *testing.T, ctx context.Context, what string, do func(context.Context) error) {
	t.Helper()
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := do(limited); err != nil {
		t.Fatalf("%s: %v\npage: %.1500s", what, err, bodyText(t, ctx))
	}
}

// override chooses to override with a verdict and a reason, and types a comment; the
// focus stays in the comment.
func override(t *testing.T, ctx context.Context, comment string) {
	t.Helper()
	click(t, ctx, "label:has(> [name=action][value=override])")
	click(t, ctx, "#decision label:has(> [name=verdict][value=pass])")
	eval[bool](t, ctx, `document.querySelector("[name=reason_code]").value = "too_strict"; true`)
	write(t, ctx, comment)
}

// write types at the end of the comment, and does not leave it.
func write(t *testing.T, ctx context.Context, text string) {
	t.Helper()
	eval[bool](t, ctx, `{ const c = document.querySelector("#comment"); c.setSelectionRange(c.value.length, c.value.length); true }`)
	step(t, ctx, "type", func(ctx context.Context) error {
		return chromedp.Do(ctx, chromedp.SendKeys(chromedp.ID("comment"), text))
	})
}

// leaveField moves the focus on, as Tab does.
func leaveField(t *testing.T, ctx context.Context) {
	t.Helper()
	press(t, ctx, "\t")
}

const (
	commentIs = `document.querySelector("#comment")?.value === `
	troubleIs = `!document.querySelector("#draft-trouble").hidden && document.querySelector("#draft-trouble").innerText.includes`
	quiet     = `document.querySelector("#draft-trouble").hidden`
)

// draftComment is what the server keeps of a person's comment.
func (s *site) draftComment(t *testing.T, who store.User, review string) string {
	t.Helper()
	d, err := s.store.GetDraft(context.Background(), who.Actor(), review)
	if err != nil {
		t.Fatal(err)
	}
	if d == nil {
		return ""
	}
	return d.Comment
}

func (s *site) draftBecomes(t *testing.T, who store.User, review, comment string) {
	t.Helper()
	eventually(t, fmt.Sprintf("the server keeps %q", comment), func() bool { return s.draftComment(t, who, review) == comment })
}

// decisionsOn are all decisions on an item, in order.
func (s *site) decisionsOn(t *testing.T, review string) []store.Decision {
	t.Helper()
	r, err := s.store.GetReview(context.Background(), s.lead.Actor(), review)
	if err != nil {
		t.Fatal(err)
	}
	return r.Decisions
}

// offline cuts a page off from the network until the test ends, or brings it back.
func offline(t *testing.T, ctx context.Context, is bool) {
	t.Helper()
	if is {
		t.Cleanup(func() { offline(t, ctx, false) })
	}
	rules := []*network.Conditions{}
	if is {
		rules = append(rules, &network.Conditions{Offline: true, DownloadThroughput: -1, UploadThroughput: -1})
	}
	if _, err := chromedp.Call(ctx, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{MatchedNetworkConditions: rules}); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.OverrideNetworkState, network.OverrideNetworkStateParams{Offline: is, DownloadThroughput: -1, UploadThroughput: -1}); err != nil {
		t.Fatal(err)
	}
}

// TestBrowserRecovery: whatever happens to a browser, a claim or a network while
// somebody works on an item, no word is lost, nothing is decided twice, and each is
// told plainly what happened. All parts share a site and a browser.
func TestBrowserRecovery(t *testing.T) {
	s := newSite(t)
	s.web.Beat(20*time.Millisecond, time.Hour)
	var cut atomic.Bool  // the answer to the next decision is lost on its way
	var down atomic.Bool // no draft reaches the server, also none that a page sends as it goes
	badNetwork := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() && strings.HasSuffix(r.URL.Path, "/draft") {
			panic(http.ErrAbortHandler)
		}
		if !strings.HasSuffix(r.URL.Path, "/decision") || !cut.CompareAndSwap(true, false) {
			s.web.ServeHTTP(w, r)
			return
		}
		s.web.ServeHTTP(httptest.NewRecorder(), r)
		// Chromium sends again by itself what was answered with nothing at all.
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	s.between.Store(&badNetwork)
	ada, _ := s.user("ada@example.org", store.Reviewer)
	ben, _ := s.user("ben@example.org", store.Reviewer)
	cy, _ := s.user("cy@example.org", store.Reviewer)
	s.lead, _ = s.user("lea@example.org", store.Lead)
	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindNever })
	all := browser(t)
	if err := chromedp.Do(all); err != nil {
		t.Fatal(err)
	}
	adas, bens := s.person(t, all, "ada@example.org"), s.person(t, all, "ben@example.org")

	t.Run("two race for one item", func(t *testing.T) {
		id := s.item(t, citationTrace("race"))
		s.open(t, adas, id)
		s.open(t, bens, id)
		clickAndLoad(t, adas, `form[action$="/claim"] button`)
		waitFor(t, adas, ready+` && document.querySelector("#decision") !== null`)
		clickAndLoad(t, bens, `form[action$="/claim"] button`)
		waitFor(t, bens, ready+` && document.body.innerText.includes("ada holds this item now. Nothing of yours was recorded.") && document.querySelector("#decision") === null`)

		// Both decide: ada's claim has run out, and ben has taken the item over.
		override(t, adas, "Ada’s words.")
		s.clock.advance(31 * time.Minute)
		waitFor(t, adas, of("innerText", "#lease-note")+`.includes("Your claim has ended")`)
		s.claimItem(t, bens, id)
		waitFor(t, adas, of("innerText", "#lease-note")+`.includes("ben holds this item now. You can read it; you can’t sign it. What you typed is kept.")`)
		signAndLoad(t, adas)
		waitFor(t, adas, ready+` && document.body.innerText.includes("ben holds this item now. Nothing of yours was recorded. What you typed is kept as your draft.")`)
		waitFor(t, adas, of("innerText", ".kept-draft")+`.includes("Ada’s words.")`)
		click(t, bens, "label:has(> [name=action][value=confirm])")
		clickAndLoad(t, bens, "button[name=then]")
		waitFor(t, bens, ready+` && document.body.innerText.includes("Signed and recorded")`)

		// What ada has can be a second opinion, kept and marked.
		s.open(t, adas, id)
		waitFor(t, adas, `document.body.innerText.includes("ben signed first") && `+commentIs+`"Ada’s words."`)
		signAndLoad(t, adas)
		waitFor(t, adas, ready+` && document.body.innerText.includes("Kept as a second opinion. The result stays as it is.")`)
		got := s.decisionsOn(t, id)
		if len(got) != 2 || got[0].UserID != ben.ID || got[0].OverQuota || got[1].UserID != ada.ID || !got[1].OverQuota || got[1].Comment != "Ada’s words." {
			t.Errorf("decisions: %+v", got)
		}
	})

	t.Run("a laptop is closed with a claim", func(t *testing.T) {
		id := s.item(t, citationTrace("laptop"))
		s.claimItem(t, adas, id)
		override(t, adas, "Before the lid closed.")
		// A closed laptop shows no page and hears nothing.
		eval[bool](t, adas, `Object.defineProperty(document, "visibilityState", {value: "hidden", configurable: true}); dispatchEvent(new Event("visibilitychange")); true`)
		s.draftBecomes(t, ada, id, "Before the lid closed.")
		offline(t, adas, true)
		s.clock.advance(31 * time.Minute)
		s.claimItem(t, bens, id)
		offline(t, adas, false)
		eval[bool](t, adas, `delete document.visibilityState; dispatchEvent(new Event("visibilitychange")); true`)
		waitFor(t, adas, of("innerText", "#lease-note")+`.includes("ben holds this item now. You can read it; you can’t sign it. What you typed is kept.")`)
		waitFor(t, adas, commentIs+`"Before the lid closed."`)
		clickAndLoad(t, adas, "#lease-note a")
		waitFor(t, adas, ready+` && document.body.innerText.includes("ben is reviewing this now")`)
		waitFor(t, adas, of("innerText", ".kept-draft")+`.includes("Before the lid closed.")`)

		// The page is gone altogether, and ben gives the item back: it goes on as it was.
		visit(t, adas, "about:blank")
		clickAndLoad(t, bens, `form[action$="/release"] button`)
		s.claimItem(t, adas, id)
		waitFor(t, adas, commentIs+`"Before the lid closed." && document.querySelector("[name=action]:checked").value === "override" && document.querySelector("#decision [name=verdict]:checked").value === "pass"`)
	})

	t.Run("words that reached no server while another settled the item", func(t *testing.T) {
		id := s.item(t, citationTrace("unsent"))
		s.claimItem(t, adas, id)
		down.Store(true)
		override(t, adas, "Typed without a network.")
		leaveField(t, adas)
		waitFor(t, adas, troubleIs+`("What you typed is kept in this browser.")`)
		visit(t, adas, "about:blank")
		down.Store(false)
		s.clock.advance(31 * time.Minute)
		s.claimItem(t, bens, id)

		s.open(t, adas, id) // ben holds it: her words go to the server, and are shown
		waitFor(t, adas, `document.querySelector(".kept-draft")?.innerText.includes("Typed without a network.")`)
		s.draftBecomes(t, ada, id, "Typed without a network.")
		click(t, bens, "label:has(> [name=action][value=confirm])")
		clickAndLoad(t, bens, "button[name=then]")
		waitFor(t, bens, ready+` && document.body.innerText.includes("Signed and recorded")`)
		s.open(t, adas, id)
		waitFor(t, adas, `document.body.innerText.includes("ben signed first") && `+commentIs+`"Typed without a network."`)
	})

	t.Run("the network is lost while typing", func(t *testing.T) {
		id := s.item(t, citationTrace("network"))
		s.claimItem(t, adas, id)
		override(t, adas, "First half, ")
		leaveField(t, adas)
		s.draftBecomes(t, ada, id, "First half, ")
		offline(t, adas, true)
		write(t, adas, "second half.")
		leaveField(t, adas)
		waitFor(t, adas, troubleIs+`("The server could not be reached. What you typed is kept in this browser. It is saved by itself")`)
		if got := eval[string](t, adas, `JSON.stringify(localStorage)`); !strings.Contains(got, "second half.") {
			t.Errorf("this browser keeps %s", got)
		}
		if got := s.draftComment(t, ada, id); got != "First half, " {
			t.Errorf("the server has %q", got)
		}
		axeClean(t, adas, "a draft that was not saved")
		offline(t, adas, false)
		s.draftBecomes(t, ada, id, "First half, second half.")
		waitFor(t, adas, quiet)
		if got := eval[string](t, adas, `JSON.stringify(localStorage)`); strings.Contains(got, "half") {
			t.Errorf("this browser still keeps what the server has: %s", got)
		}

		// Deciding, too, loses nothing; and a network that is back signs nothing by itself.
		offline(t, adas, true)
		write(t, adas, " Third.")
		sign(t, adas)
		waitFor(t, adas, troubleIs+`("Not signed, as far as this page knows")`)
		offline(t, adas, false)
		s.draftBecomes(t, ada, id, "First half, second half. Third.")
		if !eval[bool](t, adas, troubleIs+`("Not signed")`) {
			t.Error("a saved draft hides that nothing is signed")
		}
		if got := s.decisionsOn(t, id); len(got) != 0 {
			t.Errorf("signed by itself: %+v", got)
		}
		clickAndLoad(t, adas, "#draft-trouble [data-again]")
		waitFor(t, adas, ready+` && document.body.innerText.includes("Signed and recorded")`)
		if got := s.decisionsOn(t, id); len(got) != 1 || got[0].Comment != "First half, second half. Third." {
			t.Errorf("decisions: %+v", got)
		}
	})

	t.Run("a question is asked without a network", func(t *testing.T) {
		id := s.item(t, citationTrace("question"))
		s.claimItem(t, adas, id)
		offline(t, adas, true)
		press(t, adas, "t")
		waitFor(t, adas, `document.querySelector("#talk").matches(":popover-open") && document.activeElement.id === "question"`)
		eval[bool](t, adas, `document.querySelector("#question").value = ""; true`) // the driver types the key, too
		step(t, adas, "type a question", func(ctx context.Context) error {
			return chromedp.Do(ctx, chromedp.SendKeys(chromedp.ID("question"), "Which edition?"))
		})
		click(t, adas, `#talk button[name=thread]`)
		waitFor(t, adas, troubleIs+`("Not sent, as far as this page knows")`)
		if !eval[bool](t, adas, `document.querySelector("#question").value === "Which edition?" && JSON.stringify(localStorage).includes("Which edition?")`) {
			t.Error("the question is gone")
		}
		offline(t, adas, false)
		press(t, adas, "\x1b")
		clickAndLoad(t, adas, "#draft-trouble [data-again]")
		waitFor(t, adas, ready+` && document.body.innerText.includes("Sent. It stands under Questions.")`)
		waitFor(t, adas, `document.querySelector("#question").value === "" && document.querySelector("#talk").textContent.includes("Which edition?")`)
	})

	t.Run("an answer is lost on its way back", func(t *testing.T) {
		id := s.item(t, citationTrace("lost-answer"))
		s.claimItem(t, adas, id)
		override(t, adas, "Said once.")
		cut.Store(true)
		sign(t, adas)
		waitFor(t, adas, troubleIs+`("trying again cannot sign twice")`)
		clickAndLoad(t, adas, "#draft-trouble [data-again]")
		waitFor(t, adas, ready+` && document.body.innerText.includes("Signed and recorded")`)
		if got := s.decisionsOn(t, id); len(got) != 1 || got[0].Comment != "Said once." {
			t.Errorf("decisions: %+v", got)
		}
	})

	t.Run("signed out while typing", func(t *testing.T) {
		cys := s.person(t, all, "cy@example.org")
		id := s.item(t, citationTrace("sign-out"))
		s.claimItem(t, cys, id)
		signIn := func() {
			t.Helper()
			waitFor(t, cys, ready+` && location.pathname === "/login"`)
			if err := chromedp.Do(cys, chromedp.SendKeys(chromedp.ID("email"), "cy@example.org"), chromedp.SendKeys(chromedp.CSS("input[type=password]"), password)); err != nil {
				t.Fatal(err)
			}
			pressAndLoad(t, cys, "\r")
			waitFor(t, cys, ready+` && location.pathname === "/reviews/`+id+`" && document.querySelector("#decision") !== null`)
		}
		override(t, cys, "One")
		other := tab(t, cys)
		visit(t, other, s.http.URL+"/queue")
		clickAndLoad(t, other, "form[action='/logout'] button")
		waitFor(t, other, `location.pathname === "/login"`)
		write(t, cys, " two")
		leaveField(t, cys)
		waitFor(t, cys, troubleIs+`("You are signed out")`)
		clickAndLoad(t, cys, "#draft-trouble [data-again]")
		signIn()
		s.draftBecomes(t, cy, id, "One two")
		waitFor(t, cys, quiet+` && `+commentIs+`"One two"`)

		// The session alone ends, and then all that the browser had of this server.
		for _, end := range []struct{ words, cookies string }{{" three", "countersign_session"}, {" four", "countersign_session countersign_csrf"}} {
			for _, name := range strings.Fields(end.cookies) {
				if _, err := chromedp.Call(cys, network.DeleteCookies, network.DeleteCookiesParams{Name: name, URL: s.http.URL}); err != nil {
					t.Fatal(err)
				}
			}
			write(t, cys, end.words)
			sign(t, cys) // signing is refused like saving
			waitFor(t, cys, troubleIs+`("You are signed out")`)
			clickAndLoad(t, cys, "#draft-trouble [data-again]")
			signIn()
			waitFor(t, cys, quiet)
		}
		s.draftBecomes(t, cy, id, "One two three four")
		if got := s.decisionsOn(t, id); len(got) != 0 {
			t.Errorf("decisions: %+v", got)
		}

		// Somebody else signs in in the same browser: the page of before is not theirs.
		s.browserSignIn(other, "ben@example.org")
		write(t, cys, " five")
		leaveField(t, cys)
		waitFor(t, cys, troubleIs+`("This page was opened by another person, and this browser is signed in as ben now.")`)
		sign(t, cys)
		waitFor(t, cys, troubleIs+`("Not signed")`)
		if got := s.decisionsOn(t, id); len(got) != 0 {
			t.Errorf("signed as somebody else: %+v", got)
		}
		if got := s.draftComment(t, ben, id); got != "" {
			t.Errorf("ben has cy's words: %q", got)
		}
		s.browserSignIn(other, "cy@example.org")
		clickAndLoad(t, cys, "#draft-trouble [data-again]")
		waitFor(t, cys, ready+` && document.body.innerText.includes("Signed and recorded")`)
		if got := s.decisionsOn(t, id); len(got) != 1 || got[0].UserID != cy.ID || got[0].Comment != "One two three four five" {
			t.Errorf("decisions: %+v", got)
		}
	})

	t.Run("the page is loaded again while typing", func(t *testing.T) {
		id := s.item(t, citationTrace("reload"))
		s.claimItem(t, adas, id)
		override(t, adas, "Half a sent")
		if _, err := chromedp.RunResponse(adas, chromedp.Reload()); err != nil {
			t.Fatal(err)
		}
		waitFor(t, adas, ready+` && `+commentIs+`"Half a sent"`)
		write(t, adas, "ence.")
		leaveField(t, adas)
		s.draftBecomes(t, ada, id, "Half a sentence.")
		waitFor(t, adas, quiet)
	})

	t.Run("two tabs of one person", func(t *testing.T) {
		id := s.item(t, citationTrace("tabs"))
		s.claimItem(t, adas, id)
		other := tab(t, adas)
		s.open(t, other, id)
		override(t, other, "From the other tab.")
		leaveField(t, other)
		s.draftBecomes(t, ada, id, "From the other tab.")
		override(t, adas, "From this tab.")
		leaveField(t, adas)
		waitFor(t, adas, troubleIs+`("Another page of yours saved a draft of this item")`)
		text := eval[string](t, adas, of("innerText", "#draft-trouble"))
		if !strings.Contains(text, "From this tab.") || !strings.Contains(text, "From the other tab.") {
			t.Errorf("the choice shows not both: %s", text)
		}
		axeClean(t, adas, "two drafts")
		// Nothing is signed over it, and what is typed meanwhile is kept.
		write(t, adas, " More.")
		sign(t, adas)
		waitFor(t, adas, `document.activeElement.matches("[data-mine]")`)
		if got := s.decisionsOn(t, id); len(got) != 0 {
			t.Errorf("signed over another draft: %+v", got)
		}
		if got := s.draftComment(t, ada, id); got != "From the other tab." {
			t.Errorf("the other draft was written over: %q", got)
		}
		click(t, adas, "#draft-trouble [data-mine]")
		s.draftBecomes(t, ada, id, "From this tab. More.")
		waitFor(t, adas, quiet+` && document.activeElement !== document.body`)

		// The other tab is told in its turn, and takes what is stored.
		write(t, other, " Later.")
		leaveField(t, other)
		waitFor(t, other, troubleIs+`("Another page of yours saved a draft of this item")`)
		clickAndLoad(t, other, "#draft-trouble [data-theirs]")
		waitFor(t, other, ready+` && `+commentIs+`"From this tab. More."`)

		// Signed in one, the other is told that it is, and by whom.
		signAndLoad(t, other)
		waitFor(t, other, ready+` && document.body.innerText.includes("Signed and recorded")`)
		write(t, adas, " Too late.")
		sign(t, adas)
		waitFor(t, adas, troubleIs+`("You have signed this item already")`)
		if got := s.decisionsOn(t, id); len(got) != 1 || got[0].Comment != "From this tab. More." {
			t.Errorf("decisions: %+v", got)
		}
		if !eval[bool](t, adas, commentIs+`"From this tab. More. Too late."`) {
			t.Error("the words that came too late are gone")
		}
	})

	t.Run("words older than another computer has", func(t *testing.T) {
		id := s.item(t, citationTrace("older"))
		s.claimItem(t, adas, id)
		down.Store(true)
		override(t, adas, "On the train.")
		leaveField(t, adas)
		waitFor(t, adas, troubleIs+`("kept in this browser")`)
		visit(t, adas, "about:blank")
		down.Store(false)
		if _, _, err := s.store.SaveDraft(context.Background(), ada.Actor(), id, store.DraftBase{}, store.DraftBody{Action: "override", Comment: "At the office."}); err != nil {
			t.Fatal(err)
		}
		s.open(t, adas, id)
		waitFor(t, adas, troubleIs+`("On the train.") && `+commentIs+`"At the office."`)
		// Going on without a choice loses neither.
		write(t, adas, " More.")
		leaveField(t, adas)
		s.draftBecomes(t, ada, id, "At the office. More.")
		s.open(t, adas, id)
		waitFor(t, adas, troubleIs+`("On the train.") && `+commentIs+`"At the office. More."`)
		click(t, adas, "#draft-trouble [data-mine]")
		s.draftBecomes(t, ada, id, "On the train.")
		waitFor(t, adas, quiet)
	})

	t.Run("rulings far down a long trace", func(t *testing.T) {
		id := s.item(t, longTrace())
		s.claimItem(t, adas, id)
		eval[bool](t, adas, `document.querySelector("#c318").open = true`)
		waitFor(t, adas, `document.querySelector("#c318 [name='ruling.citation/318/support']") !== null`)
		down.Store(true)
		eval[bool](t, adas, `document.querySelector("#c318 [name='ruling.citation/318/support']").click(); true`)
		value := chosenIn(t, adas, "citation/318/support")
		waitFor(t, adas, troubleIs+`("kept in this browser")`)
		visit(t, adas, "about:blank")
		down.Store(false)
		s.open(t, adas, id)
		eventually(t, "the server has the ruling", func() bool {
			d, err := s.store.GetDraft(context.Background(), ada.Actor(), id)
			return err == nil && d != nil && len(d.Rulings) == 1 && d.Rulings[0] == (judge.Ruling{Part: "citation/318/support", Value: value})
		})
		eval[bool](t, adas, `document.querySelector("#c318").open = true`)
		waitFor(t, adas, `document.querySelector("[type=radio][name='ruling.citation/318/support']:checked")?.value === "`+value+`" && document.querySelectorAll("[name='ruling.citation/318/support'][type=hidden]").length === 0`)
	})
}

// TestBrowserCrash: the browser is killed; another one has what the server had
// acknowledged, typed text at most some seconds old.
func TestBrowserCrash(t *testing.T) {
	s := newSite(t)
	ada, _ := s.user("ada@example.org", store.Reviewer)
	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindNever })
	id := s.item(t, citationTrace("crash"))
	first := browser(t)
	s.browserSignIn(first, "ada@example.org")
	s.claimItem(t, first, id)
	override(t, first, "Never left the field.")
	s.draftBecomes(t, ada, id, "Never left the field.") // saved while it is typed
	if err := chromedp.FromContext(first).Browser.Process().Kill(); err != nil {
		t.Fatal(err)
	}
	second := browser(t)
	s.browserSignIn(second, "ada@example.org")
	s.open(t, second, id)
	waitFor(t, second, commentIs+`"Never left the field." && document.querySelector("[name=action]:checked").value === "override"`)
	if text := bodyText(t, second); !strings.Contains(text, "is restored") {
		t.Errorf("the desk does not say that a draft is restored: %s", text)
	}
}
