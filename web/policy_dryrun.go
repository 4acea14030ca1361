package web

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// mostDryRun is how many evaluations a dry run looks at.
const mostDryRun = 5000

// dryRunAsk is which evaluations a dry run looks at.
type dryRunAsk struct {
	last          int
	judge, domain string
}

// dryRunPolicy shows what the policy in a form would have sent to people. Nothing
// is stored.
func (s *Server) dryRunPolicy(c echo.Context) error {
	asked, err := readProposed(c)
	if err != nil {
		return err
	}
	page, policy, bad, err := s.proposal(c, asked)
	if err != nil {
		return err
	}
	page.Last, page.Judge, page.Domain = asked.values.Get("last"), asked.values.Get("judge"), asked.values.Get("domain")
	last, err := strconv.Atoi(strings.ReplaceAll(page.Last, ",", ""))
	if err != nil || last < 1 || last > mostDryRun {
		page.FaultsIn = asked.form
		page.Faults = append(page.Faults, views.PolicyFault{Text: fmt.Sprintf("A dry run looks at 1 to %s evaluations, not %q.", thousands(mostDryRun), page.Last)})
		bad = true
	}
	if bad {
		return s.render(c, http.StatusUnprocessableEntity, views.Policy(page))
	}
	ask := dryRunAsk{last: last, judge: page.Judge, domain: strings.TrimSpace(page.Domain)}
	result, pace, err := s.dryRun(c.Request().Context(), user(c).Actor(), page.Project, policy, ask)
	if err != nil {
		return err
	}
	page.DryRun = dryRunView(result, pace, last)
	return s.render(c, http.StatusOK, views.Policy(page))
}

// dryRun routes the newest evaluations again under a policy.
func (s *Server) dryRun(ctx context.Context, a store.Actor, project string, policy judge.Policy, ask dryRunAsk) (harness.DryRunResult, store.ReviewPace, error) {
	var none harness.DryRunResult
	pace, err := s.cfg.Store.ReviewPace(ctx, a, project)
	if err != nil {
		return none, nil, err
	}
	h, err := s.cfg.Harness(ctx, project)
	if err != nil {
		return none, nil, err
	}
	run := h.DryRun(policy, func(name string, stakes judge.Stakes) time.Duration {
		return time.Duration(pace.Of(name, stakes).Seconds * float64(time.Second))
	})
	old := map[[2]string]*judge.Judge{}
	counts, err := s.cfg.Store.RoutingSamples(ctx, a, project, store.SampleFilter{Judge: ask.judge, Domain: ask.domain}, ask.last, func(r store.RoutingSample) error {
		j, err := s.oldJudge(ctx, project, old, h, r.Evaluation)
		if err != nil {
			return err
		}
		return run.Add(ctx, harness.Sample{Judge: j, Trace: r.Trace, Planned: r.Planned, Evaluation: r.Evaluation})
	})
	if err != nil {
		return none, nil, err
	}
	result := run.Result()
	result.SealedLeftOut = counts.Sealed
	return result, pace, nil
}

// oldJudge is the version of a judge that made an evaluation, where it is another
// than the harness's; each is read once.
func (s *Server) oldJudge(ctx context.Context, project string, known map[[2]string]*judge.Judge, h *harness.Harness, e judge.Evaluation) (*judge.Judge, error) {
	if e.Engine == judge.EngineRecorded {
		return nil, nil
	}
	key := [2]string{e.Judge, e.PromptVersion}
	if j, ok := known[key]; ok {
		return j, nil
	}
	if j, ok := h.Judge(e.Judge); ok {
		if same, err := s.drawnVersion(ctx, project, j, e.PromptVersion); same != nil || err != nil {
			known[key] = same
			return same, err
		}
	}
	j, err := s.exactDefinition(ctx, project, e.Judge, e.PromptVersion)
	known[key] = j
	return j, err
}

