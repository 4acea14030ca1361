package web

import (
	"net/http"
	"net/url"

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
	return s.render(c, http.StatusOK, views.Runs(views.RunsPage{Frame: f, Rows: runRows(runs)}))
}

func (s *Server) showRun(c echo.Context) error {
	f, err := s.frame(c, "Run "+param(c, "name"), views.TabRuns)
	if err != nil {
		return err
	}
	r, err := s.cfg.Store.Run(c.Request().Context(), user(c).Actor(), f.Project, param(c, "name"))
	if err != nil {
		return err
	}
	judges, err := s.cfg.Store.RunJudges(c.Request().Context(), user(c).Actor(), f.Project, r.Name)
	if err != nil {
		return err
	}
	q := url.Values{"run": {r.Name}}.Encode()
	p := views.RunPage{Frame: f, Run: runRow(r), EvaluationsHref: "/evaluations?" + q, QueueHref: "/queue?" + q}
	for _, j := range judges {
		p.Judges = append(p.Judges, views.RunJudgeRow{
			Judge: j.Judge, Href: judgePath(j.Judge), Pass: j.Pass, Borderline: j.Borderline, Fail: j.Fail,
			Waiting: j.Waiting, Refused: j.Refused, Failed: j.Failed,
		})
	}
	return s.render(c, http.StatusOK, views.Run(p))
}

func runRows(runs []store.RunRow) []views.RunRow {
	rows := make([]views.RunRow, len(runs))
	for i, r := range runs {
		rows[i] = runRow(r)
	}
	return rows
}

func runRow(r store.RunRow) views.RunRow {
	return views.RunRow{
		Href: runPath(r.Name), Name: r.Name, At: r.CreatedAt, Traces: r.Traces, Evaluations: r.Evaluations,
		Pending: r.Pending, Refused: r.Refused, Waiting: r.Waiting, Pass: r.Pass, Final: r.Final,
	}
}
