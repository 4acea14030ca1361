package web_test

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/countersign/countersign/store"
)

// scaleDatabase is the address of a database that `make bench-data` built.
const scaleDatabase = "COUNTERSIGN_BENCH_DATABASE"

// Pages of a large project at the server, without a network: from the request
// to the last byte, with the session, the counts in the frame and the HTML.
func BenchmarkScalePages(b *testing.B) {
	address := os.Getenv(scaleDatabase)
	if address == "" {
		b.Skipf("%s is not set: it names a database that `make bench-data` built", scaleDatabase)
	}
	ctx := context.Background()
	now := &clock{at: time.Now().UTC()}
	db, err := store.Open(ctx, store.Options{URL: address, Now: now.now})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := db.Close(); err != nil {
			b.Error(err)
		}
	})
	s := siteOver(b, db, now)
	visitors := map[string]*visitor{}
	for _, who := range []string{"reviewer-01@example.org", "lead@example.org", "auditor@example.org"} {
		if err := db.SetPassword(ctx, store.Operator("benchmark"), who, password); err != nil {
			b.Fatal(err)
		}
		visitors[who[:4]] = s.signIn(who)
	}
	desk := visitors["revi"].get("/queue/next").Request.URL.Path
	for _, page := range []struct{ who, path string }{
		{"revi", "/"}, {"revi", "/queue"}, {"revi", "/queue?judge=citations&domain=legal&stakes=high"}, {"revi", desk},
		{"revi", "/evaluations"}, {"revi", "/evaluations?judge=logic&status=final"}, {"revi", "/evaluations?verdict=fail"},
		{"lead", "/evaluations?run=run-20"}, {"lead", "/evaluations?run=run-20&judge=steps&verdict=fail"},
		{"lead", "/queue?reason=critical_error"},
		{"audi", "/evaluations?verdict=fail&judge=citations"}, {"audi", "/evaluations?reason=boundary_audit"},
		{"audi", "/runs"}, {"audi", "/runs/run-20"}, {"audi", "/calibration/citations"}, {"lead", "/calibration/citations"}, {"audi", "/audit"},
	} {
		name := page.path
		if name == desk {
			name = "/reviews/one"
		}
		b.Run(page.who+name, func(b *testing.B) { scalePage(b, s, visitors[page.who], page.path) })
	}
}

// scalePage measures one page for at most 20 seconds.
func scalePage(b *testing.B, s *site, v *visitor, path string) {
	req := httptest.NewRequestWithContext(context.Background(), http.MethodGet, s.http.URL+path, nil)
	for _, c := range v.client.Jar.Cookies(req.URL) {
		req.AddCookie(c)
	}
	req.RequestURI, req.Host = path, ""
	var times []time.Duration
	var spent time.Duration
	for b.Loop() {
		if spent > 20*time.Second {
			continue
		}
		w := &httptest.ResponseRecorder{Body: &bytes.Buffer{}}
		at := time.Now()
		s.web.ServeHTTP(w, req)
		took := time.Since(at)
		times, spent = append(times, took), spent+took
		if w.Code != http.StatusOK {
			b.Fatalf("GET %s: %d", path, w.Code)
		}
	}
	slices.Sort(times)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(times[len(times)/2]), "median-ms")
	b.ReportMetric(ms(times[len(times)*99/100]), "p99-ms")
	b.ReportMetric(ms(times[0]), "best-ms")
	b.ReportMetric(float64(len(times)), "calls")
}
