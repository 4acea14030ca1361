package web

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// judgeView is a version of a judge. What it consists of is only in the answer
// about one judge, and empty where it was stored before that was kept.
type judgeView struct {
	Name          string               `json:"name"`
	PromptVersion string               `json:"prompt_version"`
	Builtin       bool                 `json:"builtin"`
	Current       bool                 `json:"current"`
	CreatedAt     time.Time            `json:"created_at"`
	Evaluations   int                  `json:"evaluations"`
	Ordinal       bool                 `json:"ordinal"`
	Labels        []judgeLabelView     `json:"labels,omitempty"`
	Definition    *store.JudgeSnapshot `json:"definition,omitempty"`
	Versions      []judgeView          `json:"versions,omitempty"`
}

type judgeLabelView struct {
	Name    string `json:"name"`
	Verdict string `json:"verdict"`
	Abstain bool   `json:"abstain,omitempty"`
}

func (s *Server) apiListJudges(c echo.Context) error {
	ctx, project := c.Request().Context(), s.apiProject(c)
	if _, err := s.cfg.Store.ProjectNamed(ctx, project); err != nil {
		return err
	}
	stored, err := s.cfg.Store.Judges(ctx, project)
	if err != nil {
		return err
	}
	uses, err := s.cfg.Store.JudgeUses(ctx, project)
	if err != nil {
		return err
	}
	list := []judgeView{}
	for _, j := range stored {
		if !j.Current {
			continue
		}
		v := judgeVersionView(store.JudgeVersion{StoredJudge: j})
		for _, u := range uses {
			if u.Judge == j.Name && u.PromptVersion == j.PromptVersion {
				v.Evaluations += u.Evaluations
			}
		}
		list = append(list, v)
	}
	return c.JSON(http.StatusOK, map[string][]judgeView{"judges": list})
}

func judgeVersionView(v store.JudgeVersion) judgeView {
	view := judgeView{
		Name: v.Name, PromptVersion: v.PromptVersion, Builtin: v.Builtin, Current: v.Current, CreatedAt: v.CreatedAt,
		Evaluations: v.Evaluations, Ordinal: v.Ordinal,
	}
	for _, l := range v.Labels {
		view.Labels = append(view.Labels, judgeLabelView{l.Name, string(l.Verdict), l.Abstain})
	}
	return view
}

func (s *Server) apiGetJudge(c echo.Context) error {
	versions, err := s.cfg.Store.JudgeVersions(c.Request().Context(), user(c).Actor(), s.apiProject(c), param(c, "name"))
	if err != nil {
		return err
	}
	shown := versions[0]
	for _, v := range versions {
		if v.Current {
			shown = v
		}
	}
	if asked := c.QueryParam("version"); asked != "" {
		if shown, err = s.cfg.Store.JudgeVersion(c.Request().Context(), user(c).Actor(), s.apiProject(c), param(c, "name"), asked); err != nil {
			return err
		}
	}
	view := judgeVersionView(shown)
	if shown.Snapshot.Prompt != "" {
		view.Definition = &shown.Snapshot
	}
	for _, v := range versions {
		view.Versions = append(view.Versions, judgeVersionView(v))
	}
	return c.JSON(http.StatusOK, view)
}

// healthView is how a judge did. What is untold is in no other number; too_few
// says that all is.
type healthView struct {
	Day              string      `json:"day,omitempty"`
	TooFew           bool        `json:"too_few,omitempty"`
	Evaluations      int64       `json:"evaluations"`
	Untold           int64       `json:"untold_evaluations,omitempty"`
	Calls            int64       `json:"calls"`
	Reports          int64       `json:"reports"`
	Repaired         int64       `json:"repaired"`
	Repairs          int64       `json:"repairs"`
	Invalid          int64       `json:"invalid"`
	Failed           int64       `json:"failed"`
	Refused          int64       `json:"refused"`
	Undecided        int64       `json:"undecided"`
	UncitedSteps     int64       `json:"uncited_steps"`
	TransportRetries int64       `json:"transport_retries"`
	Unpriced         int64       `json:"unpriced_calls"`
	PromptTokens     int64       `json:"prompt_tokens"`
	CompletionTokens int64       `json:"completion_tokens"`
	CostUSD          float64     `json:"cost_usd"`
	LatencyP50MS     int64       `json:"latency_p50_ms"`
	LatencyP95MS     int64       `json:"latency_p95_ms"`
	Checks           []checkView `json:"failing_checks"`
}

