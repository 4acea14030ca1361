package web

import (
	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// elsewhere is the queued work of a project, or of one of its runs, that waits for
// an engine which this server does not have.
func (s *Server) elsewhere(c echo.Context, project, run string) ([]views.Elsewhere, error) {
	ctx := c.Request().Context()
	h, err := s.cfg.Harness(ctx, project)
	if err != nil {
		return nil, err
	}
	waits, err := s.cfg.Store.WaitingElsewhere(ctx, user(c).Actor(), store.WaitFilter{Project: project, Run: run, Here: h.Engines()})
	if err != nil {
		return nil, err
	}
	list := make([]views.Elsewhere, len(waits))
	for i, w := range waits {
		list[i] = views.Elsewhere{Engine: w.Engine, Endpoint: w.Endpoint, N: w.N, More: w.More}
	}
	return list, nil
}
