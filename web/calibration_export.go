package web

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
)

// calibrationJSON is what `countersign calibration --judge NAME --json` writes, as a
// file.
func (s *Server) calibrationJSON(c echo.Context) error {
	reports, err := s.calibrationFile(c, "json")
	if err != nil {
		return err
	}
	return c.JSONPretty(http.StatusOK, reports, "  ")
}

// calibrationCSV has a row a number: an empty field is undefined, with its reason.
func (s *Server) calibrationCSV(c echo.Context) error {
	reports, err := s.calibrationFile(c, "csv")
	if err != nil {
		return err
	}
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	rows := [][]string{{"judge", "model", "prompt_version", "figure", "value", "se", "ci_low", "ci_high", "ci_method", "conf_level", "n", "undefined", "no_interval"}}
	number := func(v float64, there bool) string {
		if !there {
			return ""
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	for _, r := range reports {
		for _, f := range r.Figures() {
			e := f.Estimate
			rows = append(rows, []string{cellText(r.Judge), cellText(r.Model), cellText(r.PromptVersion), cellText(f.Name), number(e.Value, e.Defined()), number(e.SE, e.HasInterval()),
				number(e.Low, e.HasInterval()), number(e.High, e.HasInterval()), e.Method, number(f.ConfLevel, e.HasInterval()),
				strconv.Itoa(e.N), e.Undefined, e.NoInterval})
		}
	}
	if err := w.WriteAll(rows); err != nil {
		return fmt.Errorf("write calibration as CSV: %w", err)
	}
	return c.Blob(http.StatusOK, "text/csv; charset=utf-8", out.Bytes())
}

// cellText is a text for a cell: people open these files with programs that take a
// cell which begins like a formula for one, and models and labels come from files.
func cellText(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

func (s *Server) calibrationFile(c echo.Context, ending string) ([]store.TrustedReport, error) {
	project, err := s.project(c)
	if err != nil {
		return nil, err
	}
	name := param(c, "judge")
	reports, err := s.withDrift(c, project, name)
	if err == nil {
		c.Response().Header().Set(echo.HeaderContentDisposition, fmt.Sprintf("attachment; filename=%q", "calibration-"+name+"."+ending))
	}
	return reports, err
}
