package web

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"
)

// healthy says that the process runs.
func (s *Server) healthy(c echo.Context) error { return c.String(http.StatusOK, "ok\n") }

// ready says that it can serve: its database answers.
func (s *Server) ready(c echo.Context) error {
	ctx, cancel := context.WithTimeout(c.Request().Context(), lookupLimit)
	defer cancel()
	if err := s.cfg.Store.Ping(ctx); err != nil {
		s.cfg.Logger.Warn("not ready", "error", err.Error())
		c.Response().Header().Set(echo.HeaderRetryAfter, retryAfter)
		return c.String(http.StatusServiceUnavailable, "the database does not answer\n")
	}
	return c.String(http.StatusOK, "ready\n")
}
