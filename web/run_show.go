package web

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// runRowsShown bounds the list of runs.
const runRowsShown = 200

func (s *Server) listRuns(c echo.Context) error {
	f, err := s.frame(c, "Runs", views.TabRuns)
	if err != nil {
		return err
	}
	runs, err := s.cfg.Store.Runs(c.Request().Context(), user(c).Actor(), f.Project, runRowsShown)
	if err != nil {
		return err
	}
	rows, err := s.withReleases(c, f.Project, runRows(runs))
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Runs(views.RunsPage{Frame: f, Rows: rows}))
}

func (s *Server) showRun(c echo.Context) error {
	p, err := s.runPage(c)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Run(p))
}

// runPage is a run as this person may see it.
func (s *Server) runPage(c echo.Context) (p views.RunPage, err error) {
	ctx, actor := c.Request().Context(), user(c).Actor()
	f, err := s.frame(c, "Run "+param(c, "name"), views.TabRuns)
	if err != nil {
		return p, err
	}
	r, err := s.cfg.Store.Run(ctx, actor, f.Project, param(c, "name"))
	if err != nil {
		return p, err
	}
	judges, err := s.cfg.Store.RunJudges(ctx, actor, f.Project, r.Name)
	if err != nil {
		return p, err
	}
	reasons, err := s.cfg.Store.RunReasons(ctx, actor, f.Project, r.Name)
	if err != nil {
		return p, err
	}
	q := url.Values{"run": {r.Name}}
	p = views.RunPage{
		Frame: f, Run: runRow(r), MayChange: isLead(actor),
		EvaluationsHref: "/evaluations?" + q.Encode(), QueueHref: "/queue?" + q.Encode(),
	}
	_, state, err := s.cfg.Store.Releases(ctx, actor, f.Project, r.Name)
	if err != nil {
		return p, err
	}
	p.Run.Release = releaseLine(state)
	if actor.Role != store.Reviewer {
		p.ReleaseHref = releasePath(r.Name)
	}
	if r.Pending > 0 {
		if p.Elsewhere, err = s.elsewhere(c, f.Project, r.Name); err != nil {
			return p, err
		}
	}
	for _, j := range judges {
		p.Judges = append(p.Judges, views.RunJudgeRow{
			Judge: j.Judge, Href: judgePath(j.Judge), RerunHref: judgePath(j.Judge) + "/rerun?" + q.Encode(),
			Pass: j.Pass, Borderline: j.Borderline, Fail: j.Fail, NoVerdict: j.NoVerdict,
			Waiting: j.Waiting, Pending: j.Pending, Refused: j.Refused, Failed: j.Failed, Expected: j.Expected(),
		})
	}
	for _, x := range reasons {
		where := url.Values{"run": {r.Name}, "judge": {x.Judge}}
		row := views.RunReason{Judge: x.Judge, Code: x.Code, N: x.N, Href: "/queue?" + where.Encode()}
		if x.Code != "" {
			where.Set("reason", x.Code)
			row.Href = "/evaluations?" + where.Encode()
		}
		p.Reasons = append(p.Reasons, row)
	}
	if p.MayChange {
		if p.Failed, err = s.cfg.Store.Retriable(ctx, actor, f.Project, r.Name); err != nil {
			return p, err
		}
	}
	if actor.Role != store.Reviewer {
		m, err := s.cfg.Store.RunMoney(ctx, actor, f.Project, r.Name)
		if err != nil {
			return p, err
		}
		p.Money = runMoney(m)
	}
	return p, nil
}

func runMoney(m store.RunMoney) *views.RunMoney {
	v := &views.RunMoney{
		TooFew: m.Total.TooFew, SpentUSD: m.SpentUSD, HeldUSD: m.HeldUSD, Unpriced: m.Total.Unpriced, BudgetUSD: m.BudgetUSD, OnHold: m.OnHold,
	}
	if m.BudgetUSD != nil {
		v.BudgetText = strconv.FormatFloat(*m.BudgetUSD, 'f', -1, 64)
	}
	for _, x := range m.Costs {
		v.Rows = append(v.Rows, views.RunCost{
			Judge: x.Judge, Model: x.Model, Evaluations: x.Evaluations, Calls: x.Calls, Unpriced: x.Unpriced,
			PromptTokens: x.PromptTokens, CompletionTokens: x.CompletionTokens, CostUSD: x.CostUSD, TooFew: x.TooFew,
		})
	}
	return v
}

func runRows(runs []store.RunRow) []views.RunRow {
	rows := make([]views.RunRow, len(runs))
	for i, r := range runs {
		rows[i] = runRow(r)
	}
	return rows
}

// withReleases adds to the newest runs which are released.
func (s *Server) withReleases(c echo.Context, project string, rows []views.RunRow) ([]views.RunRow, error) {
	states, err := s.cfg.Store.ReleaseStates(c.Request().Context(), user(c).Actor(), project, runRowsShown)
	for i := range rows {
		rows[i].Release = releaseLine(states[rows[i].Name])
	}
	return rows, err
}

func runRow(r store.RunRow) views.RunRow {
	return views.RunRow{
		Href: runPath(r.Name), Name: r.Name, At: r.CreatedAt, Traces: r.Traces, Unjudged: r.Unjudged, Evaluations: r.Evaluations,
		Pending: r.Pending, Refused: r.Refused, Waiting: r.Waiting, Failed: r.Failed, Pass: r.Pass, Borderline: r.Borderline,
		Fail: r.Fail, NoVerdict: r.NoVerdict, CostUSD: r.CostUSD, Unpriced: r.Unpriced, CostSealed: r.CostSealed, StoppedAt: r.StoppedAt,
	}
}
