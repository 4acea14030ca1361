package web

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func attemptPath(evaluation string, n int) string {
	return evaluationPath(evaluation) + "/attempts/" + strconv.Itoa(n)
}

// showAttempt shows what was sent and what came back in one attempt. While the
// judge's answer is sealed for the reader there is none.
func (s *Server) showAttempt(c echo.Context) error {
	v, err := s.cfg.Store.GetEvaluation(c.Request().Context(), user(c).Actor(), param(c, "id"))
	if err != nil {
		return err
	}
	for _, call := range v.Evaluation.Calls {
		if strconv.Itoa(call.Number) != param(c, "n") {
			continue
		}
		f, err := s.frame(c, "Attempt "+param(c, "n")+": "+v.Trace.Title(), views.TabEvaluations)
		if err != nil {
			return err
		}
		return s.render(c, http.StatusOK, views.OneAttempt(views.AttemptPage{Frame: f, Href: evaluationPath(v.Evaluation.ID) + "#attempts", Attempt: attemptView(call)}))
	}
	return store.ErrNotFound
}
