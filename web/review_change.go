package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// changeReview makes one change of an item, as the queue makes of many, and goes
// back to its evaluation.
func (s *Server) changeReview(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	ctx, actor, id := c.Request().Context(), user(c).Actor(), param(c, "id")
	r, err := s.cfg.Store.GetReview(ctx, actor, id)
	if err != nil {
		return err
	}
	change, err := queueChange(form.Get("action"), form.Get)
	n := 0
	if err == nil {
		n, err = s.cfg.Store.ChangeQueue(ctx, actor, r.Project, []string{id}, change)
	}
	var refused *store.ChangeRefusedError
	var fault *store.FieldError
	switch {
	case errors.As(err, &refused):
		s.flash(c, views.NoticeBad, "Nothing was changed: "+refused.Items[0].Why+".")
	case errors.As(err, &fault):
		s.flash(c, views.NoticeBad, "Nothing was changed. "+sentenceOf(fault))
	case err != nil:
		return err
	default:
		s.flash(c, views.NoticeInfo, changedWords(n, 1, change))
	}
	return c.Redirect(http.StatusSeeOther, evaluationPath(r.EvaluationID)+"#item")
}
