package web

import (
	"fmt"
	"net/http"
	"net/url"

	"github.com/gorilla/securecookie"
	"github.com/labstack/echo/v4"
)

const demoTokenName = "demo_sign_in"

// demoCodec signs the demo's one-click addresses with the session key. They
// hold for a day; a restarted demo prints new ones.
func (s *Server) demoCodec() *securecookie.SecureCookie {
	return securecookie.New(s.cfg.SessionKey, nil).MaxAge(86400)
}

// DemoLink is an address that signs the user in with one click. It is an error
// outside of a demo.
func (s *Server) DemoLink(userID string) (string, error) {
	if !s.cfg.Demo {
		return "", fmt.Errorf("one-click sign-in exists only in a demo")
	}
	token, err := s.demoCodec().Encode(demoTokenName, userID)
	if err != nil {
		return "", fmt.Errorf("sign the demo link: %w", err)
	}
	return s.cfg.BaseURL + "/login/demo?" + url.Values{"token": {token}}.Encode(), nil
}

func (s *Server) loginDemo(c echo.Context) error {
	var id string
	if err := s.demoCodec().Decode(demoTokenName, c.QueryParam("token"), &id); err != nil {
		return &pageFault{
			status: http.StatusForbidden, title: "This sign-in address no longer holds", err: err,
			what: "It was made by an earlier start of the demo, or it is incomplete.",
			next: "Copy the address again from where the demo runs.",
		}
	}
	u, err := s.cfg.Store.UserByID(c.Request().Context(), id)
	if err != nil {
		return err
	}
	if err := s.signIn(c, u); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/")
}