type checkView struct {
	Name   string `json:"name"`
	Run    int64  `json:"run"`
	Failed int64  `json:"failed"`
}

func healthViewOf(day string, h store.Health) healthView {
	v := healthView{
		Day: day, TooFew: h.TooFew(), Evaluations: h.Evaluations, Untold: h.Untold, Calls: h.Calls, Reports: h.Reports, Repaired: h.Repaired, Repairs: h.Repairs,
		Invalid: h.Invalid, Failed: h.Failed, Refused: h.Refused, Undecided: h.Undecided, UncitedSteps: h.UncitedSteps,
		TransportRetries: h.TransportRetries, Unpriced: h.Unpriced, PromptTokens: h.PromptTokens, CompletionTokens: h.CompletionTokens,
		CostUSD: h.CostUSD, LatencyP50MS: h.LatencyP50MS, LatencyP95MS: h.LatencyP95MS, Checks: []checkView{},
	}
	for _, ch := range h.Checks {
		v.Checks = append(v.Checks, checkView(ch))
	}
	return v
}

func (s *Server) apiJudgeHealth(c echo.Context) error {
	filter, err := healthFilter(c)
	if err != nil {
		return err
	}
	h, err := s.cfg.Store.JudgeHealth(c.Request().Context(), user(c).Actor(), s.apiProject(c), param(c, "name"), filter)
	if err != nil {
		return err
	}
	out := struct {
		Total healthView   `json:"total"`
		Days  []healthView `json:"days"`
	}{Total: healthViewOf("", h.Total), Days: []healthView{}}
	for _, d := range h.Days {
		out.Days = append(out.Days, healthViewOf(d.Day, d.Health))
	}
	return c.JSON(http.StatusOK, out)
}

// askedTarget is who is asked, in a request.
type askedTarget struct {
	Engine   string `json:"engine"`
	Model    string `json:"model"`
	Endpoint string `json:"endpoint"`
	Samples  int    `json:"samples"`
}

// engineChoice is the target as the forms name it.
func (t askedTarget) engineChoice() string {
	if t.Engine == judge.EngineOpenAI && t.Endpoint != "" {
		return t.Engine + "/" + t.Endpoint
	}
	return t.Engine
}

func (t askedTarget) samples() string {
	if t.Samples == 0 {
		return ""
	}
	return strconv.Itoa(t.Samples)
}

// rerunView is one that was started.
type rerunView struct {
	ID        string              `json:"id"`
	State     string              `json:"state"`
	Queued    int                 `json:"queued"`
	Skipped   int                 `json:"skipped"`
	AskedBy   string              `json:"asked_by"`
	CreatedAt time.Time           `json:"created_at"`
	Estimate  store.RerunEstimate `json:"estimate"`
	Kind      string              `json:"kind"`
	Judge     string              `json:"judge"`
	Run       string              `json:"run,omitempty"`
	OfVersion string              `json:"of_version,omitempty"`
	OfModel   string              `json:"of_model,omitempty"`
	// Warnings are what of a request that started it is not used.
	Warnings []string `json:"warnings,omitempty"`
}

func rerunViewOf(r store.Rerun) rerunView {
	return rerunView{
		ID: r.ID, State: r.State, Queued: r.Queued, Skipped: r.Skipped, AskedBy: r.AskedBy, CreatedAt: r.CreatedAt, Estimate: r.Estimate,
		Kind: r.Ask.Kind, Judge: r.Ask.Judge, Run: r.Ask.Run, OfVersion: r.Ask.OfVersion, OfModel: r.Ask.OfModel,
	}
}

