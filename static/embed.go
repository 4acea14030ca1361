// Package static holds the stylesheet and the script, built into the program.
// Each address carries the checksum of its content, so that a browser may keep
// a file for ever and still gets the new one after an upgrade. Nothing here is
// fetched from elsewhere, and no page needs the script to work.
package static

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"mime"
	"net/http"
	"path"
	"strings"
)

//go:embed app.css app.js citations.js desk.js draft.js find.js queue.js rulings.js icon.svg
var files embed.FS

// Prefix of the address of every file here.
const Prefix = "/static/"

// asset is one file, ready to be sent.
type asset struct {
	url         string
	contentType string
	plain       []byte
	gzipped     []byte // nil when it would not be smaller
}

// byName and byURL are filled once, before main, and only read after that.
var (
	byName = make(map[string]asset)
	byURL  = make(map[string]asset)
)

func init() {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("static: embedded files cannot be listed: " + err.Error())
	}
	for _, entry := range entries {
		name := entry.Name()
		body, err := files.ReadFile(name)
		if err != nil {
			panic("static: embedded file cannot be read: " + err.Error())
		}
		sum := sha256.Sum256(body)
		ext := path.Ext(name)
		a := asset{
			url:         Prefix + strings.TrimSuffix(name, ext) + "." + hex.EncodeToString(sum[:6]) + ext,
			contentType: mime.TypeByExtension(ext),
			plain:       body,
		}
		var b bytes.Buffer
		w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is a valid constant
		if _, err := w.Write(body); err == nil && w.Close() == nil && b.Len() < len(body) {
			a.gzipped = b.Bytes()
		}
		byName[name], byURL[a.url] = a, a
	}
}

// URL is the address of a file by its plain name ("app.css"), with its
// checksum. An unknown name gives an address that answers 404.
func URL(name string) string {
	if a, ok := byName[name]; ok {
		return a.url
	}
	return Prefix + name
}

// Handler serves the files under Prefix: an address with a checksum may be
// kept for a year, a plain name is checked each time, anything else is 404.
func Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD", http.StatusMethodNotAllowed)
			return
		}
		a, kept := byURL[r.URL.Path]
		if !kept {
			var ok bool
			if a, ok = byName[strings.TrimPrefix(r.URL.Path, Prefix)]; !ok {
				http.NotFound(w, r)
				return
			}
		}
		h := w.Header()
		h.Set("Content-Type", a.contentType)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Vary", "Accept-Encoding")
		if kept {
			h.Set("Cache-Control", "public, max-age=31536000, immutable")
		} else {
			h.Set("Cache-Control", "no-cache")
		}
		body := a.plain
		if a.gzipped != nil && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			h.Set("Content-Encoding", "gzip")
			body = a.gzipped
		}
		if r.Method == http.MethodHead {
			return
		}
		// The reader has gone when this fails: there is nobody left to tell.
		_, _ = w.Write(body)
	})
}
