package web

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// rerunsShown bounds the list of what was judged again.
const rerunsShown = 50

// rulesChoice is the engine without a model, in a form.
const rulesChoice = judge.EngineRules

// rerunAsked is a form for judging again, as it was sent.
type rerunAsked struct {
	kind, run, ofVersion, ofModel, engine, model, samples, since, budget string
}

func readRerun(form url.Values) rerunAsked {
	a := rerunAsked{
		kind: form.Get("kind"), run: form.Get("run"), ofVersion: form.Get("of_version"), ofModel: form.Get("of_model"), engine: form.Get("engine"),
		model: strings.TrimSpace(form.Get("model")), samples: strings.TrimSpace(form.Get("samples")), since: form.Get("since"), budget: form.Get("budget_usd"),
	}
	if a.kind == "" {
		a.kind = store.RerunVersion
	}
	return a
}

// fields are the form's values again, for the button that starts it.
func (a rerunAsked) fields() []views.FieldAgain {
	return []views.FieldAgain{
		{Name: "kind", Value: a.kind}, {Name: "run", Value: a.run}, {Name: "of_version", Value: a.ofVersion}, {Name: "of_model", Value: a.ofModel},
		{Name: "engine", Value: a.engine}, {Name: "model", Value: a.model}, {Name: "samples", Value: a.samples}, {Name: "since", Value: a.since},
		{Name: "budget_usd", Value: a.budget},
	}
}

// target is who is asked, as a form or a request names them.
func (s *Server) target(engine, model, samples string) (judge.Target, error) {
	t := judge.Target{Engine: engine, Model: model}
	if samples != "" {
		n, err := strconv.Atoi(samples)
		if err != nil || n < 1 || n > judge.MaxSamples {
			return t, &store.FieldError{Field: "samples", Message: fmt.Sprintf("is not a whole number from 1 to %d", judge.MaxSamples)}
		}
		t.Samples = n
	}
	if engine == rulesChoice {
		return judge.Target{Engine: judge.EngineRules, Model: judge.EngineRules}, nil
	}
	name, isModel := strings.CutPrefix(engine, judge.EngineOpenAI)
	if !isModel {
		return t, &store.FieldError{Field: "engine", Message: "is neither rules nor an endpoint of this server"}
	}
	name = strings.TrimPrefix(name, "/")
	for _, e := range s.cfg.Endpoints {
		if e.Name == name {
			t.Engine, t.Endpoint = judge.EngineOpenAI, name
			if t.Model == "" {
				t.Model = e.Model
			}
			if t.Model == "" {
				return t, &store.FieldError{Field: "model", Message: "is missing, and this endpoint has none configured"}
			}
			return t, nil
		}
	}
	return t, &store.FieldError{Field: "engine", Message: "names an endpoint that this server does not have"}
}

// unusedByRules says which of a target's fields were given and mean nothing, since
// the engine rules asks no model.
func unusedByRules(engine, model, samples string) []string {
	var unused []string
	if engine != rulesChoice {
		return nil
	}
	if model != "" && model != rulesChoice {
		unused = append(unused, "model is not used: the engine rules asks none")
	}
	if samples != "" && samples != "1" {
		unused = append(unused, "samples is not used: the engine rules gives one answer")
	}
	return unused
}

// targetChoices are the engines that this server has.
func (s *Server) targetChoices() []views.Choice {
	var choices []views.Choice
	for _, e := range s.cfg.Endpoints {
		value := judge.EngineOpenAI
		if e.Name != "" {
			value += "/" + e.Name
		}
		text := endpointText(e)
		if e.Model != "" {
			text += ", " + e.Model
		}
		choices = append(choices, views.Choice{Value: value, Text: text})
	}
	return append(choices, views.Choice{Value: rulesChoice, Text: "Rules, without a model"})
}

// rerunAsk is what is asked as the store takes it.
func (s *Server) rerunAsk(ctx context.Context, project, name string, a rerunAsked) (store.RerunAsk, error) {
	ask := store.RerunAsk{Kind: a.kind, Judge: name, Run: a.run, OfVersion: a.ofVersion, OfModel: a.ofModel}
	var err error
	if ask.BudgetUSD, err = budgetOf(a.budget); err != nil {
		return ask, err
	}
	if a.since != "" {
		if ask.Since, err = time.Parse(time.DateOnly, a.since); err != nil {
			return ask, &store.FieldError{Field: "since", Message: "is not a day like 2026-01-31"}
		}
	}
	if a.kind == store.RerunFailed {
		return ask, nil
	}
	t, err := s.target(a.engine, a.model, a.samples)
	if err != nil {
		return ask, err
	}
	h, err := s.cfg.Harness(ctx, project)
	if err != nil {
		return ask, err
	}
	j, ok := h.Judge(name)
	if !ok {
		return ask, &store.FieldError{Field: "judge", Message: "is not one that can judge here any more"}
	}
	if t.Samples == 1 {
		t.Samples = 0 // as the policy of today plans it
	}
	ask.Target = judge.Planned{
		Judge: name, PromptVersion: j.PromptVersion, Engine: t.Engine, Model: t.Model, Endpoint: t.Endpoint, Samples: t.Samples, Judgment: judge.NoJudgment,
	}
	return ask, nil
}

