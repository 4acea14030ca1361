package web

import (
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/agreement"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/judge/calibration/labelplan"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

func planPath(judge string) string { return calibrationPath(judge) + "/plan" }

// showPlan says what more labels would tell, and lets a lead draw them.
func (s *Server) showPlan(c echo.Context) error {
	name := param(c, "judge")
	f, err := s.frame(c, "Labels for "+name, views.TabCalibration)
	if err != nil {
		return err
	}
	ctx, actor, form := c.Request().Context(), user(c).Actor(), c.QueryParams()
	all, err := s.cfg.Store.CalibrationCounts(ctx, actor, f.Project, name)
	if err != nil {
		return err
	}
	p := views.PlanPage{Frame: f, Judge: name, Href: planPath(name), CalibrationHref: calibrationPath(name), DrawHref: calibrationPath(name) + "/draw",
		MayDraw: isLead(actor), N: form.Get("n"), Half: form.Get("half")}
	p.Choices = seriesChoices(all)
	series, found := seriesOf(form, all)
	if !found && form.Get("series") != "" {
		return store.ErrNotFound
	}
	p.Series, p.Model, p.Version = seriesValue(series.PromptVersion, series.Model), series.Model, series.PromptVersion
	draws, err := s.cfg.Store.LabelDraws(ctx, actor, f.Project, name)
	if err != nil {
		return err
	}
	for _, d := range draws {
		p.Draws = append(p.Draws, views.DrawRow{Number: d.Number, What: drawWords(d), By: d.By, At: d.At, Waiting: d.Waiting, Seed: d.Seed})
	}
	if !found {
		return s.render(c, http.StatusOK, views.Plan(p))
	}
	policy, err := s.present(ctx, f.Project)
	if err != nil {
		return err
	}
	pace, err := s.cfg.Store.ReviewPace(ctx, actor, f.Project)
	if err != nil {
		return err
	}
	status := http.StatusOK
	strata := planned(series, policy, draws)
	var field *store.FieldError
	switch err := fillPlan(&p, strata, pace.Of(name, judge.StandardStakes)); {
	case errors.As(err, &field):
		p.Fault, p.Field, status = sentenceOf(field), field.Field, http.StatusUnprocessableEntity
	case err != nil:
		return err
	}
	return s.render(c, status, views.Plan(p))
}

// drawWords say what a draw took, by verdict as far as it may be told.
func drawWords(d store.LabelDraw) string {
	said := fmt.Sprintf("%s of %s by %s", thousands(d.N), thousands(d.Frame), d.Model)
	if d.Parts == nil {
		return said + "; by verdict once nothing of it waits blind"
	}
	for i, part := range d.Parts {
		said += [2]string{": ", ", "}[min(i, 1)] + fmt.Sprintf("%s of %s it %s", thousands(part.N), thousands(part.Frame), didOf(part.Verdict))
	}
	return said
}

// asked is how many labels the plan is of, in all: a number, or what a wanted width of
// the miss rate takes. said tells of the latter.
func asked(p *views.PlanPage, strata []labelplan.Stratum) (n int, said string, err error) {
	if text := strings.TrimSpace(p.Half); text != "" {
		half, err := decimal(strings.TrimSuffix(text, "%"))
		if err != nil || !(half > 0 && half <= 50) {
			return 0, "", &store.FieldError{Field: "half", Message: fmt.Sprintf("is %q: it is a number of points above 0 and at most 50", text)}
		}
		for _, s := range strata {
			if s.Verdict != judge.Pass {
				continue
			}
			n, enough := s.Needed(half/100, calibration.Level)
			switch {
			case !enough:
				return n, fmt.Sprintf("All %s together would not bring the miss rate to ± %s points.", counted(s.Free, "evaluation that can be drawn", "evaluations that can be drawn"), numberText(half)), nil
			case n == 0:
				return 0, fmt.Sprintf("The miss rate is known to ± %s points already.", numberText(half)), nil
			}
			return n, fmt.Sprintf("%s on what the judge passed %s the miss rate to ± %s points.", counted(n, "more blind label"), plural(n, "brings", "bring"), numberText(half)), nil
		}
		return 0, "The judge passed nothing, so there is no miss rate.", nil
	}
	text := strings.ReplaceAll(strings.TrimSpace(p.N), ",", "")
	if text == "" {
		return usualPlan, "", nil
	}
	if n, err = strconv.Atoi(text); err != nil || n < 1 || n > store.MostDrawn {
		return 0, "", &store.FieldError{Field: "n", Message: fmt.Sprintf("is %q: it is a whole number from 1 to %s", text, thousands(store.MostDrawn))}
	}
	return n, "", nil
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// fillPlan puts the plan on the page. What cannot be read leaves the usual plan.
func fillPlan(p *views.PlanPage, strata []labelplan.Stratum, took store.ReviewTime) error {
	n, said, fault := asked(p, strata)
	if fault != nil {
		n = usualPlan
	}
	free := 0
	for _, s := range strata {
		free += s.Free
		p.Unknown += s.Unknown
	}
	var split []int
	var err error
	if p.Half != "" && fault == nil { // the wanted width is that of what passed
		split = make([]int, len(strata))
		for i, s := range strata {
			switch {
			case s.Verdict == judge.Pass:
				split[i] = n
			case n > 0: // a draw takes from all, or who answers would know the verdict
				split[i] = min(labelplan.Floor, s.Free)
			}
		}
	} else if split, err = labelplan.Split(min(n, free), strata); err != nil {
		return err
	}
	sum := 0
	for i, s := range strata {
		sum += split[i]
		row := views.PlanRow{Verdict: string(s.Verdict), Did: didOf(s.Verdict), Rate: rateOf(s.Verdict), Labels: s.N(), Free: s.Free, N: split[i], Hours: hoursFor(split[i], took.Seconds)}
		if now, known := s.Now(calibration.Level); known {
			row.Now = views.Ranged{Value: percentOf(now.Share), Range: percentOf(now.Low) + " to " + percentOf(now.High)}
			row.NowHalf = "± " + points(now.Half())
		}
		if after, ok := s.After(split[i], calibration.Level); ok && split[i] > 0 {
			row.ThenHalf = "± " + points(after.Half())
			row.Says = narrows(s, split[i])
		}
		p.Rows = append(p.Rows, row)
	}
	p.Token = rand.Text()
	offerDraw(p, free)
	p.Sum, p.Hours, p.Said = sum, hoursFor(sum, took.Seconds), said
	p.Pace = fmt.Sprintf("Hours at %s an item, the median of %s (%s).", secondsText(took.Seconds), counted(took.N, "decision"), took.Basis)
	if took.N == 0 {
		p.Pace = fmt.Sprintf("Hours at %s an item, assumed: there are too few decisions to measure it.", secondsText(took.Seconds))
	}
	if p.Unknown == 0 {
		if err := fillKappa(p, strata, split); err != nil {
			return err
		}
	}
	return fault
}

// fillKappa says what the plan does to kappa.
func fillKappa(p *views.PlanPage, strata []labelplan.Stratum, split []int) error {
	now, err := labelplan.Kappa(strata, make([]int, len(split)), calibration.Level)
	if err != nil {
		return err
	}
	then, err := labelplan.Kappa(strata, split, calibration.Level)
	if err != nil {
		return err
	}
	switch {
	case !now.HasInterval() && !then.HasInterval():
	case !now.HasInterval():
		p.Kappa = fmt.Sprintf("Kappa of the verdicts on all work would be known to ± %.2f; now there is no interval of it.", (then.High-then.Low)/2)
	case then.HasInterval():
		p.Kappa = kappaPlanned(now, then)
	}
	return nil
}

// kappaPlanned says what a plan does to the interval of kappa: unequal weights can make it
// wider although there are more labels.
func kappaPlanned(now, then agreement.Estimate) string {
	two := func(v float64) string { return agreement.Decimals(v, 2) }
	line := fmt.Sprintf("Kappa of the verdicts on all work is %s (%s to %s) now; the whole plan would ", two(now.Value), two(now.Low), two(now.High))
	before, after := two((now.High-now.Low)/2), two((then.High-then.Low)/2)
	if then.High-then.Low >= now.High-now.Low || before == after {
		return line + fmt.Sprintf("not narrow it (± %s now, ± %s after).", before, after)
	}
	return line + fmt.Sprintf("narrow it from ± %s to ± %s.", before, after)
}
