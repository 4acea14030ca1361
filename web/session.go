package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/gorilla/sessions"
	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
)

const (
	sessionName = "countersign_session"
	sessionUser = "user"  // the user's id
	sessionTime = "epoch" // users.session_epoch when they signed in
	// sessionHours that a sign-in lasts: one working day.
	sessionHours = 12
)

func newCookieStore(cfg Config) *sessions.CookieStore {
	cs := sessions.NewCookieStore(cfg.SessionKey)
	cs.Options = &sessions.Options{
		Path: "/", MaxAge: sessionHours * 3600, HttpOnly: true, SameSite: http.SameSiteLaxMode,
		Secure: strings.HasPrefix(cfg.BaseURL, "https://"),
	}
	cs.MaxAge(sessionHours * 3600)
	return cs
}

// signIn begins a session for the user.
func (s *Server) signIn(c echo.Context, u store.User) error {
	session, err := s.sessions.New(c.Request(), sessionName)
	if err != nil && session == nil {
		return fmt.Errorf("make a session: %w", err)
	}
	session.Values = map[any]any{sessionUser: u.ID, sessionTime: u.SessionEpoch}
	if err := session.Save(c.Request(), c.Response()); err != nil {
		return fmt.Errorf("save the session: %w", err)
	}
	return nil
}

// signOut ends the session of this browser.
func (s *Server) signOut(c echo.Context) error {
	session, err := s.sessions.New(c.Request(), sessionName)
	if err != nil && session == nil {
		return fmt.Errorf("read the session: %w", err)
	}
	session.Options.MaxAge = -1
	return session.Save(c.Request(), c.Response())
}

// signedIn finds whose session this is. The user is read anew for every
// request, so that a changed role, a new password or a disabled account takes
// effect at once. The error is ErrForbidden when nobody is signed in.
func (s *Server) signedIn(c echo.Context) (store.User, error) {
	// A cookie that does not verify is as good as none.
	session, err := s.sessions.Get(c.Request(), sessionName)
	if err != nil {
		return store.User{}, store.ErrForbidden
	}
	id, _ := session.Values[sessionUser].(string)
	epoch, ok := session.Values[sessionTime].(int)
	if id == "" || !ok {
		return store.User{}, store.ErrForbidden
	}
	u, err := whoAsks(c, func(ctx context.Context) (store.User, error) { return s.cfg.Store.UserByID(ctx, id) })
	if errors.Is(err, store.ErrNotFound) {
		return store.User{}, store.ErrForbidden
	}
	if err != nil {
		return store.User{}, err
	}
	if u.DisabledAt != nil || u.SessionEpoch != epoch {
		return store.User{}, store.ErrForbidden
	}
	return u, nil
}

const userKey = "user"

// person lets signed-in people through, and sends others to sign in first.
func (s *Server) person(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		u, err := s.signedIn(c)
		if errors.Is(err, store.ErrForbidden) {
			to := "/login"
			if c.Request().Method == http.MethodGet {
				if here := c.Request().URL.RequestURI(); here != "/" {
					to += "?" + url.Values{"next": {here}}.Encode()
				}
			} else if isScript(c) {
				return echo.NewHTTPError(http.StatusUnauthorized)
			}
			return c.Redirect(http.StatusSeeOther, to)
		}
		if err != nil {
			return err
		}
		c.Set(userKey, u)
		return next(c)
	}
}

// isScript says that app.js asks, and not a person's form.
func isScript(c echo.Context) bool { return c.Request().Header.Get("X-CSRF-Token") != "" }

// user is the signed-in person, behind the person middleware.
func user(c echo.Context) store.User {
	u, _ := c.Get(userKey).(store.User)
	return u
}

// localPath keeps a redirect inside this server: anything but a plain path
// becomes the overview.
func localPath(p string) string {
	u, err := url.Parse(p)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(u.Path, "/") ||
		strings.HasPrefix(p, "//") || strings.ContainsAny(p, "\\\r\n\t") {
		return "/"
	}
	return u.RequestURI()
}
