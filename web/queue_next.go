package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// claimNext claims the most urgent item this person may take and goes there.
func (s *Server) claimNext(c echo.Context) error {
	if isPrefetch(c) {
		return c.NoContent(http.StatusNoContent)
	}
	if site := c.Request().Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" {
		// Another site's link led here: it may show the queue, not claim.
		return c.Redirect(http.StatusSeeOther, "/queue")
	}
	project, err := s.project(c)
	if err != nil {
		return err
	}
	id, err := s.cfg.Store.TakeNext(c.Request().Context(), user(c).Actor(), project, store.ClaimFilter{
		Judge: formOrQuery(c, "judge"), Domain: formOrQuery(c, "domain"),
	})
	if errors.Is(err, store.ErrNotFound) {
		s.flash(c, views.NoticeInfo, "Nothing waits that you could take. What keeps it from you stands below.")
		return s.leadTo(c, "/queue?view=mine")
	}
	if err != nil {
		return err
	}
	return s.leadTo(c, reviewPath(id))
}

// isPrefetch says that the browser fetches ahead and nobody asked yet.
func isPrefetch(c echo.Context) bool {
	h := c.Request().Header
	return h.Get("Sec-Purpose") != "" || h.Get("Purpose") == "prefetch" || h.Get("X-Moz") == "prefetch"
}

func formOrQuery(c echo.Context, name string) string {
	if v := c.QueryParam(name); v != "" {
		return v
	}
	if c.Request().Method == http.MethodPost {
		return c.FormValue(name)
	}
	return ""
}
