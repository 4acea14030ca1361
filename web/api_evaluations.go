package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// evaluationList is one page of evaluations; Next is the cursor of the next
// page, absent on the last.
type evaluationList struct {
	Evaluations []judge.Evaluation `json:"evaluations"`
	Next        string             `json:"next,omitempty"`
}

// sealable is an evaluation as the API shows it: sealed says that the judge's
// answer is kept back until this reviewer has given theirs.
type sealable struct {
	judge.Evaluation
	Sealed bool `json:"sealed,omitempty"`
}

func (s *Server) apiListEvaluations(c echo.Context) error {
	filter, err := evaluationFilter(c, s.apiProject(c))
	if err != nil {
		return err
	}
	if filter.Limit, err = intParam(c, "limit", pageRows, 1, 500); err != nil {
		return err
	}
	all, next, err := s.cfg.Store.EvaluationsFull(c.Request().Context(), user(c).Actor(), filter)
	if err != nil {
		return err
	}
	if all == nil {
		all = []judge.Evaluation{} // an empty array, not null
	}
	return c.JSON(http.StatusOK, evaluationList{Evaluations: all, Next: next})
}

func (s *Server) apiGetEvaluation(c echo.Context) error {
	v, err := s.cfg.Store.GetEvaluation(c.Request().Context(), user(c).Actor(), param(c, "id"))
	if err != nil {
		return err
	}
	s.cfg.Store.Look(user(c).Actor(), v.Evaluation.ID, store.SawByAPI, v.Sealed)
	return c.JSON(http.StatusOK, sealable{v.Evaluation, v.Sealed})
}

func (s *Server) apiRetryEvaluation(c echo.Context) error {
	if err := s.cfg.Store.RetryEvaluation(c.Request().Context(), user(c).Actor(), param(c, "id")); err != nil {
		return err
	}
	s.cfg.Wake()
	return s.apiGetEvaluation(c)
}
