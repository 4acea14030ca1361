package static_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/countersign/countersign/static"
)

func TestURL(t *testing.T) {
	for _, name := range []string{"app.css", "app.js", "icon.svg"} {
		stem, ext, _ := strings.Cut(name, ".")
		want := regexp.MustCompile(`^/static/` + stem + `\.[0-9a-f]{12}\.` + ext + `$`)
		if got := static.URL(name); !want.MatchString(got) {
			t.Errorf("URL(%q) = %q, want %v", name, got, want)
		}
	}
	if got, want := static.URL("no.css"), "/static/no.css"; got != want {
		t.Errorf("URL of an unknown file = %q, want %q", got, want)
	}
}

func TestHandler(t *testing.T) {
	server := httptest.NewServer(static.Handler())
	defer server.Close()
	for _, tt := range []struct {
		name, method, path string
		status             int
		cache, contentType string
	}{
		{"checksum", "GET", static.URL("app.css"), 200, "public, max-age=31536000, immutable", "text/css; charset=utf-8"},
		{"plain name", "GET", "/static/app.js", 200, "no-cache", "text/javascript; charset=utf-8"},
		{"icon", "GET", static.URL("icon.svg"), 200, "public, max-age=31536000, immutable", "image/svg+xml"},
		{"head", "HEAD", static.URL("app.css"), 200, "public, max-age=31536000, immutable", "text/css; charset=utf-8"},
		{"old checksum", "GET", "/static/app.000000000000.css", 404, "", ""},
		{"source", "GET", "/static/embed.go", 404, "", ""},
		{"climbing", "GET", "/static/../go.mod", 404, "", ""},
		{"post", "POST", static.URL("app.css"), 405, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			req, err := http.NewRequest(tt.method, server.URL+tt.path, nil)
			if err != nil {
				t.Fatal(err)
			}
			resp, err := http.DefaultTransport.RoundTrip(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			if resp.StatusCode != tt.status {
				t.Fatalf("status %d, want %d", resp.StatusCode, tt.status)
			}
			if tt.status != 200 {
				return
			}
			if got := resp.Header.Get("Cache-Control"); got != tt.cache {
				t.Errorf("Cache-Control %q, want %q", got, tt.cache)
			}
			if got := resp.Header.Get("Content-Type"); got != tt.contentType {
				t.Errorf("Content-Type %q, want %q", got, tt.contentType)
			}
		})
	}
}

// What is sent compressed is the same file.
func TestGzip(t *testing.T) {
	get := func(encoding string) (*httptest.ResponseRecorder, string) {
		req := httptest.NewRequest("GET", static.URL("app.css"), nil)
		req.Header.Set("Accept-Encoding", encoding)
		rec := httptest.NewRecorder()
		static.Handler().ServeHTTP(rec, req)
		return rec, rec.Body.String()
	}
	_, plain := get("identity")
	rec, _ := get("gzip, br")
	if got := rec.Header().Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("Content-Encoding %q, want gzip", got)
	}
	r, err := gzip.NewReader(rec.Body)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if string(body) != plain || !strings.Contains(plain, "@layer tokens") {
		t.Error("the compressed file differs from the plain one")
	}
}

// Nothing is fetched from elsewhere, and the script needs no eval.
func TestNothingFromOutside(t *testing.T) {
	for _, name := range []string{"app.css", "app.js"} {
		rec := httptest.NewRecorder()
		static.Handler().ServeHTTP(rec, httptest.NewRequest("GET", static.URL(name), nil))
		if m := regexp.MustCompile(`https?://|url\(|@import|\beval\(|new Function|innerHTML`).FindString(rec.Body.String()); m != "" {
			t.Errorf("%s holds %q", name, m)
		}
	}
}
