package web

import (
	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
)

// needs lets only those on who have a right. It stands before whatever reads the
// request, so that a role that may not do it is told so, whatever was sent.
func (s *Server) needs(r store.Right, subject func(*Server, echo.Context) (string, error)) echo.MiddlewareFunc {
	return func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c echo.Context) error {
			what, err := subject(s, c)
			if err != nil {
				return err
			}
			if err := s.cfg.Store.Permit(c.Request().Context(), user(c).Actor(), r, what); err != nil {
				return err
			}
			return next(c)
		}
	}
}

// onProject is the project that a page or a call is about.
func onProject(s *Server, c echo.Context) (string, error) {
	if isAPI(c) {
		return "project:" + s.apiProject(c), nil
	}
	name, err := s.project(c)
	return "project:" + name, err
}

// onOne is what an address names by its id.
func onOne(kind string) func(*Server, echo.Context) (string, error) {
	return func(_ *Server, c echo.Context) (string, error) { return kind + ":" + param(c, "id"), nil }
}

func onQueue(*Server, echo.Context) (string, error) { return "queue", nil }

func onUsers(*Server, echo.Context) (string, error) { return "users", nil }
