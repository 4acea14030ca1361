package web

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
)

func (s *Server) apiCalibration(c echo.Context) error {
	reports, err := s.withDrift(c, s.apiProject(c), c.QueryParam("judge"))
	if err != nil {
		return err
	}
	if reports == nil {
		reports = []store.TrustedReport{} // an empty array, not null
	}
	return c.JSON(http.StatusOK, reports)
}

// auditList is one page of the audit chain, oldest first; Next is the "after"
// of the next page.
type auditList struct {
	Events []store.AuditEvent `json:"events"`
	Next   string             `json:"next,omitempty"`
}

func (s *Server) apiListAudit(c echo.Context) error {
	after, err := intParam(c, "after", 0, 0, 1<<53)
	if err != nil {
		return err
	}
	limit, err := intParam(c, "limit", 200, 1, 1000)
	if err != nil {
		return err
	}
	events, err := s.cfg.Store.AuditAfter(c.Request().Context(), user(c).Actor(), int64(after), limit)
	if err != nil {
		return err
	}
	list := auditList{Events: events}
	if len(events) == limit {
		list.Next = strconv.FormatInt(events[limit-1].Seq, 10)
	}
	return c.JSON(http.StatusOK, list)
}
