package web

import (
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// runChoices is how many runs a filter offers; older ones have their page.
const runChoices = 50

func (s *Server) judgeChoices(c echo.Context, project string) ([]views.Choice, error) {
	stored, err := s.cfg.Store.Judges(c.Request().Context(), project)
	if err != nil {
		return nil, err
	}
	var choices []views.Choice
	for _, j := range stored {
		if j.Current {
			choices = append(choices, views.Choice{Value: j.Name, Text: j.Name})
		}
	}
	return choices, nil
}

func (s *Server) runChoices(c echo.Context, project string) ([]views.Choice, error) {
	runs, err := s.cfg.Store.RunNames(c.Request().Context(), project, runChoices)
	if err != nil {
		return nil, err
	}
	choices := make([]views.Choice, len(runs))
	for i, name := range runs {
		choices[i] = views.Choice{Value: name, Text: name}
	}
	return choices, nil
}

// reasonChoices leaves out what a blind reviewer can't filter by: the answer
// would always be empty for items that wait.
func reasonChoices(a store.Actor) []views.Choice {
	var choices []views.Choice
	for _, code := range judge.ReasonCodes() {
		if !a.MayDecide() || !judge.Telling(code) {
			choices = append(choices, views.Choice{Value: code, Text: words(code)})
		}
	}
	return choices
}

func labelChoices(labels []judge.Label) []views.Choice {
	choices := make([]views.Choice, len(labels))
	for i, l := range labels {
		meaning := string(l.Verdict)
		if l.Abstain {
			meaning = "no answer"
		}
		choices[i] = views.Choice{Value: l.Name, Text: words(l.Name) + " (" + meaning + ")"}
	}
	return choices
}

func reasonCodeChoices(offered []judge.OverrideReason) []views.Choice {
	choices := make([]views.Choice, len(offered))
	for i, r := range offered {
		choices[i] = views.Choice{Value: r.Code, Text: r.Text + " (" + r.Severity + ")"}
	}
	return choices
}

// words reads a code as words: judge_wrong becomes "Judge wrong". A label that
// is not such a code stays as it is.
func words(code string) string {
	if code == "" || strings.ToLower(code) != code {
		return code
	}
	w := strings.ReplaceAll(code, "_", " ")
	return strings.ToUpper(w[:1]) + w[1:]
}
