package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// differencesShown is how many disagreements a series lists.
const differencesShown = 10

// withDrift is reports with how each judge stands against its baseline.
func (s *Server) withDrift(c echo.Context, project, judgeName string) ([]store.TrustedReport, error) {
	reports, err := s.reports(c, project, judgeName)
	if err != nil {
		return nil, err
	}
	return reports, s.cfg.Store.AddDrift(c.Request().Context(), user(c).Actor(), project, judgeName, reports)
}

// reports computes the agreement of a project's judges, or of one of them.
func (s *Server) reports(c echo.Context, project, judgeName string) ([]store.TrustedReport, error) {
	return s.cfg.Store.Reports(c.Request().Context(), user(c).Actor(), project, judgeName)
}

func (s *Server) calibrationRows(c echo.Context, project, judgeName string) ([]views.CalibrationRow, error) {
	reports, err := s.reports(c, project, judgeName)
	if err != nil {
		return nil, err
	}
	rows := make([]views.CalibrationRow, len(reports))
	for i, r := range reports {
		rows[i] = calibrationRow(r.Report)
		rows[i].Trust = trustRow(r.Trust)
	}
	return rows, nil
}

func (s *Server) listCalibrations(c echo.Context) error {
	f, err := s.frame(c, "Calibration", views.TabCalibration)
	if err != nil {
		return err
	}
	rows, err := s.calibrationRows(c, f.Project, "")
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.CalibrationIndex(views.CalibrationIndexPage{Frame: f, Rows: rows}))
}

func (s *Server) showCalibration(c echo.Context) error {
	p, err := s.calibrationPage(c)
	if err != nil {
		return err
	}
	return s.render(c, http.StatusOK, views.Calibration(p))
}

// calibrationPage is all versions of a judge, as this person may see them.
func (s *Server) calibrationPage(c echo.Context) (p views.CalibrationPage, err error) {
	ctx, actor, name := c.Request().Context(), user(c).Actor(), param(c, "judge")
	f, err := s.frame(c, "Calibration of "+name, views.TabCalibration)
	if err != nil {
		return p, err
	}
	trusted, err := s.reports(c, f.Project, name)
	if err != nil {
		return p, err
	}
	if len(trusted) == 0 {
		stored, err := s.cfg.Store.Judges(ctx, f.Project)
		if err != nil {
			return p, err
		}
		if !hasJudge(stored, name) {
			return p, store.ErrNotFound
		}
	}
	changes, err := s.cfg.Store.TrustChanges(ctx, actor, f.Project, name)
	if err != nil {
		return p, err
	}
	reports, counts := make([]calibration.Report, len(trusted)), make([]calibration.Counts, len(trusted))
	for i, r := range trusted {
		reports[i], counts[i] = r.Report, r.Counts
	}
	lines, err := s.labelLines(c, f.Project, name, counts)
	if err != nil {
		return p, err
	}
	p = views.CalibrationPage{Frame: f, Judge: name, JSONHref: calibrationPath(name) + "/numbers.json", CSVHref: calibrationPath(name) + "/numbers.csv"}
	drifts, err := s.driftViews(c, f, name, reports, changes)
	if err != nil {
		return p, err
	}
	for i, r := range reports {
		differences, err := s.cfg.Store.Differences(ctx, actor, f.Project, name, r.Model, r.PromptVersion, differencesShown)
		if err != nil {
			return p, err
		}
		series := calibrationSeries(r)
		series.CalibrationFigures = figuresView(r, differences)
		if series.Drift = drifts[i]; series.Drift != nil {
			series.Changes = onDrawing(series.Trend, series.Drift.Markers)
		}
		series.Gating = gatingView(trusted[i])
		series.Gating.MayChange = isLead(actor)
		series.Trust = series.Gating.TrustRow
		of := seriesQuery(r.PromptVersion, r.Model)
		series.PlanHref, series.ThresholdsHref, series.More = planPath(name)+of, thresholdsPath(name)+of, lines[seriesValue(r.PromptVersion, r.Model)]
		p.Series = append(p.Series, series)
	}
	p.Sentinel, err = s.sentinelPanel(c, f, name)
	return p, err
}

func hasJudge(stored []store.StoredJudge, name string) bool {
	for _, j := range stored {
		if j.Name == name {
			return true
		}
	}
	return false
}
