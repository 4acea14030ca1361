package web

import (
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// rerunPage is the form with its choices, and what was started before.
func (s *Server) rerunPage(c echo.Context, a rerunAsked) (p views.RerunPage, err error) {
	ctx, actor, name := c.Request().Context(), user(c).Actor(), param(c, "name")
	f, err := s.frame(c, "Judge again: "+name, views.TabJudges)
	if err != nil {
		return p, err
	}
	reruns, err := s.cfg.Store.Reruns(ctx, actor, f.Project, rerunsShown)
	if err != nil {
		return p, err
	}
	versions, err := s.cfg.Store.JudgeVersions(ctx, actor, f.Project, name)
	if err != nil {
		return p, err
	}
	health, err := s.cfg.Store.JudgeHealth(ctx, actor, f.Project, name, store.HealthFilter{Days: mostHealthDays})
	if err != nil {
		return p, err
	}
	p = views.RerunPage{
		JudgeHead: judgeHead(f, actor, name, versions[0].Snapshot.Description, "rerun"), MayStart: isLead(actor),
		Form: views.RerunForm{
			Kind: a.kind, Run: a.run, OfVersion: a.ofVersion, OfModel: a.ofModel, Engine: a.engine, Engines: s.targetChoices(), Model: a.model,
			Samples: a.samples, Since: a.since, Budget: a.budget, Models: choicesOf(health.Models),
		},
	}
	if p.Form.Samples == "" {
		p.Form.Samples = "1"
	}
	if len(s.cfg.Endpoints) > 0 {
		p.Form.ModelAsked = s.cfg.Endpoints[0].Model
	}
	for _, v := range versions {
		p.Form.Versions = append(p.Form.Versions, views.Choice{Value: v.PromptVersion, Text: shortVersion(v.PromptVersion)})
		if v.Current {
			p.Form.PresentVersion = v.PromptVersion
		}
	}
	if p.Form.Runs, err = s.runChoices(c, f.Project); err != nil {
		return p, err
	}
	if a.run != "" && !slices.ContainsFunc(p.Form.Runs, func(r views.Choice) bool { return r.Value == a.run }) {
		p.Form.Runs = append(p.Form.Runs, views.Choice{Value: a.run, Text: a.run})
	}
	p.Several = len(versions) > 1
	if p.Waiting, err = s.cfg.Store.WaitingForJudge(ctx, actor, f.Project, name); err != nil {
		return p, err
	}
	for _, r := range reruns {
		if r.Ask.Judge == name {
			p.Reruns = append(p.Reruns, rerunRow(r, isLead(actor)))
		}
	}
	return p, nil
}

func rerunRow(r store.Rerun, mayStop bool) views.RerunRow {
	row := views.RerunRow{
		ID: r.ID, What: rerunWhat(r.Ask), State: r.State, By: r.AskedBy, At: r.CreatedAt, Queued: r.Queued, Skipped: r.Skipped,
		Of: r.Estimate.Evaluations, Run: r.Ask.Run, MayStop: mayStop && r.State == store.RerunQueueing,
	}
	if row.Run != "" {
		row.RunHref = runPath(row.Run)
	}
	if r.Ask.Kind != store.RerunFailed {
		q := url.Values{"judge": {r.Ask.Judge}, "version": {r.Ask.Target.PromptVersion}}
		if r.Ask.Run != "" {
			q.Set("run", r.Ask.Run)
		}
		row.EvaluationsHref = "/evaluations?" + q.Encode()
	}
	if mayStop && r.State == store.RerunStopped {
		row.ContinueHref = judgePath(r.Ask.Judge) + "/rerun?" + askedAgain(r.Ask).Encode()
	}
	switch {
	case r.Ask.Kind != store.RerunFailed && r.Ask.Target.Engine != judge.EngineOpenAI:
		row.Cost = "no model"
	case !r.Estimate.Priced:
		row.Cost = "price not known"
	default:
		row.Cost = views.Money(r.Estimate.CostUSD.Mid)
	}
	return row
}

// askedAgain is the form of a re-run that was asked for before. What it has
// judged since is left out, so it asks for the rest.
func askedAgain(a store.RerunAsk) url.Values {
	q := url.Values{"cost": {"show"}, "kind": {a.Kind}}
	set := func(name, value string) {
		if value != "" {
			q.Set(name, value)
		}
	}
	set("run", a.Run)
	set("of_version", a.OfVersion)
	set("of_model", a.OfModel)
	if !a.Since.IsZero() {
		q.Set("since", a.Since.Format(time.DateOnly))
	}
	if a.Kind == store.RerunFailed {
		return q
	}
	q.Set("engine", askedTarget{Engine: a.Target.Engine, Endpoint: a.Target.Endpoint}.engineChoice())
	if a.Target.Engine == judge.EngineOpenAI {
		q.Set("model", a.Target.Model)
	}
	set("samples", askedTarget{Samples: a.Target.Samples}.samples())
	return q
}

// rerunWhat says in a line what is judged again.
func rerunWhat(a store.RerunAsk) string {
	line := "What was judged"
	if a.Kind == store.RerunFailed {
		line = "What failed"
	}
	if a.OfVersion != "" {
		line += " by version " + shortVersion(a.OfVersion)
	}
	if a.OfModel != "" {
		line += " by " + a.OfModel
	}
	if !a.Since.IsZero() {
		line += " since " + a.Since.Format("2 January 2006")
	}
	if a.Run != "" {
		line += " in " + a.Run
	}
	if a.Kind != store.RerunFailed {
		line += ", now by " + a.Target.Model + ", version " + shortVersion(a.Target.PromptVersion)
		if a.Target.Samples > 1 {
			line += ", " + counted(a.Target.Samples, "call")
		}
	}
	return line
}

func rerunEstimate(ask store.RerunAsk, e store.RerunEstimate, asked rerunAsked) *views.RerunEstimate {
	v := &views.RerunEstimate{
		Evaluations: e.Evaluations, AlreadyThere: e.AlreadyThere, Sampled: e.Sampled, PromptTokens: rangeView(e.PromptTokens),
		CompletionTokens: rangeView(e.CompletionTokens), Cost: rangeView(e.CostUSD), Priced: e.Priced, Basis: e.Basis,
		NoModel: ask.Kind != store.RerunFailed && ask.Target.Engine != judge.EngineOpenAI,
	}
	v.Shown = append(asked.fields(),
		views.FieldAgain{Name: "seen_evaluations", Value: strconv.Itoa(e.Evaluations)},
		views.FieldAgain{Name: "seen_cost", Value: strconv.FormatFloat(e.CostUSD.High, 'g', -1, 64)})
	return v
}

func rangeView(r store.Range) views.RerunRange {
	return views.RerunRange{Low: r.Low, Mid: r.Mid, High: r.High}
}
