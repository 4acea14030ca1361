package web

import (
	_ "embed" // openapi.json
	"net/http"

	"github.com/labstack/echo/v4"
)

//go:embed openapi.json
var description []byte

// apiDescription is the one part of the API that needs no token: it says how
// to get in.
func (s *Server) apiDescription(c echo.Context) error {
	return c.JSONBlob(http.StatusOK, description)
}
