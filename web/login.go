package web

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"golang.org/x/time/rate"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// signInLimit bounds tries per address: argon2id is dear on purpose, and must
// not be a way to keep the server busy. The store pauses accounts by itself.
func signInLimit() echo.MiddlewareFunc {
	return middleware.RateLimiterWithConfig(middleware.RateLimiterConfig{
		Store: middleware.NewRateLimiterMemoryStoreWithConfig(middleware.RateLimiterMemoryStoreConfig{
			Rate: rate.Every(2 * time.Second), Burst: 20, ExpiresIn: 10 * time.Minute,
		}),
		IdentifierExtractor: func(c echo.Context) (string, error) { return c.RealIP(), nil },
		DenyHandler: func(_ echo.Context, _ string, err error) error {
			return &pageFault{
				status: http.StatusTooManyRequests, title: "Too many tries", err: err,
				what: "There were too many sign-in tries from your address.", next: "Wait a minute and try again.",
			}
		},
	})
}

func (s *Server) showLogin(c echo.Context) error {
	next := localPath(c.QueryParam("next"))
	if _, err := s.signedIn(c); err == nil {
		return c.Redirect(http.StatusSeeOther, next)
	}
	f := s.bareFrame(c, "Sign in")
	f.Flash = s.takeFlash(c)
	return s.render(c, http.StatusOK, views.Login(views.LoginPage{Frame: f, Next: next}))
}

func (s *Server) login(c echo.Context) error {
	email, next := c.FormValue("email"), localPath(c.FormValue("next"))
	u, err := s.cfg.Store.Authenticate(c.Request().Context(), email, c.FormValue("password"))
	if errors.Is(err, store.ErrForbidden) || errors.Is(err, store.ErrInvalid) {
		return s.render(c, http.StatusUnprocessableEntity, views.Login(views.LoginPage{
			Frame: s.bareFrame(c, "Sign in"), Email: email, Next: next, Fault: signInFault(err, s.cfg.Now()),
		}))
	}
	if err != nil {
		return err
	}
	if err := s.signIn(c, u); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, next)
}

// signInFault says what was wrong without saying whether the account exists.
func signInFault(err error, now time.Time) string {
	var refused *store.SignInError
	if !errors.As(err, &refused) {
		return "That email and password do not match."
	}
	if minutes := int(refused.PausedUntil.Sub(now).Minutes() + 1); refused.PausedUntil.After(now) {
		return fmt.Sprintf("Too many wrong passwords. Try again in %d minutes.", minutes)
	}
	if refused.TriesLeft == 1 {
		return "That email and password do not match. One try is left before a 15-minute pause."
	}
	return fmt.Sprintf("That email and password do not match. %d tries are left before a 15-minute pause.", refused.TriesLeft)
}

func (s *Server) logout(c echo.Context) error {
	// A copy of the cookie must be worth nothing from here on.
	if err := s.cfg.Store.EndSessions(c.Request().Context(), user(c).Actor()); err != nil {
		return err
	}
	if err := s.signOut(c); err != nil {
		return err
	}
	s.flash(c, views.NoticeInfo, "You are signed out, in every browser.")
	return c.Redirect(http.StatusSeeOther, "/login")
}
