package web

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/klauspost/compress/gzhttp"

	"github.com/countersign/countersign/static"
)

// smallest is the size in bytes from which an answer is compressed: less fits into
// the first packet anyway.
const smallest = 1 << 10

// compressing wraps a handler so that pages and JSON are sent as gzip, or as zstd to
// a browser that takes it. The fastest level of either: on a desk of 65 KB it takes
// 0.2 ms for 11 KB, the next 15% cost ten times as much (docs/performance.md).
func compressing(h http.Handler) (http.Handler, error) {
	wrap, err := gzhttp.NewWrapper(gzhttp.MinSize(smallest), gzhttp.CompressionLevel(1))
	if err != nil {
		return nil, fmt.Errorf("web: compression: %w", err)
	}
	return wrap(h), nil
}

// mayCompress says that the answer to a request may be compressed.
//
// A compressed page tells by its length whether a guess is right: who can make a
// signed-in browser ask for pages with guesses in their address, and sees the
// encrypted answers pass, learns the page's form token byte by byte (BREACH). So
// what another site asked for, by a link, a form or a picture, is sent as it is;
// browsers say who asked in Sec-Fetch-Site, also after a redirect, and scripts
// can't write that header. What says nothing of it is compressed only where no
// cookie lets it in (the API takes tokens alone), or where the connection has no
// encryption that a length could get round.
//
// Event streams and files are not compressed here: an event must not wait in a
// buffer, and files are compressed already.
func (s *Server) mayCompress(r *http.Request) bool {
	switch p := r.URL.Path; {
	case p == "/events" || strings.HasPrefix(p, static.Prefix):
		return false
	case strings.HasPrefix(p, "/api/"):
		return true
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-origin", "none":
		return true
	case "":
		return r.TLS == nil && !strings.HasPrefix(s.cfg.BaseURL, "https://")
	}
	return false
}
