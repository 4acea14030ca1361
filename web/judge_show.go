package web

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func (s *Server) listJudges(c echo.Context) error {
	f, err := s.frame(c, "Judges", views.TabJudges)
	if err != nil {
		return err
	}
	stored, err := s.cfg.Store.Judges(c.Request().Context(), f.Project)
	if err != nil {
		return err
	}
	uses, err := s.cfg.Store.JudgeUses(c.Request().Context(), f.Project)
	if err != nil {
		return err
	}
	p := views.JudgesPage{Frame: f}
	for _, j := range stored {
		if !j.Current {
			continue
		}
		row := views.JudgeRow{
			Href: judgePath(j.Name), Name: j.Name, Version: j.PromptVersion, Builtin: j.Builtin, CalibrationHref: calibrationPath(j.Name),
		}
		for _, u := range uses {
			if u.Judge == j.Name {
				row.Evaluations += u.Evaluations
			}
		}
		d, err := s.definition(c.Request().Context(), f.Project, j.Name, j.PromptVersion)
		if err != nil {
			return err
		}
		if d != nil { // nil: a built-in judge of an older program
			row.Description = d.Description
			for _, in := range d.Inputs {
				if in.Required {
					row.Inputs = append(row.Inputs, in.Field)
				}
			}
		}
		p.Rows = append(p.Rows, row)
	}
	return s.render(c, http.StatusOK, views.Judges(p))
}

func (s *Server) showJudge(c echo.Context) error {
	name := param(c, "name")
	f, err := s.frame(c, "Judge "+name, views.TabJudges)
	if err != nil {
		return err
	}
	stored, err := s.cfg.Store.Judges(c.Request().Context(), f.Project)
	if err != nil {
		return err
	}
	uses, err := s.cfg.Store.JudgeUses(c.Request().Context(), f.Project)
	if err != nil {
		return err
	}
	p := views.JudgePage{Frame: f, Name: name, CalibrationHref: calibrationPath(name)}
	found := false
	for _, j := range stored {
		if j.Name != name {
			continue
		}
		version := views.JudgeVersion{Version: j.PromptVersion, First: j.CreatedAt.Format("2 January 2006"), Current: j.Current}
		for _, u := range uses {
			if u.Judge == name && u.PromptVersion == j.PromptVersion {
				version.Evaluations = u.Evaluations
			}
		}
		p.Versions = append(p.Versions, version)
		if !j.Current {
			continue
		}
		found = true
		d, err := s.definition(c.Request().Context(), f.Project, name, j.PromptVersion)
		if err != nil {
			return err
		}
		if d != nil { // nil: a built-in judge of an older program
			fillJudge(&p, *d)
		}
	}
	if !found {
		return store.ErrNotFound
	}
	return s.render(c, http.StatusOK, views.Judge(p))
}

func fillJudge(p *views.JudgePage, d judge.Judge) {
	p.Description, p.Version, p.Builtin, p.Ordinal = d.Description, d.PromptVersion, d.Builtin, d.Ordinal
	p.MaxRepairs, p.BandLow, p.BandPass = d.MaxRepairs, d.Band.Low, d.Band.Pass
	p.Prompt, p.Schema = d.Prompt, indented(d.Schema)
	for _, in := range d.Inputs {
		p.Inputs = append(p.Inputs, views.JudgeInput{Field: in.Field, Required: in.Required})
	}
	for _, l := range d.Labels {
		p.Labels = append(p.Labels, views.JudgeLabel{Name: l.Name, Verdict: string(l.Verdict), Abstain: l.Abstain})
	}
	for _, ch := range d.Checks {
		p.Checks = append(p.Checks, views.JudgeCheck{Name: ch.Name, Kind: string(ch.Kind)})
	}
}
