package web

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// Days that a judge's health is counted over.
const (
	usualHealthDays = 30
	mostHealthDays  = 366
)

// healthFilter reads what health is asked for.
func healthFilter(c echo.Context) (f store.HealthFilter, err error) {
	f.PromptVersion, f.Engine, f.Model = c.QueryParam("version"), c.QueryParam("engine"), c.QueryParam("model")
	f.Days, err = intParam(c, "days", usualHealthDays, 1, mostHealthDays)
	return f, err
}

func (s *Server) showJudgeHealth(c echo.Context) error {
	name := param(c, "name")
	filter, err := healthFilter(c)
	if err != nil {
		return err
	}
	f, err := s.frame(c, "Health of "+name, views.TabJudges)
	if err != nil {
		return err
	}
	ctx, actor := c.Request().Context(), user(c).Actor()
	h, err := s.cfg.Store.JudgeHealth(ctx, actor, f.Project, name, filter)
	if err != nil {
		return err
	}
	versions, err := s.cfg.Store.JudgeVersions(ctx, actor, f.Project, name)
	if err != nil {
		return err
	}
	p := views.HealthPage{
		JudgeHead: judgeHead(f, actor, name, versions[0].Snapshot.Description, "health"),
		Engines:   choicesOf(h.Engines), Models: choicesOf(h.Models), Version: filter.PromptVersion, Engine: filter.Engine, Model: filter.Model,
		Window: strconv.Itoa(filter.Days), Total: healthSum(h.Total),
	}
	for _, v := range h.Versions {
		p.Versions = append(p.Versions, views.Choice{Value: v, Text: shortVersion(v)})
	}
	for _, days := range []int{7, usualHealthDays, 90, mostHealthDays} {
		p.Windows = append(p.Windows, views.Choice{Value: strconv.Itoa(days), Text: counted(days, "day")})
	}
	for _, d := range h.Days {
		at, err := time.Parse(time.DateOnly, d.Day)
		if err != nil {
			return fmt.Errorf("a day of the health of judge %s: %w", name, err)
		}
		p.Days = append(p.Days, views.HealthDay{Day: at, HealthSum: healthSum(d.Health)})
	}
	kinds := map[string]string{}
	for _, v := range versions {
		for _, ch := range v.Snapshot.Checks {
			kinds[ch.Name] = string(ch.Kind)
		}
	}
	for _, ch := range h.Total.Checks {
		p.Checks = append(p.Checks, views.JudgeCheck{Name: ch.Name, Kind: kinds[ch.Name], Run: ch.Run, Failed: ch.Failed})
	}
	return s.render(c, http.StatusOK, views.JudgeHealth(p))
}

func healthSum(h store.Health) views.HealthSum {
	sum := views.HealthSum{
		Evaluations: h.Evaluations, Calls: h.Calls, Repaired: h.Repaired, Invalid: h.Invalid, Failed: h.Failed, Refused: h.Refused,
		Undecided: h.Undecided, Unpriced: h.Unpriced, PromptTokens: h.PromptTokens, CompletionTokens: h.CompletionTokens,
		TransportRetries: h.TransportRetries, CostUSD: h.CostUSD, P50MS: h.LatencyP50MS, P95MS: h.LatencyP95MS, Reports: h.Reports, Untold: h.Untold,
	}
	for _, ch := range h.Checks {
		sum.ChecksFailed += ch.Failed
	}
	return sum
}

func choicesOf(names []string) []views.Choice {
	choices := make([]views.Choice, len(names))
	for i, n := range names {
		choices[i] = views.Choice{Value: n, Text: n}
	}
	return choices
}

// shortVersion is enough of a prompt version to tell it by.
func shortVersion(v string) string {
	if len(v) > 12 {
		return v[:12]
	}
	return v
}
