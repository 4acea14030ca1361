package web

import (
	"errors"
	"net/http"
	"unicode"
	"unicode/utf8"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func (s *Server) claimReview(c echo.Context) error {
	id := param(c, "id")
	_, err := s.cfg.Store.ClaimReview(c.Request().Context(), user(c).Actor(), id)
	return s.backToReview(c, id, err, "")
}

// renewClaim keeps a claim alive while its holder works; app.js calls it.
func (s *Server) renewClaim(c echo.Context) error {
	until, err := s.cfg.Store.RenewClaim(c.Request().Context(), user(c).Actor(), param(c, "id"))
	if err != nil && isScript(c) {
		err = s.plainly(err)
		if isAway(err) {
			return err
		}
		f := faultOf(err)
		return writeProblem(c, problemOf(f, err, c.Response().Header().Get(echo.HeaderXRequestID)))
	}
	if err != nil || !isScript(c) {
		return s.backToReview(c, param(c, "id"), err, "")
	}
	return c.JSON(http.StatusOK, renewed{LeaseSeconds: int(until.Sub(s.cfg.Now()).Seconds()), LeaseExpiresAt: until})
}

func (s *Server) releaseClaim(c echo.Context) error {
	if err := s.cfg.Store.ReleaseClaim(c.Request().Context(), user(c).Actor(), param(c, "id")); err != nil {
		return s.backToReview(c, param(c, "id"), err, "")
	}
	s.flash(c, views.NoticeInfo, "You gave the item back. It waits for the next reviewer.")
	return c.Redirect(http.StatusSeeOther, "/queue")
}

// skipReview passes the item on and claims the next one.
func (s *Server) skipReview(c echo.Context) error {
	err := s.cfg.Store.SkipReview(c.Request().Context(), user(c).Actor(), param(c, "id"), c.FormValue("comment"))
	if err != nil {
		return s.backToReview(c, param(c, "id"), err, "")
	}
	return s.claimNext(c) // which tells a script where to go
}

func (s *Server) reopenReview(c echo.Context) error {
	err := s.cfg.Store.Reopen(c.Request().Context(), user(c).Actor(), param(c, "id"), c.FormValue("comment"))
	return s.backToReview(c, param(c, "id"), err, "The item is yours again. The earlier decision stays on record.")
}

// backToReview goes to the desk: with a message when it worked, and, when
// somebody was faster, with the desk telling how the item stands now.
func (s *Server) backToReview(c echo.Context, id string, err error, done string) error {
	var unfit *store.UnfitError
	switch {
	case errors.As(err, &unfit):
		s.flash(c, views.NoticeBad, "You can’t take this item. "+unfit.Message)
	case errors.Is(err, store.ErrConflict):
		s.flash(c, views.NoticeBad, conflictWords(err))
	case err != nil:
		return err
	case done != "":
		s.flash(c, views.NoticeInfo, done)
	}
	return s.leadTo(c, reviewPath(id))
}

// conflictWords says who was faster.
func conflictWords(err error) string {
	var decided *store.DecidedError
	var held *store.HeldError
	var gone *store.ExpiredError
	switch {
	case errors.As(err, &decided):
		return decided.Decision.UserName + " decided this item first. Nothing of yours was recorded."
	case errors.As(err, &held):
		return held.HolderName + " holds this item now. Nothing of yours was recorded."
	case errors.As(err, &gone) && gone.EndedBy != "":
		return gone.EndedBy + " ended your claim on this item at " + gone.EndedAt.Format("15:04") + " UTC. Nothing of yours was recorded; claim it again to go on."
	}
	var stale *store.StaleError
	var refused *store.RefusedError
	switch {
	case errors.As(err, &stale):
		return asSentence(stale.Error()) + " Nothing of yours was recorded."
	case errors.As(err, &refused):
		return asSentence(refused.Why) + " Nothing of yours was recorded."
	}
	return "The item has changed since the page was opened. Nothing of yours was recorded."
}

// asSentence writes a plain sentence part as a sentence.
func asSentence(part string) string {
	first, size := utf8.DecodeRuneInString(part)
	return string(unicode.ToUpper(first)) + part[size:] + "."
}
