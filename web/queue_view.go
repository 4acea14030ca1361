package web

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// saveQueueView keeps the filters of the address under a name.
func (s *Server) saveQueueView(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	filters := queueAddress(c, "")
	err = s.cfg.Store.SaveQueueView(c.Request().Context(), user(c).Actor(), project, store.QueueView{
		Name: c.FormValue("name"), Filters: filters, Shared: c.FormValue("shared") == "1",
	})
	var fault *store.FieldError
	if errors.As(err, &fault) {
		return s.renderQueue(c, http.StatusUnprocessableEntity, views.QueueFault{Title: "The view was not saved", Text: sentenceOf(fault)}, nil)
	}
	if err != nil {
		return err
	}
	s.flash(c, views.NoticeInfo, "The view is saved.")
	return c.Redirect(http.StatusSeeOther, strings.TrimSuffix("/queue?"+filters, "?"))
}

func (s *Server) deleteQueueView(c echo.Context) error {
	if err := s.cfg.Store.DeleteQueueView(c.Request().Context(), user(c).Actor(), param(c, "id")); err != nil {
		return err
	}
	s.flash(c, views.NoticeInfo, "The view is deleted. The items in it are as they were.")
	back, err := url.ParseQuery(c.FormValue("filters"))
	if err != nil || len(back) == 0 {
		return c.Redirect(http.StatusSeeOther, "/queue")
	}
	return c.Redirect(http.StatusSeeOther, "/queue?"+back.Encode())
}
