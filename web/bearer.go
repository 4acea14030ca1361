package web

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
)

// bearer lets API calls with a valid token through. A session cookie is no
// pass here, so that no page of another site can make a browser call the API.
func (s *Server) bearer(next echo.HandlerFunc) echo.HandlerFunc {
	return func(c echo.Context) error {
		scheme, secret, _ := strings.Cut(c.Request().Header.Get(echo.HeaderAuthorization), " ")
		if !strings.EqualFold(scheme, "Bearer") || secret == "" {
			return unauthorised(c, "Send your token as: Authorization: Bearer TOKEN. `countersign token create` makes one.")
		}
		u, err := whoAsks(c, func(ctx context.Context) (store.User, error) {
			return s.cfg.Store.TokenUser(ctx, strings.TrimSpace(secret))
		})
		if errors.Is(err, store.ErrForbidden) || errors.Is(err, store.ErrNotFound) {
			return unauthorised(c, "This token is unknown or was revoked, or its owner's account is disabled.")
		}
		if err != nil {
			return err
		}
		c.Set(userKey, u)
		return next(c)
	}
}

func unauthorised(c echo.Context, detail string) error {
	c.Response().Header().Set(echo.HeaderWWWAuthenticate, `Bearer realm="countersign"`)
	return writeProblem(c, problem{
		Type: "about:blank", Title: "Not signed in", Status: http.StatusUnauthorized, Detail: detail,
		Instance: "urn:request:" + c.Response().Header().Get(echo.HeaderXRequestID),
	})
}

// apiProject is the project that an API call is about: the parameter project,
// else the server's.
func (s *Server) apiProject(c echo.Context) string {
	if p := c.QueryParam("project"); p != "" {
		return p
	}
	return s.cfg.Project
}
