package web

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"

	"github.com/a-h/templ"
	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/views"
	"github.com/countersign/countersign/views/invisible"
)

var pageBuffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled keeps one huge page from holding its memory for ever.
const maxPooled = 1 << 20

// render writes a page. It is rendered whole before the status goes out, so
// that a page that fails half-way becomes an error page and not half a page.
func (s *Server) render(c echo.Context, status int, page templ.Component) error {
	buf := pageBuffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= maxPooled {
			buf.Reset()
			pageBuffers.Put(buf)
		}
	}()
	if err := page.Render(c.Request().Context(), buf); err != nil {
		return fmt.Errorf("render the page: %w", err)
	}
	return c.HTMLBlob(status, invisible.Show(buf.Bytes()))
}

// errorPage shows a fault to people. It must not fail for the reason that the
// page failed, so it shows the frame of a signed-in person only if that works.
func (s *Server) errorPage(c echo.Context, fault pageFault, id string) error {
	f := s.bareFrame(c, fault.title)
	if u, err := s.signedIn(c); err == nil {
		c.Set(userKey, u)
		if whole, err := s.frame(c, fault.title, ""); err == nil {
			f = whole
		}
	}
	p := views.ErrorPage{
		Frame: f, Status: fault.status, Heading: fault.title, What: fault.what, Do: fault.next,
		LinkHref: "/", LinkText: "Go to the overview",
	}
	if fault.status >= http.StatusInternalServerError {
		p.ID = id
		p.Safe = "Everything that was confirmed to you before is stored."
	}
	return s.render(c, fault.status, views.Error(p))
}
