package web

import (
	"context"
	"fmt"
	"math"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/judge/calibration/labelplan"
	"github.com/countersign/countersign/store"
)

// usualPlan is how many more labels a plan begins with.
const usualPlan = 100

// planned is what more labels of a series would tell.
func planned(c calibration.Counts, policy judge.Policy, draws []store.LabelDraw) []labelplan.Stratum {
	share := policy.For(c.Judge, "", judge.StandardStakes).RandomAudit
	strata := labelplan.Strata(c, func(judge.Verdict) float64 { return share })
	for i := range strata {
		s := &strata[i]
		for _, d := range draws {
			if d.Model != c.Model || d.PromptVersion != c.PromptVersion {
				continue
			}
			for _, part := range d.Parts {
				if part.Verdict == s.Verdict {
					s.Before = 1 - (1-s.Before)*(1-float64(part.N)/float64(part.Frame))
				}
			}
		}
		s.Before = max(s.Before, s.Drawn())
	}
	return strata
}

// planLines say for each verdict of a series what fifty more labels would tell, in plain
// words.
func planLines(strata []labelplan.Stratum) (lines []string) {
	const more = 50
	for _, s := range strata {
		if s.Free == 0 || s.Unknown > 0 {
			continue
		}
		lines = append(lines, narrows(s, min(more, s.Free)))
	}
	return lines
}

// narrows says how far n more labels narrow what is known of a stratum.
func narrows(s labelplan.Stratum, n int) string {
	after, ok := s.After(n, calibration.Level)
	if !ok {
		return "Nothing can be drawn of what the judge " + didOf(s.Verdict) + "."
	}
	now, known := s.Now(calibration.Level)
	if !known {
		return fmt.Sprintf("%s on what the judge %s would tell %s to within ± %s points; now nothing is known of it.",
			counted(n, "blind label"), didOf(s.Verdict), rateOf(s.Verdict), points(after.Half()))
	}
	if after.Half() > now.Half()-0.0005 {
		return fmt.Sprintf("%s on what the judge %s would hardly narrow %s, which is %s (± %s points) now.",
			counted(n, "more blind label"), didOf(s.Verdict), rateOf(s.Verdict), percentOf(now.Share), points(now.Half()))
	}
	return fmt.Sprintf("%s on what the judge %s would narrow %s from ± %s to ± %s points; it is about %s now.",
		counted(n, "more blind label"), didOf(s.Verdict), rateOf(s.Verdict), points(now.Half()), points(after.Half()), percentOf(now.Share))
}

func didOf(v judge.Verdict) string {
	switch v {
	case judge.Pass:
		return "passed"
	case judge.Fail:
		return "failed"
	}
	return "called borderline"
}

// rateOf names what is wrong about a verdict.
func rateOf(v judge.Verdict) string {
	switch v {
	case judge.Pass:
		return "the miss rate"
	case judge.Fail:
		return "the rate of wrong fails"
	}
	return "the share that people fail"
}

// points writes half a width in points of a hundred.
func points(half float64) string { return fmt.Sprintf("%.1f", 100*half) }

func percentOf(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// present is the policy of a project as it is now.
func (s *Server) present(ctx context.Context, project string) (judge.Policy, error) {
	p, err := s.cfg.Store.ProjectNamed(ctx, project)
	return p.Policy, err
}

// hoursFor is how long people need for n labels.
func hoursFor(n int, each float64) string {
	h := float64(n) * each / 3600
	if n == 0 {
		return "no time"
	}
	if h > 0 && h < 0.95 {
		return fmt.Sprintf("%.0f min", math.Ceil(60*h))
	}
	return fmt.Sprintf("%.1f h", h)
}

// labelLines are planLines of each series that was counted, by version and model.
func (s *Server) labelLines(c echo.Context, project, name string, counts []calibration.Counts) (map[string][]string, error) {
	policy, err := s.present(c.Request().Context(), project)
	if err != nil {
		return nil, err
	}
	draws, err := s.cfg.Store.LabelDraws(c.Request().Context(), user(c).Actor(), project, name)
	if err != nil {
		return nil, err
	}
	lines := map[string][]string{}
	for _, x := range counts {
		lines[seriesValue(x.PromptVersion, x.Model)] = planLines(planned(x, policy, draws))
	}
	return lines, nil
}
