package web

import (
	"context"
	"errors"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
	"github.com/countersign/countersign/views"
)

// whyNot says of each judge of a project that has no evaluation of a trace why
// that is so, by the judges and the policy of today. No judge is left out.
func (s *Server) whyNot(ctx context.Context, project string, t *judge.Trace, rows []store.EvaluationRow) ([]judge.Why, error) {
	all, err := s.explained(ctx, project, t)
	if err != nil {
		return nil, err
	}
	not, seen := []judge.Why{}, map[string]bool{}
	for _, w := range all {
		if !seen[w.Judge] && len(rowsOf(rows, w.Judge)) == 0 {
			not = append(not, w)
		}
		seen[w.Judge] = true
	}
	return not, nil
}

// explained asks the plan. A judge that a trace names and nobody knows is a line
// of it, not a fault of the page.
func (s *Server) explained(ctx context.Context, project string, t *judge.Trace) ([]judge.Why, error) {
	h, policy, err := s.judging(ctx, project)
	if err != nil {
		return nil, err
	}
	all, err := h.Explain(t, policy)
	var unknown *judge.UnknownJudgeError
	if err != nil && !errors.As(err, &unknown) {
		return nil, err
	}
	return all, nil
}

// rowsOf are the evaluations by a judge that count.
func rowsOf(rows []store.EvaluationRow, name string) []store.EvaluationRow {
	var of []store.EvaluationRow
	for _, r := range rows {
		if r.Judge == name && !r.Shadow {
			of = append(of, r)
		}
	}
	return of
}

// judgesOfTrace has a line for each judge: those with evaluations in the order
// of the plan among the others, and last those that the plan does not know.
func (s *Server) judgesOfTrace(ctx context.Context, project string, t *judge.Trace, rows []store.EvaluationRow) ([]views.JudgeOfTrace, error) {
	all, err := s.explained(ctx, project, t)
	if err != nil {
		return nil, err
	}
	var list []views.JudgeOfTrace
	seen := map[string]bool{}
	add := func(w judge.Why) {
		if seen[w.Judge] {
			return
		}
		seen[w.Judge] = true
		line := judgeOfTrace(w, rowsOf(rows, w.Judge))
		if w.State != judge.WhyUnknown {
			line.Href = judgePath(w.Judge)
		}
		list = append(list, line)
	}
	for _, w := range all {
		add(w)
	}
	for _, r := range rows { // of judges that the project has no longer
		add(judge.Why{Judge: r.Judge, State: judge.WhyUnknown})
	}
	return list, nil
}

func judgeOfTrace(w judge.Why, rows []store.EvaluationRow) views.JudgeOfTrace {
	line := views.JudgeOfTrace{Judge: w.Judge, Evaluations: len(rows)}
	states := map[judge.Status]int{}
	for _, r := range rows {
		states[r.Status]++
		if r.Status == judge.Refused && line.Why == "" {
			line.Field, line.Why = r.RefusedField, r.Message
		}
	}
	switch refused, pending := states[judge.Refused], states[judge.Queued]+states[judge.Judging]; {
	case len(rows) == 0:
		line.Word, line.Field, line.Why = "Not judged", w.Field, w.Message
		if w.State == judge.WhyPlanned {
			line.Why = "nothing was planned when it came: the judge or the policy is newer than the trace"
		}
	case refused == len(rows):
		line.Word = "Refused"
		if line.Why == "" {
			line.Why = line.Field + " is missing"
		}
	case refused > 0:
		line.Word = "Judged in part"
	case pending == len(rows):
		line.Word, line.Why = "Waits for the judge", "it is in the list of work"
	case pending > 0:
		line.Word, line.Why = "Judged in part", "the rest is in the list of work"
	default:
		line.Word = "Judged"
	}
	return line
}
