package web

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// healthy says that the process runs.
func (s *Server) healthy(c echo.Context) error { return c.String(http.StatusOK, "ok\n") }

// ready says that it can serve: its database answers.
func (s *Server) ready(c echo.Context) error {
	if err := s.cfg.Store.Ping(c.Request().Context()); err != nil {
		s.cfg.Logger.Error("not ready", "error", err.Error())
		return c.String(http.StatusServiceUnavailable, "the database does not answer\n")
	}
	return c.String(http.StatusOK, "ready\n")
}
