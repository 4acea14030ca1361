package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// drawLabels draws blind labels at random from what the judge gave one verdict.
func (s *Server) drawLabels(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	n, err := strconv.Atoi(strings.ReplaceAll(strings.TrimSpace(form.Get("n")), ",", ""))
	if err != nil {
		return &store.FieldError{Field: "n", Message: fmt.Sprintf("is %q: it is a whole number from 1 to %s", form.Get("n"), thousands(store.MostDrawn))}
	}
	ask := store.DrawAsk{Judge: param(c, "judge"), Model: form.Get("model"), PromptVersion: form.Get("version"), Verdict: judge.Verdict(form.Get("verdict")), N: n, Token: form.Get("token")}
	back := planPath(ask.Judge) + seriesQuery(ask.PromptVersion, ask.Model)
	d, err := s.cfg.Store.DrawLabels(c.Request().Context(), user(c).Actor(), project, ask)
	switch {
	case errors.Is(err, store.ErrConflict):
		s.flash(c, views.NoticeBad, "Nothing was drawn: either all of it is labelled or waits already, or other work came between. Below is how it stands now.")
		return c.Redirect(http.StatusSeeOther, back)
	case err != nil:
		return err
	}
	s.flash(c, views.NoticeInfo, drawnWords(d, n))
	return c.Redirect(http.StatusSeeOther, back)
}

// drawnWords say what a draw did.
func drawnWords(d store.LabelDraw, asked int) string {
	switch {
	case d.Again:
		return fmt.Sprintf("This was drawn already, as draw %d: %s. Nothing more was drawn.", d.Number, counted(d.N, "evaluation"))
	case d.N < asked:
		return fmt.Sprintf("Only %s could be drawn, so all of them were. They wait in the queue, blind, and their results wait with them.", counted(d.N, "evaluation"))
	}
	return fmt.Sprintf("%s of %s drawn at random. They wait in the queue, blind, and their results wait with them.", counted(d.N, "evaluation"), thousands(d.Frame)+" "+plural(d.N, "was", "were"))
}
