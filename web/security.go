package web

import (
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

// contentPolicy allows nothing but our own files: no inline script or style,
// no frame, no foreign form target. What a trace contains can't run.
const contentPolicy = "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; " +
	"connect-src 'self'; font-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func (s *Server) securityHeaders(next echo.HandlerFunc) echo.HandlerFunc {
	secure := strings.HasPrefix(s.cfg.BaseURL, "https://")
	return func(c echo.Context) error {
		h := c.Response().Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		if secure {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		// Pages hold unpublished traces and sealed verdicts: nothing may keep
		// them. Files under /static set their own rule.
		h.Set("Cache-Control", "no-store")
		return next(c)
	}
}

// csrf guards every form. The API is not behind it: it takes bearer tokens
// only, which no browser sends by itself.
func (s *Server) csrf() echo.MiddlewareFunc {
	return middleware.CSRFWithConfig(middleware.CSRFConfig{
		TokenLookup:    "form:_csrf,header:X-CSRF-Token",
		ContextKey:     "csrf",
		CookieName:     "countersign_csrf",
		CookiePath:     "/",
		CookieHTTPOnly: true,
		CookieSecure:   strings.HasPrefix(s.cfg.BaseURL, "https://"),
		CookieSameSite: http.SameSiteLaxMode,
		ErrorHandler: func(err error, _ echo.Context) error {
			return &pageFault{
				status: http.StatusForbidden, err: err,
				title: "This form has gone stale",
				what:  "The form was sent without its security token, or the token has changed since the page was opened. Nothing was recorded.",
				next:  "Go back, reload the page and send it again.",
			}
		},
	})
}
