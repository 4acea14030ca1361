package web

import (
	"errors"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
)

// lookAhead gets the item ready that this person would be given next: its texts are read
// and what can be ruled on is found, as far as they may see it. The answer is empty
// whatever there is, so nothing of the item leaves the server before it is claimed; and
// it is not claimed here, so that nobody holds what nobody reads.
func (s *Server) lookAhead(c echo.Context) error {
	ctx, actor := c.Request().Context(), user(c).Actor()
	if !actor.MayDecide() {
		return c.NoContent(http.StatusNoContent)
	}
	project, err := s.project(c)
	if err != nil {
		return err
	}
	id, err := s.cfg.Store.PeekNext(ctx, actor, project, store.ClaimFilter{})
	if errors.Is(err, store.ErrNotFound) {
		return c.NoContent(http.StatusNoContent)
	}
	if err != nil {
		return err
	}
	r, err := s.cfg.Store.GetReview(ctx, actor, id)
	if err != nil {
		return err
	}
	// A report that can't be read is told on the item's own page.
	if _, err := s.deskItem(ctx, r); err != nil {
		s.cfg.Logger.Warn("the next item could not be made ready", "review", id, "error", err.Error())
	}
	return c.NoContent(http.StatusNoContent)
}
