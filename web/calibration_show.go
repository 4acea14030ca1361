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
func (s *Server) withDrift(c echo.Context, project, judgeName string) ([]calibration.Report, error) {
	reports, err := s.reports(c, project, judgeName)
	if err != nil {
		return nil, err
	}
	return reports, s.cfg.Store.AddDrift(c.Request().Context(), user(c).Actor(), project, judgeName, reports)
}

// reports computes the agreement of a project's judges, or of one of them.
func (s *Server) reports(c echo.Context, project, judgeName string) ([]calibration.Report, error) {
	counts, err := s.cfg.Store.CalibrationCounts(c.Request().Context(), user(c).Actor(), project, judgeName)
	if err != nil {
		return nil, err
	}
	return calibration.ComposeAll(counts)
}

func (s *Server) calibrationRows(c echo.Context, project, judgeName string) ([]views.CalibrationRow, error) {
	reports, err := s.reports(c, project, judgeName)
	if err != nil {
		return nil, err
	}
	rows := make([]views.CalibrationRow, len(reports))
	for i, r := range reports {
		rows[i] = calibrationRow(r)
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

func (s *Server) calibrationPage(c echo.Context) (p views.CalibrationPage, err error) {
	name := param(c, "judge")
	f, err := s.frame(c, "Calibration of "+name, views.TabCalibration)
	if err != nil {
		return p, err
	}
	reports, err := s.reports(c, f.Project, name)
	if err != nil {
		return p, err
	}
	if len(reports) == 0 {
		stored, err := s.cfg.Store.Judges(c.Request().Context(), f.Project)
		if err != nil {
			return p, err
		}
		if !hasJudge(stored, name) {
			return p, store.ErrNotFound
		}
	}
	p = views.CalibrationPage{Frame: f, Judge: name, JSONHref: calibrationPath(name) + "/numbers.json", CSVHref: calibrationPath(name) + "/numbers.csv"}
	drifts, err := s.driftViews(c, f, name, reports)
	if err != nil {
		return p, err
	}
	for i, r := range reports {
		differences, err := s.cfg.Store.Differences(c.Request().Context(), user(c).Actor(), f.Project, name, r.Model, r.PromptVersion, differencesShown)
		if err != nil {
			return p, err
		}
		series := calibrationSeries(r)
		series.CalibrationFigures = figuresView(r, differences)
		if series.Drift = drifts[i]; series.Drift != nil {
			series.Changes = onDrawing(series.Trend, series.Drift.Markers)
		}
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
