package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/views"
)

// freezeBaseline takes how a judge does now as normal.
func (s *Server) freezeBaseline(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	name := param(c, "judge")
	b, err := s.cfg.Store.FreezeBaseline(c.Request().Context(), user(c).Actor(), project, name, c.FormValue("model"), c.FormValue("version"))
	if err != nil {
		return err
	}
	s.flash(c, views.NoticeInfo, "The baseline of "+name+" by "+b.Model+" is frozen, with "+counted(b.Counts.Labels, "label")+" of random audits. What comes from now on is held against it.")
	return c.Redirect(http.StatusSeeOther, calibrationPath(name))
}

// closeAlarm ends a drift alarm with what was found.
func (s *Server) closeAlarm(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	a, err := s.cfg.Store.CloseAlarm(c.Request().Context(), user(c).Actor(), project, param(c, "id"), c.FormValue("reason"))
	if err != nil {
		return err
	}
	s.flash(c, views.NoticeInfo, "The alarm is closed. Its measure is counted anew from now on, against the same baseline.")
	return c.Redirect(http.StatusSeeOther, calibrationPath(a.Judge))
}
