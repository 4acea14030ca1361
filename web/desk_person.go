package web

import (
	"net/http"

	"github.com/labstack/echo/v4"
)

// personField says for whom the desk was drawn.
const personField = "person"

// asOpened lets through what a desk sends only in the name of the person that it
// was drawn for. Two people may sign in by turns in one browser: its pages of before
// must not sign, or save, as somebody else.
func (s *Server) asOpened(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		if of := c.FormValue(personField); of != "" && of != user(c).ID {
			return &pageFault{status: http.StatusConflict, title: "You are signed in as somebody else",
				what: "This page was opened by another person, and this browser is signed in as " + user(c).Name + " now. Nothing was recorded.",
				next: "Sign in as whom the page was opened by, and load it again."}
		}
		return next(c)
	}
}
