package web

import (
	"cmp"
	"net/http"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
)

// runView is a run in counts: expected is the sum of done, waiting, pending,
// failed and refused, done counts those with a result (status accepted or final).
// PassRate is over what is done and null when nothing is.
type runView struct {
	Name       string   `json:"name"`
	Traces     int      `json:"traces"`
	Unjudged   int      `json:"unjudged"` // traces without any evaluation
	Expected   int      `json:"evaluations"`
	Done       int      `json:"done"`
	Pending    int      `json:"pending"`
	Refused    int      `json:"refused"`
	Waiting    int      `json:"waiting"`
	Failed     int      `json:"failed"`
	Pass       int      `json:"pass"`
	Borderline int      `json:"borderline"`
	Fail       int      `json:"fail"`
	NoVerdict  int      `json:"no_verdict"`
	PassRate   *float64 `json:"pass_rate"`
	// CostUSD is null where this reader may not know; unpriced calls are not in it.
	CostUSD   *float64        `json:"cost_usd"`
	Unpriced  int             `json:"unpriced_calls"`
	BudgetUSD *float64        `json:"budget_usd"`
	StoppedAt *time.Time      `json:"stopped_at"`
	Judges    []runJudgeView  `json:"judges"`
	Reasons   []runReasonView `json:"reasons"`
	// Costs by judge and model; absent for roles that may not know.
	Costs     []runCostView `json:"costs,omitempty"`
	Release   releaseView   `json:"release"`
	CreatedAt time.Time     `json:"created_at"`
}

// releaseView says whether a run is released. Newest is the newest release that stands,
// without one the newest of all; null: it was never released.
type releaseView struct {
	State            string            `json:"state"` // none, released or withdrawn
	Newest           *store.RunRelease `json:"newest"`
	EvaluationsSince int               `json:"evaluations_since"`
	DecisionsSince   int               `json:"decisions_since"`
}

type runJudgeView struct {
	Judge      string `json:"judge"`
	Expected   int    `json:"evaluations"`
	Pass       int    `json:"pass"`
	Borderline int    `json:"borderline"`
	Fail       int    `json:"fail"`
	NoVerdict  int    `json:"no_verdict"`
	Pending    int    `json:"pending"`
	Waiting    int    `json:"waiting"`
	Failed     int    `json:"failed"`
	Refused    int    `json:"refused"`
}

// runReasonView counts the evaluations of a judge that have a reason. An empty
// code: those that wait blind for this reader, of which no reason is told.
type runReasonView struct {
	Judge string `json:"judge"`
	Code  string `json:"code"`
	Count int    `json:"count"`
}

type runCostView struct {
	Judge            string  `json:"judge"`
	Model            string  `json:"model"`
	TooFew           bool    `json:"too_few,omitempty"` // to tell this reader: the rest is 0
	Evaluations      int64   `json:"evaluations"`
	Calls            int64   `json:"calls"`
	Unpriced         int64   `json:"unpriced_calls"`
	PromptTokens     int64   `json:"prompt_tokens"`
	CompletionTokens int64   `json:"completion_tokens"`
	CostUSD          float64 `json:"cost_usd"`
}

