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
