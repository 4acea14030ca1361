package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge/agreement/resample"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/judge/calibration/threshold"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func thresholdsPath(judge string) string { return calibrationPath(judge) + "/thresholds" }

// seriesOf is one of the models and versions that a judge has labels of: the one that
// the address names, else the one with most labels. ok is false where there is none.
func seriesOf(form url.Values, all []calibration.Counts) (chosen calibration.Counts, ok bool) {
	model, version := form.Get("model"), form.Get("version")
	if at := form.Get("series"); at != "" {
		version, model, _ = strings.Cut(at, " ")
	}
	for _, c := range all {
		switch {
		case model != "" || version != "":
			if c.Model == model && c.PromptVersion == version {
				return c, true
			}
		case !ok || c.Items > chosen.Items:
			chosen, ok = c, true
		}
	}
	return chosen, ok
}

// seriesValue names a series in an address.
func seriesValue(version, model string) string { return version + " " + model }

// seriesQuery is an address's part that names a series.
func seriesQuery(version, model string) string {
	return "?" + url.Values{"series": {seriesValue(version, model)}}.Encode()
}

// seriesChoices are the models and versions of a judge, to choose from.
func seriesChoices(all []calibration.Counts) []views.Choice {
	choices := make([]views.Choice, len(all))
	for i, x := range all {
		choices[i] = views.Choice{Value: seriesValue(x.PromptVersion, x.Model), Text: strings.TrimPrefix(x.Model+", prompt "+x.PromptVersion[:min(8, len(x.PromptVersion))], ", ")}
	}
	return choices
}

// thresholds works out what is asked. The report is refused where labels carry none.
func (s *Server) thresholds(ctx context.Context, a store.Actor, project, name string, ask thresholdAsk) (threshold.Written, error) {
	w := threshold.Written{Judge: name, Model: ask.model, PromptVersion: ask.version, PerWeek: ask.perWeek, PerWeekBasis: ask.perWeekBasis, Minutes: ask.Minutes, Costs: ask.Costs,
		MaxPeople: ask.MaxPeople, MaxMisses: ask.MaxMisses}
	labels, err := s.cfg.Store.ScoredLabels(ctx, a, project, name, ask.model, ask.version)
	if err != nil {
		return w, err
	}
	w.AllLabels, w.Unsure, w.Waiting = labels.All, labels.Unsure, labels.Counts.Waiting
	usable, refused, err := labels.Usable()
	if err != nil {
		return w, err
	}
	if refused != "" {
		w.Report = threshold.Refuse(refused, len(labels.Labels), ask.Ask)
		return w, nil
	}
	ask.Judged = labels.Judged
	w.Report, err = threshold.Simulate(usable, ask.Ask)
	return w, err
}

func (s *Server) showThresholds(c echo.Context) error {
	name := param(c, "judge")
	f, err := s.frame(c, "Thresholds of "+name, views.TabCalibration)
	if err != nil {
		return err
	}
	ctx, actor, form := c.Request().Context(), user(c).Actor(), c.QueryParams()
	all, err := s.cfg.Store.CalibrationCounts(ctx, actor, f.Project, name)
	if err != nil {
		return err
	}
	p := views.ThresholdPage{Frame: f, Judge: name, Href: thresholdsPath(name), CalibrationHref: calibrationPath(name)}
	series, found := seriesOf(form, all)
	p.Form.Choices = seriesChoices(all)
	if !found && (form.Get("model") != "" || form.Get("series") != "" || form.Get("version") != "") {
		return store.ErrNotFound
	}
	p.Form.Series = seriesValue(series.PromptVersion, series.Model)
	ask, err := s.askThresholds(ctx, actor, f.Project, name, series.Model, series.PromptVersion, form)
	var field *store.FieldError
	status := http.StatusOK
	switch {
	case errors.As(err, &field):
		p.Fault, p.Field, status = sentenceOf(field), field.Field, http.StatusUnprocessableEntity
	case err != nil:
		return err
	}
	choices, chosen := p.Form.Choices, p.Form.Series
	p.Form = thresholdForm(ask, form)
	p.Form.Choices, p.Form.Series = choices, chosen
	switch {
	case p.Fault != "":
	case !found:
		p.Refused, p.Advice = "No evaluation of this judge has a verdict yet.", "Judge some traces, and label some that are drawn at random."
	default:
		if err := s.fillThresholds(ctx, actor, &p, ask); err != nil {
			return err
		}
		p.JSONHref = thresholdsPath(name) + ".json?" + form.Encode()
	}
	return s.render(c, status, views.Thresholds(p))
}

// thresholdsJSON is the report with what was asked, for a page and for the API.
func (s *Server) thresholdsJSON(c echo.Context, project string) error {
	name, form := param(c, "judge"), c.QueryParams()
	ctx, actor := c.Request().Context(), user(c).Actor()
	all, err := s.cfg.Store.CalibrationCounts(ctx, actor, project, name)
	if err != nil {
		return err
	}
	series, found := seriesOf(form, all)
	if !found {
		return fmt.Errorf("judge %s has no labels of that model and version: %w", name, store.ErrNotFound)
	}
	ask, err := s.askThresholds(ctx, actor, project, name, series.Model, series.PromptVersion, form)
	if err != nil {
		return err
	}
	ask.Replicates = resample.DefaultReplicates
	written, err := s.thresholds(ctx, actor, project, name, ask)
	if err != nil {
		return err
	}
	return c.JSONPretty(http.StatusOK, written, "  ")
}

func (s *Server) thresholdsFile(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	c.Response().Header().Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", "thresholds-"+param(c, "judge")+".json"))
	return s.thresholdsJSON(c, project)
}

func (s *Server) apiThresholds(c echo.Context) error { return s.thresholdsJSON(c, s.apiProject(c)) }

// tryBandPath is the policy with a band of a judge filled in.
func tryBandPath(judge string, low, pass float64) string {
	return "/policy?" + url.Values{"try_judge": {judge}, "try_low": {numberText(low)}, "try_pass": {numberText(pass)}}.Encode() + "#yaml"
}
