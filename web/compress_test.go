package web_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/static"
	"github.com/countersign/countersign/web"
)

// plainly asks for an address with headers and takes the answer as it is sent.
func (v *visitor) plainly(path string, header http.Header) (*http.Response, []byte) {
	v.s.t.Helper()
	req, err := http.NewRequestWithContext(context.Background(), http.MethodGet, v.s.http.URL+path, nil)
	if err != nil {
		v.s.t.Fatal(err)
	}
	req.Header = header
	c := &http.Client{Jar: v.client.Jar, Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	resp, err := c.Do(req)
	if err != nil {
		v.s.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		v.s.t.Fatal(err)
	}
	return resp, body
}

// TestCompressed: pages, faults and the API are compressed as the reader takes it and
// read the same; what another site asked for is not, and neither are streams.
func TestCompressed(t *testing.T) {
	s := newSite(t)
	_, token := s.user("ada@example.org", "reviewer")
	s.load(citationTrace("t1"))
	v := s.signIn("ada@example.org")
	desk := v.get("/queue/next").Request.URL.Path
	for _, tt := range []struct {
		name, path, accept, site string
		want                     string
	}{
		{"a page of our own, gzip", desk, "gzip, deflate", "same-origin", "gzip"},
		{"a page of our own, zstd too", desk, "gzip, deflate, br, zstd", "same-origin", "zstd"},
		{"an address that was typed", desk, "gzip", "none", "gzip"},
		{"a browser that does not say, without encryption", desk, "gzip", "", "gzip"},
		{"a link on another site", desk, "gzip, zstd", "cross-site", ""},
		{"a link on a neighbour's site", desk, "gzip, zstd", "same-site", ""},
		{"a word of another site in a page's address", "/evaluations?trace=_csrf", "gzip", "cross-site", ""},
		{"a reader that takes none", desk, "identity", "same-origin", ""},
		{"a page that is not there", "/reviews/none", "gzip", "same-origin", "gzip"},
		{"the API", "/api/v1/judges", "gzip", "", "gzip"},
		{"the API's description", "/api/v1/openapi.json", "gzip", "cross-site", "gzip"},
		{"a short answer", "/healthz", "gzip", "same-origin", ""},
		{"a file", static.URL("app.css"), "gzip, zstd", "same-origin", "gzip"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{"Accept-Encoding": {tt.accept}}
			if tt.site != "" {
				h.Set("Sec-Fetch-Site", tt.site)
			}
			if strings.HasPrefix(tt.path, "/api/") {
				h.Set("Authorization", "Bearer "+token)
			}
			resp, body := v.plainly(tt.path, h)
			if got := resp.Header.Get("Content-Encoding"); got != tt.want {
				t.Errorf("Content-Encoding %q, want %q", got, tt.want)
			}
			h.Set("Accept-Encoding", "identity")
			_, plain := v.plainly(tt.path, h)
			// Each answer has a time and an id of its own; its end has none.
			end := plain[max(0, len(plain)-20):]
			if got := decoded(t, body, tt.want); len(got) != len(plain) || !strings.HasSuffix(got, string(end)) {
				t.Errorf("decoded it has %d bytes, plain %d that end %q", len(got), len(plain), end)
			}
			if tt.want != "" && len(body) >= len(plain) {
				t.Errorf("%d bytes were sent for %d", len(body), len(plain))
			}
		})
	}
}

// TestNotCompressedUnderEncryption: where lengths tell what encryption hides, a
// browser must say that the page was asked for by ourselves.
func TestNotCompressedUnderEncryption(t *testing.T) {
	s := newSite(t)
	encrypted, err := web.New(web.Config{
		Store: s.store, Harness: func(context.Context, string) (*harness.Harness, error) { return s.harness, nil },
		SessionKey: bytes.Repeat([]byte("s"), 32), BaseURL: "https://countersign.example",
	})
	if err != nil {
		t.Fatal(err)
	}
	for site, want := range map[string]string{"same-origin": "gzip", "none": "gzip", "": "", "cross-site": "", "unheard-of": ""} {
		req := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/login", nil)
		req.Header.Set("Accept-Encoding", "gzip")
		if site != "" {
			req.Header.Set("Sec-Fetch-Site", site)
		}
		w := httptest.NewRecorder()
		encrypted.ServeHTTP(w, req)
		if got := w.Header().Get("Content-Encoding"); w.Code != http.StatusOK || got != want {
			t.Errorf("asked by %q: %d, Content-Encoding %q, want %q", site, w.Code, got, want)
		}
	}
}

func decoded(t *testing.T, body []byte, encoding string) string {
	t.Helper()
	var r io.Reader = strings.NewReader(string(body))
	switch encoding {
	case "gzip":
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		r = unzipped
	case "zstd":
		unpacked, err := zstd.NewReader(r)
		if err != nil {
			t.Fatal(err)
		}
		defer unpacked.Close()
		r = unpacked
	}
	plain, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return string(plain)
}

// TestDesksAreSmall: what a desk sends after the first visit, at the fastest level
// and as gzip, is far below 60 KB for a typical item of each kind.
func TestDesksAreSmall(t *testing.T) {
	for _, trace := range []judge.Trace{benchTrace(1), quotedTrace(), alignedTrace(), referenceTrace(), logicTrace()} {
		s := benchSite(t, judge.BlindNever, trace)
		v := s.signIn("ada@example.org")
		resp, body := v.plainly("/queue/next", http.Header{"Accept-Encoding": {"gzip"}})
		if !strings.HasPrefix(resp.Request.URL.Path, "/reviews/") {
			t.Fatalf("%s: the desk is at %s", trace.ID, resp.Request.URL)
		}
		if len(body) > 30<<10 {
			t.Errorf("%s: the desk takes %d bytes", trace.ID, len(body))
		}
	}
}
