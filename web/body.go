package web

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"
)

const (
	// smallBody is the largest body, in bytes, of what is no import: a policy of
	// the largest kind as a form, where each sign of it may take three.
	smallBody = 4 << 20
	// mostDrained is how much of a body that nobody reads is taken off the
	// connection, and drainTime how long, so that its sender can read the answer.
	// Closed with data on its way, a connection is reset and the answer is lost.
	mostDrained = 64 << 20
	drainTime   = 10 * time.Second
	// inMemory is how much of an uploaded file is held in memory, as Echo has it.
	inMemory = 32 << 20
)

// large are the routes that take up to MaxBody: whole files of traces.
var large = []string{"/import", "/api/v1/traces"}

// bounded refuses a body that is larger than its route takes, with 413. Small
// ones are read here, so that the size of a request is told as such, and not as
// a form without its token or JSON that ends too soon.
func (s *Server) bounded(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := c.Request()
		if r.Body == nil || r.Body == http.NoBody {
			return next(c)
		}
		sent := &sentBody{ReadCloser: r.Body, left: s.cfg.MaxBody}
		r.Body = sent
		c.Response().Before(func() { sent.drain(c) })
		if slices.Contains(large, c.Path()) {
			if r.ContentLength > s.cfg.MaxBody {
				return echo.ErrStatusRequestEntityTooLarge
			}
			if !isAPI(c) {
				_ = r.ParseMultipartForm(inMemory) // the form's token is looked for next; other faults are told by who reads the form
				if errors.Is(sent.ended, echo.ErrStatusRequestEntityTooLarge) {
					return sent.ended
				}
			}
			return next(c)
		}
		sent.left = min(smallBody, s.cfg.MaxBody)
		if r.ContentLength > sent.left {
			return echo.ErrStatusRequestEntityTooLarge
		}
		whole, err := io.ReadAll(sent)
		if err != nil {
			return unreadable(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(whole))
		return next(c)
	}
}

// sentBody is a body as it comes over the network, up to a limit.
type sentBody struct {
	io.ReadCloser
	left    int64 // bytes that may still come
	begun   bool
	drained bool
	ended   error
}

func (b *sentBody) Read(p []byte) (int, error) {
	b.begun = true
	if b.ended != nil {
		return 0, b.ended
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		n, err = 0, echo.ErrStatusRequestEntityTooLarge
	}
	b.ended = err
	return n, err
}

// drain takes what was not read off the connection before the answer begins. Who
// waits to be told that the body is wanted is not asked for it.
func (b *sentBody) drain(c echo.Context) {
	r := c.Request()
	if b.drained || errors.Is(b.ended, io.EOF) || !b.begun && r.Header.Get("Expect") != "" {
		return
	}
	b.drained = true
	// Errors mean that the sender is gone or too slow, and then so is the connection.
	if http.NewResponseController(c.Response().Writer).SetReadDeadline(time.Now().Add(drainTime)) == nil {
		_, _ = io.CopyN(io.Discard, b.ReadCloser, mostDrained)
		_ = http.NewResponseController(c.Response().Writer).SetReadDeadline(time.Time{}) // the next request has its own
	}
}