// apiRerun says what judging again would take, or with estimate false starts it.
func (s *Server) apiRerun(c echo.Context) error {
	var body struct {
		askedTarget
		Kind      string      `json:"kind"`
		Run       string      `json:"run"`
		OfVersion string      `json:"of_version"`
		OfModel   string      `json:"of_model"`
		Since     string      `json:"since"`
		BudgetUSD json.Number `json:"budget_usd"`
		Estimate  *bool       `json:"estimate"`
	}
	if err := decodeJSON(c, &body); err != nil {
		return err
	}
	if body.Estimate == nil {
		return &store.FieldError{Field: "estimate", Message: "is missing: true tells the cost, false starts it"}
	}
	project := s.apiProject(c)
	if !*body.Estimate {
		if err := s.cfg.Store.Permit(c.Request().Context(), user(c).Actor(), store.StartReruns, "project:"+project); err != nil {
			return err
		}
	}
	ask, estimate, err := s.estimate(c, project, param(c, "name"), rerunAsked{
		kind: body.Kind, run: body.Run, ofVersion: body.OfVersion, ofModel: body.OfModel, engine: body.engineChoice(), model: body.Model,
		samples: body.samples(), since: body.Since, budget: body.BudgetUSD.String(),
	})
	if err != nil {
		return err
	}
	unused := unusedByRules(body.engineChoice(), body.Model, body.samples())
	if *body.Estimate {
		return c.JSON(http.StatusOK, struct {
			store.RerunEstimate
			Warnings []string `json:"warnings,omitempty"`
		}{estimate, unused})
	}
	r, err := s.cfg.Store.StartRerun(c.Request().Context(), user(c).Actor(), project, ask, estimate)
	if err != nil {
		return err
	}
	s.cfg.Wake()
	view := rerunViewOf(r)
	view.Warnings = unused
	return c.JSON(http.StatusAccepted, view)
}

func (s *Server) apiListReruns(c echo.Context) error {
	limit, err := intParam(c, "limit", rerunsShown, 1, 200)
	if err != nil {
		return err
	}
	reruns, err := s.cfg.Store.Reruns(c.Request().Context(), user(c).Actor(), s.apiProject(c), limit)
	if err != nil {
		return err
	}
	list := []rerunView{}
	for _, r := range reruns {
		list = append(list, rerunViewOf(r))
	}
	return c.JSON(http.StatusOK, map[string][]rerunView{"reruns": list})
}

func (s *Server) apiStopRerun(c echo.Context) error {
	if err := s.cfg.Store.StopRerun(c.Request().Context(), user(c).Actor(), s.apiProject(c), param(c, "id")); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// apiJudgeTrace queues one evaluation more of a trace.
func (s *Server) apiJudgeTrace(c echo.Context) error {
	var body struct {
		askedTarget
		Judge string `json:"judge"`
	}
	if err := decodeJSON(c, &body); err != nil {
		return err
	}
	t, err := s.target(body.engineChoice(), body.Model, body.samples())
	if err != nil {
		return err
	}
	ids, plan, err := s.queueEvaluation(c.Request().Context(), user(c).Actor(), s.apiProject(c), param(c, "id"), body.Judge, t)
	if err != nil {
		return err
	}
	if ids == nil {
		ids = []string{}
	}
	return c.JSON(http.StatusAccepted, struct {
		Queued       []string `json:"evaluation_ids"` // none: it is there already
		RefusedField string   `json:"refused_field,omitempty"`
		Message      string   `json:"message,omitempty"`
		Warnings     []string `json:"warnings,omitempty"`
	}{ids, plan.RefusedField, plan.Message, unusedByRules(body.engineChoice(), body.Model, body.samples())})
}