// price is what the target's model costs.
func (s *Server) price(t judge.Planned) store.Price {
	if s.cfg.Price == nil || t.Engine != judge.EngineOpenAI {
		return store.Price{}
	}
	return s.cfg.Price(t.Endpoint, t.Model)
}

// showRerun is the form, and when it is asked for, what it costs.
func (s *Server) showRerun(c echo.Context) error {
	asked := readRerun(c.QueryParams())
	p, err := s.rerunPage(c, asked)
	if err != nil {
		return err
	}
	if c.QueryParam("cost") == "" {
		return s.render(c, http.StatusOK, views.Rerun(p))
	}
	ask, estimate, err := s.estimate(c, p.Project, p.Name, asked)
	if status, told := rerunFault(&p, err); told {
		return s.render(c, status, views.Rerun(p))
	}
	if err != nil {
		return err
	}
	p.Estimate = rerunEstimate(ask, estimate, asked)
	return s.render(c, http.StatusOK, views.Rerun(p))
}

func (s *Server) estimate(c echo.Context, project, name string, asked rerunAsked) (store.RerunAsk, store.RerunEstimate, error) {
	ctx := c.Request().Context()
	ask, err := s.rerunAsk(ctx, project, name, asked)
	if err != nil {
		return ask, store.RerunEstimate{}, err
	}
	e, err := s.cfg.Store.EstimateRerun(ctx, user(c).Actor(), project, ask, s.price(ask.Target))
	return ask, e, err
}

// rerunFault shows on the form what is wrong with it.
func rerunFault(p *views.RerunPage, err error) (status int, told bool) {
	var field *store.FieldError
	if !errors.As(err, &field) {
		return 0, false
	}
	p.Fault, p.Field = sentenceOf(field), field.Field
	return http.StatusUnprocessableEntity, true
}

// startRerun starts what was shown, unless it has grown since.
func (s *Server) startRerun(c echo.Context) error {
	form, err := c.FormParams()
	if err != nil {
		return unreadable(err)
	}
	project, err := s.project(c)
	if err != nil {
		return err
	}
	name, asked := param(c, "name"), readRerun(form)
	ask, estimate, err := s.estimate(c, project, name, asked)
	var grown bool
	if err == nil {
		grown, err = grew(form, estimate)
	}
	var field *store.FieldError
	if err == nil && !grown {
		_, err = s.cfg.Store.StartRerun(c.Request().Context(), user(c).Actor(), project, ask, estimate)
	}
	switch {
	case errors.As(err, &field), err == nil && grown:
		p, pageErr := s.rerunPage(c, asked)
		if pageErr != nil {
			return pageErr
		}
		if status, told := rerunFault(&p, err); told {
			return s.render(c, status, views.Rerun(p))
		}
		p.Changed, p.Estimate = true, rerunEstimate(ask, estimate, asked)
		return s.render(c, http.StatusConflict, views.Rerun(p))
	case err != nil:
		return err
	}
	s.cfg.Wake()
	s.flash(c, views.NoticeInfo, counted(estimate.Evaluations, "trace is", "traces are")+" judged again, after what was imported before. The list below says how far it is.")
	return c.Redirect(http.StatusSeeOther, judgePath(name)+"/rerun")
}

// grew compares with what the person saw: more work, or a higher bound of the
// cost, has to be seen first.
func grew(form url.Values, now store.RerunEstimate) (bool, error) {
	seen, err := strconv.Atoi(form.Get("seen_evaluations"))
	if err != nil {
		return false, &store.FieldError{Field: "seen_evaluations", Message: "is missing: look at the cost first"}
	}
	cost, err := strconv.ParseFloat(form.Get("seen_cost"), 64)
	if err != nil {
		return false, &store.FieldError{Field: "seen_cost", Message: "is missing: look at the cost first"}
	}
	return now.Evaluations > seen || now.CostUSD.High > cost+math.Abs(cost)*1e-9, nil
}

// stopRerun ends a re-run; what it queued stays queued.
func (s *Server) stopRerun(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	if err := s.cfg.Store.StopRerun(c.Request().Context(), user(c).Actor(), project, param(c, "id")); err != nil {
		return err
	}
	s.flash(c, views.NoticeInfo, "Nothing more of it is queued. What was queued before is still judged. Going on asks for the rest.")
	if name := c.FormValue("judge"); name != "" {
		return c.Redirect(http.StatusSeeOther, judgePath(name)+"/rerun")
	}
	return c.Redirect(http.StatusSeeOther, "/judges")
}
