package web

import (
	"errors"
	"net/http"
	"net/url"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func (s *Server) showImport(c echo.Context) error {
	return s.renderImport(c, http.StatusOK, views.ImportPage{})
}

func (s *Server) renderImport(c echo.Context, status int, p views.ImportPage) error {
	if !mayImport(user(c).Role) {
		return store.ErrForbidden
	}
	f, err := s.frame(c, "Import", views.TabImport)
	if err != nil {
		return err
	}
	p.Frame, p.MaxBytes = f, s.cfg.MaxBody
	return s.render(c, status, views.Import(p))
}

func mayImport(r store.Role) bool { return r == store.Lead || r == store.Admin }

// importFile takes an upload. Unlike the command it has no strict mode beyond
// the form's: with strict set, a file with any bad line imports nothing.
func (s *Server) importFile(c echo.Context) error {
	p := views.ImportPage{Run: c.FormValue("run"), Strict: c.FormValue("strict") == "on"}
	upload, err := c.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) || (err == nil && upload.Size == 0) {
		p.Fault = "Choose a file of traces first."
		return s.renderImport(c, http.StatusUnprocessableEntity, p)
	}
	var tooLarge *echo.HTTPError
	switch {
	case errors.As(err, &tooLarge):
		return err
	case err != nil:
		p.Fault = "The upload could not be read. It may have been cut off: send it again."
		return s.renderImport(c, http.StatusUnprocessableEntity, p)
	}
	project, err := s.project(c)
	if err != nil {
		return err
	}
	src, err := upload.Open()
	if err != nil {
		return err
	}
	defer src.Close()
	if p.Strict {
		faults, err := s.checkTraces(c.Request().Context(), project, upload.Filename, src)
		if err != nil {
			return err
		}
		if len(faults.Errors) > 0 {
			p.Fault = "Nothing was imported, because some lines are bad."
			p.Result = importResult(upload.Filename, p.Run, faults)
			return s.renderImport(c, http.StatusUnprocessableEntity, p)
		}
		if _, err := src.Seek(0, 0); err != nil {
			return err
		}
	}
	got, err := s.importTraces(c, project, p.Run, upload.Filename, src)
	if err != nil {
		return err
	}
	p.Result = importResult(upload.Filename, p.Run, got)
	status := http.StatusOK
	if len(got.Errors) > 0 {
		status = http.StatusUnprocessableEntity
	}
	return s.renderImport(c, status, p)
}

func importResult(file, run string, got received) *views.ImportResult {
	r := &views.ImportResult{
		File: file, New: got.Created, Revised: got.Revised, Unchanged: got.Unchanged, MoreFaults: got.MoreErrors,
		EvaluationsHref: "/evaluations",
	}
	if run != "" {
		r.EvaluationsHref += "?" + url.Values{"run": {run}}.Encode()
	}
	for _, e := range got.Errors {
		r.Faults = append(r.Faults, views.ImportFault{Line: e.Line, Field: e.Field, Text: e.Message})
	}
	return r
}