// dryRunView is a dry run in words and numbers for people.
func dryRunView(r harness.DryRunResult, pace store.ReviewPace, asked int) *views.DryRun {
	d := &views.DryRun{
		Evaluations: r.Evaluations, Asked: asked, Sealed: r.SealedLeftOut, Unreadable: r.Unreadable, Refused: r.Refused,
		OtherVerdict: r.OtherVerdict, From: r.Oldest, To: r.Newest,
		Lines: []views.DryRunLine{
			wholeLine("Sent to people", r.Before.Sent, r.After.Sent),
			hoursLine("Hours of review", r.Before.Hours, r.After.Hours),
		},
		ByReason: movedLines(r.ByReason, words), ByJudge: movedLines(r.ByJudge, func(s string) string { return s }), ByStakes: movedLines(r.ByStakes, words),
		NewlySent: changesView(r.NewlySent), NoLonger: changesView(r.NoLongerSent), Pace: paceLines(r, pace),
	}
	if w := r.PerWeek; w != nil {
		d.Week = []views.DryRunLine{
			wholeLine("Sent to people", int(math.Round(w.BeforeSent)), int(math.Round(w.AfterSent))),
			hoursLine("Hours of review", w.BeforeHours, w.AfterHours),
		}
	}
	return d
}

func wholeLine(name string, before, after int) views.DryRunLine {
	return views.DryRunLine{Name: name, Before: thousands(before), After: thousands(after), Change: signed(after-before, thousands(after-before))}
}

func hoursLine(name string, before, after float64) views.DryRunLine {
	text := func(h float64) string { return strconv.FormatFloat(h, 'f', 1, 64) + " h" }
	tenths := int(math.Round(10*after) - math.Round(10*before))
	return views.DryRunLine{Name: name, Before: text(before), After: text(after), Change: signed(tenths, text(float64(tenths)/10))}
}

// signed writes a change: +3, −3, or no change.
func signed(n int, text string) string {
	switch {
	case n > 0:
		return "+" + text
	case n < 0:
		return "−" + strings.TrimPrefix(text, "-")
	}
	return "no change"
}

func movedLines(list []harness.Moved, word func(string) string) []views.DryRunLine {
	lines := make([]views.DryRunLine, len(list))
	for i, m := range list {
		lines[i] = wholeLine(word(m.Name), m.Before, m.After)
	}
	return lines
}

func changesView(c harness.Changes) views.DryRunChanges {
	v := views.DryRunChanges{Count: c.Count}
	for _, e := range c.First {
		v.Rows = append(v.Rows, views.DryRunChange{Href: evaluationPath(e.EvaluationID), TraceID: e.TraceID, Judge: e.Judge, Reasons: e.Reasons})
	}
	return v
}

// paceLines say what time a review was taken to need, and why.
func paceLines(r harness.DryRunResult, pace store.ReviewPace) []string {
	var lines []string
	for _, j := range r.ByJudge {
		for _, stakes := range []judge.Stakes{judge.HighStakes, judge.StandardStakes} {
			if !slices.ContainsFunc(r.ByStakes, func(m harness.Moved) bool { return m.Name == string(stakes) }) {
				continue
			}
			p := pace.Of(j.Name, stakes)
			line := fmt.Sprintf("%s, %s stakes: %s a review", j.Name, stakes, secondsText(p.Seconds))
			if p.N > 0 {
				line += fmt.Sprintf(", the median of %s (%s)", counted(p.N, "decision"), p.Basis)
			} else {
				line += ", assumed: there are too few decisions to measure it"
			}
			lines = append(lines, line+".")
		}
	}
	return lines
}

func secondsText(s float64) string {
	if s < 100 {
		return strconv.Itoa(int(math.Round(s))) + " s"
	}
	return strconv.FormatFloat(s/60, 'f', 1, 64) + " min"
}

// requeueRefused queues again what was refused for its endpoint.
func (s *Server) requeueRefused(c echo.Context) error {
	project, err := s.project(c)
	if err != nil {
		return err
	}
	n, err := s.cfg.Store.RequeueRefused(c.Request().Context(), user(c).Actor(), project, judge.RefusedEndpoint)
	if err != nil {
		return err
	}
	s.cfg.Wake()
	s.flash(c, views.NoticeInfo, counted(n, "evaluation was", "evaluations were")+" queued again. What still may not be sent is refused again, before any call.")
	return c.Redirect(http.StatusSeeOther, "/policy")
}