func (s *Server) apiGetRun(c echo.Context) error {
	ctx, actor, project := c.Request().Context(), user(c).Actor(), s.apiProject(c)
	r, err := s.cfg.Store.Run(ctx, actor, project, param(c, "name"))
	if err != nil {
		return err
	}
	v := runViewOf(r)
	judges, err := s.cfg.Store.RunJudges(ctx, actor, project, r.Name)
	if err != nil {
		return err
	}
	for _, j := range judges {
		v.Judges = append(v.Judges, runJudgeView{
			Judge: j.Judge, Expected: j.Expected(), Pass: j.Pass, Borderline: j.Borderline, Fail: j.Fail, NoVerdict: j.NoVerdict,
			Pending: j.Pending, Waiting: j.Waiting, Failed: j.Failed, Refused: j.Refused,
		})
	}
	reasons, err := s.cfg.Store.RunReasons(ctx, actor, project, r.Name)
	if err != nil {
		return err
	}
	for _, x := range reasons {
		v.Reasons = append(v.Reasons, runReasonView{Judge: x.Judge, Code: x.Code, Count: x.N})
	}
	_, state, err := s.cfg.Store.Releases(ctx, actor, project, r.Name)
	if err != nil {
		return err
	}
	v.Release = releaseView{cmp.Or(state.State, "none"), state.Newest, state.Evaluations, state.Decisions}
	if actor.Role != store.Reviewer {
		m, err := s.cfg.Store.RunMoney(ctx, actor, project, r.Name)
		if err != nil {
			return err
		}
		v.Costs = runCosts(m)
	}
	return c.JSON(http.StatusOK, v)
}

func runViewOf(r store.RunRow) runView {
	v := runView{
		Name: r.Name, Traces: r.Traces, Unjudged: r.Unjudged, Expected: r.Evaluations, Done: r.Done(),
		Pending: r.Pending, Refused: r.Refused, Waiting: r.Waiting, Failed: r.Failed, Pass: r.Pass, Borderline: r.Borderline,
		Fail: r.Fail, NoVerdict: r.NoVerdict, Unpriced: r.Unpriced, BudgetUSD: r.BudgetUSD, StoppedAt: r.StoppedAt, CreatedAt: r.CreatedAt,
		Judges: []runJudgeView{}, Reasons: []runReasonView{},
	}
	if done := r.Done(); done > 0 {
		rate := float64(r.Pass) / float64(done)
		v.PassRate = &rate
	}
	if !r.CostSealed {
		v.CostUSD = &r.CostUSD
	}
	return v
}

func runCosts(m store.RunMoney) []runCostView {
	var costs []runCostView
	for _, x := range m.Costs {
		costs = append(costs, runCostView{
			Judge: x.Judge, Model: x.Model, TooFew: x.TooFew, Evaluations: x.Evaluations, Calls: x.Calls, Unpriced: x.Unpriced,
			PromptTokens: x.PromptTokens, CompletionTokens: x.CompletionTokens, CostUSD: x.CostUSD,
		})
	}
	return costs
}

// apiRetryRun gives what failed in a run back to its judges.
func (s *Server) apiRetryRun(c echo.Context) error {
	n, err := s.cfg.Store.RetryRun(c.Request().Context(), user(c).Actor(), s.apiProject(c), param(c, "name"))
	if n > 0 {
		s.cfg.Wake()
	}
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, map[string]int{"queued": n})
}

// moneyView is a run's budget and what was paid of it.
type moneyView struct {
	BudgetUSD *float64 `json:"budget_usd"`
	// SpentUSD and HeldUSD are null where this reader may not know.
	SpentUSD  *float64   `json:"spent_usd"`
	HeldUSD   *float64   `json:"held_usd"`
	OnHold    int        `json:"on_hold"`
	StoppedAt *time.Time `json:"stopped_at"`
}

func (s *Server) apiSetRunBudget(c echo.Context) error {
	var body struct {
		BudgetUSD *float64 `json:"budget_usd"`
	}
	if err := decodeJSON(c, &body); err != nil {
		return err
	}
	m, err := s.cfg.Store.SetRunBudget(c.Request().Context(), user(c).Actor(), s.apiProject(c), param(c, "name"), body.BudgetUSD)
	if err != nil {
		return err
	}
	s.cfg.Wake()
	v := moneyView{BudgetUSD: m.BudgetUSD, OnHold: m.OnHold, StoppedAt: m.StoppedAt}
	if !m.Total.TooFew {
		v.SpentUSD, v.HeldUSD = &m.SpentUSD, &m.HeldUSD
	}
	return c.JSON(http.StatusOK, v)
}
