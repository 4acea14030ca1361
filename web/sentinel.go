package web

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// sentinelPanel shows the sentinel set of a judge.
func (s *Server) sentinelPanel(c echo.Context, f views.Frame, name string) (*views.SentinelPanel, error) {
	ctx, actor := c.Request().Context(), user(c).Actor()
	set, rounds, err := s.cfg.Store.Sentinel(ctx, actor, f.Project, name)
	if err != nil {
		return nil, err
	}
	p := &views.SentinelPanel{Frame: f, Form: views.SentinelForm{Days: "7"}}
	p.Line = "No traces are judged again and again by this judge. With a set of known ones, a change of the model behind it is found though nobody labels anything new."
	if set != nil {
		p.Line = sentinelLine(*set)
		p.Form.Run, p.Form.Days = set.Run, strconv.Itoa(set.EveryDays)
		if set.BudgetUSD != nil {
			p.Form.Budget = strconv.FormatFloat(*set.BudgetUSD, 'f', -1, 64)
		}
	}
	for _, r := range rounds {
		row := views.SentinelRow{Number: r.Number, Model: r.Model, Version: r.PromptVersion, Judged: r.Judged, Failed: r.Failed, CostUSD: r.CostUSD, At: r.StartedAt, State: "done"}
		switch {
		case r.FinishedAt == nil && r.Problem != "":
			row.State = "waits: " + r.Problem
		case r.FinishedAt == nil:
			row.State = "under way"
		case r.Problem != "":
			row.State = "ended: " + r.Problem
		}
		p.Rounds = append(p.Rounds, row)
	}
	if actor.Role == store.Auditor {
		return p, nil
	}
	p.Action = calibrationPath(name) + "/sentinel"
	runs, err := s.cfg.Store.Runs(ctx, actor, f.Project, 200)
	for _, r := range runs {
		p.Form.Runs = append(p.Form.Runs, views.Choice{Value: r.Name, Text: r.Name})
	}
	return p, err
}

func sentinelLine(set store.SentinelSet) string {
	line := fmt.Sprintf("%s of run %s with a known label", counted(set.Traces, "trace"), set.Run)
	if set.EveryDays == 0 {
		return line + ". It is not judged again any more: " + set.SetBy + " ended it on " + dayText(set.SetAt) + "."
	}
	line += ", judged again " + everyDays(set.EveryDays) + " by the present version and models"
	if set.BudgetUSD != nil {
		line += fmt.Sprintf(", for at most $%g a round", *set.BudgetUSD)
	}
	return line + ". Chosen by " + set.SetBy + " on " + dayText(set.SetAt) + ". Repeats are no evaluations: nobody is asked about them."
}

func everyDays(n int) string {
	if n == 1 {
		return "every day"
	}
	return fmt.Sprintf("every %d days", n)
}

// setSentinel names the run that is a judge's sentinel set, and how often it is judged.
func (s *Server) setSentinel(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	name, form := param(c, "judge"), views.SentinelForm{Run: c.FormValue("run"), Days: strings.TrimSpace(c.FormValue("every_days")), Budget: strings.TrimSpace(c.FormValue("budget_usd"))}
	days, err := strconv.Atoi(form.Days)
	if err != nil {
		form.DaysFault = "Give a whole number of days, 0 to end it."
	}
	var budget *float64
	if form.Budget != "" {
		usd, err := decimal(form.Budget)
		if err != nil {
			form.BudgetFault = "Give an amount in dollars, such as 2.50, or nothing."
		}
		budget = &usd
	}
	if form.DaysFault+form.BudgetFault == "" {
		_, err = s.cfg.Store.SetSentinel(c.Request().Context(), user(c).Actor(), project, name, form.Run, days, budget)
		var field *store.FieldError
		switch {
		case err == nil:
			s.flash(c, views.NoticeInfo, "The sentinel set is kept. Servers judge it when it is due, behind the work.")
			return c.Redirect(http.StatusSeeOther, calibrationPath(name)+"#sentinel")
		case !errors.As(err, &field):
			return err
		case field.Field == "run":
			form.RunFault = "The run " + field.Message + "."
		case field.Field == "every_days":
			form.DaysFault = "It " + field.Message + "."
		case field.Field == "budget_usd":
			form.BudgetFault = "It " + field.Message + "."
		default:
			form.OtherFault = field.Error()
		}
	}
	p, err := s.calibrationPage(c)
	if err != nil {
		return err
	}
	if p.Sentinel != nil {
		form.Runs = p.Sentinel.Form.Runs
		p.Sentinel.Form = form
	}
	return s.render(c, http.StatusUnprocessableEntity, views.Calibration(p))
}
