package web

import (
	"errors"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// retryRun gives what failed in a run back to its judges.
func (s *Server) retryRun(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	n, err := s.cfg.Store.RetryRun(c.Request().Context(), user(c).Actor(), project, param(c, "name"))
	if n > 0 {
		s.cfg.Wake()
	}
	if err != nil {
		return err
	}
	s.flash(c, views.NoticeInfo, counted(n, "evaluation is", "evaluations are")+" judged again. Earlier attempts stay on record.")
	return c.Redirect(http.StatusSeeOther, runPath(param(c, "name")))
}

// budgetOf reads an amount in dollars; empty is no limit.
func budgetOf(text string) (*float64, error) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "$")
	if text == "" {
		return nil, nil
	}
	usd, err := decimal(text)
	if err != nil {
		return nil, &store.FieldError{Field: "budget_usd", Message: "is not an amount in US dollars such as 25 or 0.50"}
	}
	return &usd, nil
}

// setRunBudget sets what a run may cost. A higher one lets what was stopped go on.
func (s *Server) setRunBudget(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	usd, err := budgetOf(c.FormValue("budget_usd"))
	if err == nil {
		_, err = s.cfg.Store.SetRunBudget(c.Request().Context(), user(c).Actor(), project, param(c, "name"), usd)
	}
	var field *store.FieldError
	if errors.As(err, &field) {
		p, pageErr := s.runPage(c)
		if pageErr != nil {
			return pageErr
		}
		p.Money.BudgetText, p.Money.Fault = c.FormValue("budget_usd"), sentenceOf(field)
		return s.render(c, http.StatusUnprocessableEntity, views.Run(p))
	}
	if err != nil {
		return err
	}
	s.cfg.Wake()
	text := "The run has no budget now."
	if usd != nil {
		text = "The budget is set. What it had stopped goes on as far as it reaches."
	}
	s.flash(c, views.NoticeInfo, text)
	return c.Redirect(http.StatusSeeOther, runPath(param(c, "name")))
}
