package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
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

// deskItems wait in the queue of the desk's benchmarks.
const deskItems = 1500

// deskSite has a queue of deskItems typical items, each with a citation of no source.
func deskSite(tb testing.TB) *site {
	tb.Helper()
	s := newSite(tb)
	s.user("ada@example.org", store.Reviewer)
	s.changePolicy(func(p *judge.Policy) { p.Blind = judge.BlindNever })
	for at := 0; at < deskItems; at += 500 {
		batch := make([]judge.Trace, 500)
		for i := range batch {
			batch[i] = benchTrace(at + i)
			batch[i].Sources = batch[i].Sources[:4]
		}
		s.load(batch...)
	}
	return s
}

// BenchmarkDecideAndNext is what a reviewer waits for who signs and goes on: the form as
// the script sends it, and the next item's page, over HTTP and as a browser takes them,
// read to the last byte. Each round also signs for real: SQLite, synced.
func BenchmarkDecideAndNext(b *testing.B) {
	s := deskSite(b)
	v := s.signIn("ada@example.org")
	ask := func(method, path string, form url.Values) (int, string, http.Header) {
		req, err := http.NewRequestWithContext(context.Background(), method, s.http.URL+path, strings.NewReader(form.Encode()))
		if err != nil {
			b.Fatal(err)
		}
		req.Header.Set("Accept-Encoding", "gzip, deflate, br, zstd")
		req.Header.Set("Sec-Fetch-Site", "same-origin")
		if method == http.MethodPost {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("X-CSRF-Token", v.csrf)
		}
		resp, err := v.client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			b.Fatal(err)
		}
		return resp.StatusCode, string(body), resp.Header
	}
	path := v.post("/queue/next", url.Values{}).Request.URL.Path
	if open := s.openItems(b); open < 1000 {
		b.Fatalf("%d items wait, want 1,000", open)
	}
	var posts, pages, all []time.Duration
	size := 0
	for b.Loop() {
		if !strings.HasPrefix(path, "/reviews/") {
			b.Fatalf("nothing is left after %d items: %s", len(all), path)
		}
		at := time.Now()
		code, body, _ := ask(http.MethodPost, path+"/decision", url.Values{"action": {"confirm"}, "stage": {"decide"}, "then": {"next"}})
		signed := time.Now()
		var next struct{ Location string }
		if err := json.Unmarshal([]byte(body), &next); err != nil || code != http.StatusOK {
			b.Fatalf("sign %s: %d %s", path, code, body)
		}
		path = next.Location
		code, body, _ = ask(http.MethodGet, path, nil)
		if code != http.StatusOK {
			b.Fatalf("GET %s: %d", path, code)
		}
		done := time.Now()
		size = len(body)
		posts, pages, all = append(posts, signed.Sub(at)), append(pages, done.Sub(signed)), append(all, done.Sub(at))
	}
	b.ReportMetric(middle(posts), "post-ms")
	b.ReportMetric(middle(pages), "page-ms")
	b.ReportMetric(middle(all), "median-ms")
	b.ReportMetric(milliseconds(all[len(all)*99/100]), "p99-ms")
	b.ReportMetric(float64(size), "page-bytes")
}

// openItems counts what waits.
func (s *site) openItems(tb testing.TB) int {
	tb.Helper()
	counts, err := s.store.QueueCounts(context.Background(), store.Operator("benchmark"), "default")
	if err != nil {
		tb.Fatal(err)
	}
	return counts.Total
}

