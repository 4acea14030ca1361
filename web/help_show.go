package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/views"
)

func (s *Server) showHelp(c echo.Context) error {
	f, err := s.frame(c, "Help", "")
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Help(views.HelpPage{Frame: f}))
}
