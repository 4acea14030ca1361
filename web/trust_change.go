package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// changeTrust suspends a version of a judge, or resumes it.
func (s *Server) changeTrust(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	v := store.RaterVersion{Judge: param(c, "judge"), Model: c.FormValue("model"), PromptVersion: c.FormValue("version")}
	is, err := s.trustChange(c, project, v, c.FormValue("action"), c.FormValue("reason"))
	var field *store.FieldError
	switch {
	case errors.As(err, &field) && field.Field == "reason":
		return s.trustFault(c, v, http.StatusUnprocessableEntity, sentenceOf(field))
	case errors.Is(err, store.ErrConflict): // somebody else was first: the page says who
		return s.trustFault(c, v, http.StatusConflict, "Nothing was changed: "+conflictDetail(err))
	case err != nil:
		return err
	}
	text := "The judge is suspended: all that it judges goes to people."
	if is.State != judge.Suspended {
		text = "The judge is resumed. By its rules it is " + string(is.State) + "."
	}
	s.flash(c, views.NoticeInfo, text)
	return c.Redirect(http.StatusSeeOther, calibrationPath(v.Judge))
}

func (s *Server) trustChange(c echo.Context, project string, v store.RaterVersion, action, reason string) (store.JudgeTrust, error) {
	ctx, actor := c.Request().Context(), user(c).Actor()
	switch action {
	case "suspend":
		return s.cfg.Store.Suspend(ctx, actor, project, v, reason)
	case "resume":
		return s.cfg.Store.Resume(ctx, actor, project, v, reason)
	}
	return store.JudgeTrust{}, &store.FieldError{Field: "action", Message: "is neither suspend nor resume"}
}

// trustFault shows the page again with what was typed and what is wrong with it.
func (s *Server) trustFault(c echo.Context, v store.RaterVersion, status int, fault string) error {
	p, err := s.calibrationPage(c)
	if err != nil {
		return err
	}
	for i := range p.Series {
		if g := &p.Series[i].Gating; g.Model == v.Model && g.Version == v.PromptVersion {
			g.Fault, g.Text = fault, c.FormValue("reason")
		}
	}
	return s.render(c, status, views.Calibration(p))
}

// apiChangeTrust is changeTrust for programs.
func (s *Server) apiChangeTrust(c echo.Context) error {
	var body struct {
		Model         string `json:"model"`
		PromptVersion string `json:"prompt_version"`
		Action        string `json:"action"`
		Reason        string `json:"reason"`
	}
	if err := decodeJSON(c, &body); err != nil {
		return err
	}
	v := store.RaterVersion{Judge: param(c, "name"), Model: body.Model, PromptVersion: body.PromptVersion}
	is, err := s.trustChange(c, s.apiProject(c), v, body.Action, body.Reason)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, is)
}
