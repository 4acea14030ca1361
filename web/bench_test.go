package web_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/store/storetest"
)

// benchEvaluations is the size of the database behind the page benchmarks;
// COUNTERSIGN_BENCH_EVALUATIONS sets another one.
func benchEvaluations(b *testing.B) int {
	n := 100_000
	if v := os.Getenv("COUNTERSIGN_BENCH_EVALUATIONS"); v != "" {
		if _, err := fmt.Sscan(v, &n); err != nil {
			b.Fatal(err)
		}
	}
	return n
}

// benchTrace is a trace of about 4 KB with five citations.
func benchTrace(i int) judge.Trace {
	passage := strings.Repeat("The committee considered the evidence on dosing in reduced renal function. ", 12)
	t := judge.Trace{ID: fmt.Sprintf("bench-%06d", i), Domain: []string{"medical", "legal", "general"}[i%3], Run: fmt.Sprintf("run-%d", i%20),
		Question: fmt.Sprintf("Question %d: what follows from the sources?", i), Judges: []string{"citations"}}
	var out strings.Builder
	for n := 1; n <= 5; n++ {
		fmt.Fprintf(&out, "%d. In case %d the sources say that \"the committee considered the evidence\" and that %d mg is right [%d].\n", n, i, n*i%97, n)
		if n < 5 || i%4 > 0 {
			t.Sources = append(t.Sources, judge.Source{ID: fmt.Sprint(n), Title: fmt.Sprintf("Source %d", n), Text: fmt.Sprintf("Case %d. %s", i, passage)})
		}
	}
	t.Output = out.String()
	return t
}

var bench struct {
	once sync.Once
	site *site
	dir  string
}

// bigSite is built once for all page benchmarks.
func bigSite(b *testing.B) *site {
	bench.once.Do(func() {
		// The first benchmark's temporary folder would go with it, so this
		// one is kept until the process ends.
		s := newSite(keptTB{b})
		s.user("ada@example.org", store.Reviewer)
		s.user("lea@example.org", store.Lead)
		n := benchEvaluations(b)
		for at := 0; at < n; at += 1000 {
			var batch []judge.Trace
			for i := at; i < min(at+1000, n); i++ {
				batch = append(batch, benchTrace(i))
			}
			s.load(batch...)
		}
		bench.site = s
	})
	if bench.site == nil {
		b.Fatal("the database could not be built")
	}
	return bench.site
}

// keptTB is a benchmark whose clean-up does not run with it.
type keptTB struct{ *testing.B }

func (keptTB) Cleanup(func()) {}

func (keptTB) TempDir() string {
	dir, err := os.MkdirTemp("", "countersign-bench-")
	if err != nil {
		panic(err)
	}
	bench.dir = dir
	return dir
}

func TestMain(m *testing.M) {
	code := storetest.Main(m)
	if bench.dir != "" {
		if err := os.RemoveAll(bench.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	os.Exit(code)
}

// servePage measures one page at the server, without a network: the median is
// what docs/performance.md reports.
func servePage(b *testing.B, s *site, v *visitor, path string) {
	b.Helper()
	req := httptest.NewRequestWithContext(context.Background(), http.MethodGet, s.http.URL+path, nil)
	for _, c := range v.client.Jar.Cookies(req.URL) {
		req.AddCookie(c)
	}
	req.RequestURI, req.Host = path, ""
	var times []time.Duration
	for b.Loop() {
		w := &httptest.ResponseRecorder{Body: &bytes.Buffer{}}
		at := time.Now()
		s.web.ServeHTTP(w, req)
		times = append(times, time.Since(at))
		if w.Code != http.StatusOK {
			b.Fatalf("GET %s: %d", path, w.Code)
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

func BenchmarkQueuePage(b *testing.B) {
	s := bigSite(b)
	servePage(b, s, s.signIn("ada@example.org"), "/queue")
}

func BenchmarkQueuePageFiltered(b *testing.B) {
	s := bigSite(b)
	servePage(b, s, s.signIn("lea@example.org"), "/queue?judge=citations&domain=legal&stakes=high")
}

func BenchmarkDeskPage(b *testing.B) {
	s := bigSite(b)
	v := s.signIn("ada@example.org")
	servePage(b, s, v, v.get("/queue/next").Request.URL.Path)
}

func BenchmarkEvaluationsPage(b *testing.B) {
	s := bigSite(b)
	servePage(b, s, s.signIn("lea@example.org"), "/evaluations?run=run-3")
}

func BenchmarkOverviewPage(b *testing.B) {
	s := bigSite(b)
	servePage(b, s, s.signIn("ada@example.org"), "/")
}
