package web

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"

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
	ctx, actor := c.Request().Context(), user(c).Actor()
	stored, err := s.cfg.Store.Judges(ctx, f.Project)
	if err != nil {
		return err
	}
	uses, err := s.cfg.Store.JudgeUses(ctx, f.Project)
	if err != nil {
		return err
	}
	states, err := s.cfg.Store.TrustStates(ctx, actor, f.Project)
	if err != nil {
		return err
	}
	p := views.JudgesPage{Frame: f, ShowHealth: actor.Role != store.Reviewer}
	var health map[string]store.Health
	var open map[string]int
	if p.ShowHealth {
		if health, err = s.cfg.Store.JudgesHealth(ctx, actor, f.Project, usualHealthDays); err != nil {
			return err
		}
		if open, err = s.cfg.Store.OpenDriftByJudge(ctx, actor, f.Project); err != nil {
			return err
		}
	}
	for _, j := range stored {
		if !j.Current {
			continue
		}
		row := views.JudgeRow{
			Href: judgePath(j.Name), Name: j.Name, Version: j.PromptVersion, Builtin: j.Builtin, CalibrationHref: calibrationPath(j.Name),
			HealthHref: judgePath(j.Name) + "/health", Health: healthSum(health[j.Name]), OpenDrift: open[j.Name],
		}
		for _, u := range uses {
			if u.Judge == j.Name {
				row.Evaluations += u.Evaluations
			}
		}
		row.Trust = leastTrusted(states, j.Name, j.PromptVersion, row.Evaluations)
		d, err := s.definition(ctx, f.Project, j.Name, j.PromptVersion)
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

// judgeHead is what every page of a judge begins with, for a role.
func judgeHead(f views.Frame, a store.Actor, name, description, tab string) views.JudgeHead {
	h := views.JudgeHead{Frame: f, Name: name, Description: description, Tab: tab, DefinitionHref: judgePath(name)}
	if a.Role != store.Reviewer {
		h.CalibrationHref, h.HealthHref, h.RerunHref = calibrationPath(name), judgePath(name)+"/health", judgePath(name)+"/rerun"
		h.CompareHref = judgePath(name) + "/compare"
	}
	return h
}

// showJudge shows the definition of one version: the one in use, or the one that
// the parameter names, as it was.
func (s *Server) showJudge(c echo.Context) error {
	name := param(c, "name")
	f, err := s.frame(c, "Judge "+name, views.TabJudges)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), user(c).Actor()
	versions, err := s.cfg.Store.JudgeVersions(ctx, actor, f.Project, name)
	if err != nil {
		return err
	}
	shown := versions[0]
	if at := slices.IndexFunc(versions, func(v store.JudgeVersion) bool { return v.Current }); at >= 0 {
		shown = versions[at]
	}
	if asked := c.QueryParam("version"); asked != "" {
		if shown, err = s.cfg.Store.JudgeVersion(ctx, actor, f.Project, name, asked); err != nil {
			return err
		}
	}
	p := judgePage(judgeHead(f, actor, name, shown.Snapshot.Description, "definition"), shown)
	for _, v := range versions {
		p.Versions = append(p.Versions, views.JudgeVersion{
			Version: v.PromptVersion, Href: judgePath(name) + "?" + url.Values{"version": {v.PromptVersion}}.Encode(),
			EvaluationsHref: "/evaluations?" + url.Values{"judge": {name}, "version": {v.PromptVersion}}.Encode(),
			First:           v.CreatedAt.Format("2 January 2006"), Evaluations: v.Evaluations, Current: v.Current, Shown: v.PromptVersion == shown.PromptVersion,
		})
	}
	h, err := s.cfg.Harness(ctx, f.Project)
	if err != nil {
		return err
	}
	if known, ok := h.Judge(name); ok && known.VersionOf(shown.PromptVersion) != nil {
		p.System = judge.SystemPrompt("[MARK]", json.RawMessage("[SCHEMA]"))
	}
	promotions, err := s.cfg.Store.Promotions(ctx, actor, f.Project, name)
	if err != nil {
		return err
	}
	for _, x := range promotions {
		p.Promoted = append(p.Promoted, fmt.Sprintf("%s promoted %s in place of %s on %s: %s", x.By, shortVersion(x.Version), shortVersion(x.FromVersion), x.At.Format("2 January 2006"), x.Comment))
	}
	if actor.Role != store.Reviewer {
		shadow, err := s.shadowView(ctx, actor, f.Project, name, versions)
		if err != nil {
			return err
		}
		p.Shadow = &shadow
		health, err := s.cfg.Store.JudgeHealth(ctx, actor, f.Project, name, store.HealthFilter{PromptVersion: shown.PromptVersion, Days: mostHealthDays})
		if err != nil {
			return err
		}
		countChecks(&p, health.Total)
	}
	return s.render(c, http.StatusOK, views.Judge(p))
}

func judgePage(head views.JudgeHead, v store.JudgeVersion) views.JudgePage {
	snapshot := v.Snapshot
	p := views.JudgePage{
		JudgeHead: head, Version: v.PromptVersion, Current: v.Current, Builtin: v.Builtin, Ordinal: v.Ordinal,
		MaxRepairs: snapshot.MaxRepairs, BandLow: snapshot.Band.Low, BandPass: snapshot.Band.Pass,
		Prompt: snapshot.Prompt, Schema: indented(snapshot.Schema), Lost: snapshot.Prompt == "",
	}
	for _, name := range slices.Sorted(maps.Keys(snapshot.Blocks)) {
		p.Blocks = append(p.Blocks, views.JudgeBlock{Name: name, Text: snapshot.Blocks[name]})
	}
	for _, in := range snapshot.Inputs {
		p.Inputs = append(p.Inputs, views.JudgeInput{Field: in.Field, Required: in.Required})
	}
	for _, l := range v.Labels {
		p.Labels = append(p.Labels, views.JudgeLabel{Name: l.Name, Verdict: string(l.Verdict), Abstain: l.Abstain})
	}
	for _, ch := range snapshot.Checks {
		p.Checks = append(p.Checks, views.JudgeCheck{Name: ch.Name, Kind: string(ch.Kind)})
	}
	return p
}

// countChecks adds to the checks of a version how often they ran and failed.
func countChecks(p *views.JudgePage, h store.Health) {
	if h.TooFew() {
		return
	}
	p.Counted = true
	for i := range p.Checks {
		ch := &p.Checks[i]
		ch.Run = h.Reports
		for _, counted := range h.Checks {
			if counted.Name == ch.Name {
				ch.Run, ch.Failed = counted.Run, counted.Failed
			}
		}
	}
}