// BenchmarkManyCitations is 200 KB with 500 citations at the server: its desk, and what
// saves a draft of it.
func BenchmarkManyCitations(b *testing.B) {
	s := benchSite(b, judge.BlindNever, longTrace())
	v := s.signIn("ada@example.org")
	path := v.post("/queue/next", url.Values{}).Request.URL.Path
	b.Run("desk", func(b *testing.B) { servePage(b, s, v, path) })
	b.Run("draft", func(b *testing.B) {
		var times []time.Duration
		n := 0
		for b.Loop() {
			n++
			at := time.Now()
			r := v.post(path+"/draft", url.Values{
				"stage": {"decide"}, "comment": {fmt.Sprint("comment ", n)}, "draft_by": {"script"}, "draft_tab": {"benchmark"}, "draft_seq": {fmt.Sprint(n)},
			})
			times = append(times, time.Since(at))
			if r.StatusCode != http.StatusOK {
				b.Fatalf("%s: %s", r.Status, r.body)
			}
		}
		b.ReportMetric(middle(times), "median-ms")
	})
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// middle is the median, in milliseconds; it sorts the list.
func middle(list []time.Duration) float64 {
	slices.Sort(list)
	return milliseconds(list[len(list)/2])
}

// timing is how a page came up in a browser.
type timing struct {
	// Interactive is the time in milliseconds from the key or click to when the page is
	// painted and its scripts have run: every key works.
	Interactive float64
	Server      float64 // of it, waiting for the first byte of the page
	Blocked     float64 // milliseconds beyond 50 of each long task
	Shift       float64 // cumulative layout shift, also of what follows a key
	Sent        float64 // bytes of the page and of all that it loads, as transferred
	HTML        float64 // bytes of the page before compression
	Nodes       float64 // elements
}

// fromNow notes when the browser is told to go on.
const fromNow = `sessionStorage.from = performance.timeOrigin + performance.now();`

// takeTiming waits until the page that followed fromNow is at rest, and reads how it came up.
const takeTiming = `(async () => {
	const rest = (ms) => new Promise((then) => setTimeout(then, ms));
	const buffered = (type) => new Promise((then) => {
		const all = [], o = new PerformanceObserver((l) => all.push(...l.getEntries()));
		o.observe({ type, buffered: true });
		setTimeout(() => { o.disconnect(); then(all); }, 50);
	});
	while (document.readyState !== "complete" || !performance.getEntriesByType("paint").length) await rest(20);
	await rest(400);
	const [page] = performance.getEntriesByType("navigation");
	const painted = performance.getEntriesByName("first-contentful-paint")[0].startTime;
	const at = Math.max(painted, page.domContentLoadedEventEnd);
	const sum = (list, of) => list.reduce((total, x) => total + of(x), 0);
	return {
		Interactive: performance.timeOrigin + at - Number(sessionStorage.from),
		Server: page.responseStart - page.requestStart,
		Blocked: sum(await buffered("longtask"), (t) => t.duration - 50),
		Shift: sum(await buffered("layout-shift"), (s) => s.value),
		Sent: page.transferSize + sum(performance.getEntriesByType("resource"), (r) => r.transferSize),
		HTML: page.decodedBodySize,
		Nodes: document.getElementsByTagName("*").length,
	};
})()`

// reportTimings gives the median of each figure, the worst shift, and the slowest page.
func reportTimings(b *testing.B, all []timing) {
	of := func(get func(timing) float64) []float64 {
		list := make([]float64, len(all))
		for i, t := range all {
			list[i] = get(t)
		}
		slices.Sort(list)
		return list
	}
	middle := func(list []float64) float64 { return list[len(list)/2] }
	interactive := of(func(t timing) float64 { return t.Interactive })
	b.ReportMetric(middle(interactive), "interactive-ms")
	b.ReportMetric(interactive[0], "best-ms")
	b.ReportMetric(interactive[len(interactive)-1], "worst-ms")
	b.ReportMetric(middle(of(func(t timing) float64 { return t.Server })), "server-ms")
	b.ReportMetric(middle(of(func(t timing) float64 { return t.Blocked })), "blocked-ms")
	b.ReportMetric(slices.Max(of(func(t timing) float64 { return t.Shift })), "worst-shift")
	b.ReportMetric(middle(of(func(t timing) float64 { return t.Sent })), "sent-bytes")
	b.ReportMetric(middle(of(func(t timing) float64 { return t.HTML })), "html-bytes")
	b.ReportMetric(middle(of(func(t timing) float64 { return t.Nodes })), "elements")
}

// BenchmarkBrowserDecideAndNext signs by keyboard in a real Chromium and waits until the
// next item can be worked on. The first visit, which loads stylesheet and scripts, is left
// out.
func BenchmarkBrowserDecideAndNext(b *testing.B) {
	s := deskSite(b)
	ctx := browser(b)
	s.browserSignIn(ctx, "ada@example.org")
	press(b, ctx, "g")
	pressAndLoad(b, ctx, "n")
	const ready = `location.pathname.startsWith("/reviews/") && document.readyState === "complete" && !!document.querySelector("[name=action][value=confirm]")`
	waitFor(b, ctx, ready)
	var all []timing
	for b.Loop() {
		at := eval[string](b, ctx, `location.pathname`)
		eval[bool](b, ctx, `document.querySelector("[name=action][value=confirm]").click(); addEventListener("keydown", () => { `+fromNow+` }, true); true`)
		waitFor(b, ctx, `document.querySelector("#draft-note")?.textContent.startsWith("Draft saved")`) // as for who read on
		pressAndLoad(b, ctx, "\r", chromedp.KeyModifiers(chromedp.ModifierCtrl))
		waitFor(b, ctx, ready+` && location.pathname !== "`+at+`"`)
		all = append(all, eval[timing](b, ctx, takeTiming))
	}
	reportTimings(b, all)
}

// BenchmarkBrowserManyCitations opens items of 200 KB and 500 citations in a real Chromium,
// each for the first time, and again.
func BenchmarkBrowserManyCitations(b *testing.B) {
	var traces []judge.Trace
	for i := range 12 {
		t := longTrace()
		t.ID = fmt.Sprintf("long-%d", i)
		t.Output = strings.ReplaceAll(t.Output, "in the clinic", fmt.Sprintf("in clinic %d", i))
		traces = append(traces, t)
	}
	s := benchSite(b, judge.BlindNever, traces...)
	ctx := browser(b)
	s.browserSignIn(ctx, "ada@example.org")
	ada, err := s.store.UserByEmail(ctx, "ada@example.org")
	if err != nil {
		b.Fatal(err)
	}
	paths := make([]string, len(traces))
	for i := range paths { // so the server has not looked into any
		id, err := s.store.TakeNext(ctx, ada.Actor(), "default", store.ClaimFilter{})
		if err != nil {
			b.Fatal(err)
		}
		paths[i] = "/reviews/" + id
	}
	visit(b, ctx, s.http.URL+"/queue")
	open := func(path string) timing {
		eval[bool](b, ctx, fromNow+`location.assign("`+path+`"); true`)
		waitFor(b, ctx, `location.pathname === "`+path+`" && document.querySelectorAll("details.citation").length === 500`)
		return eval[timing](b, ctx, takeTiming)
	}
	for _, name := range []string{"first", "again"} {
		b.Run(name, func(b *testing.B) {
			var all []timing
			for b.Loop() {
				if len(all) < len(paths) {
					all = append(all, open(paths[len(all)]))
				}
			}
			reportTimings(b, all)
		})
	}
}
