package store

import (
	"context"
	"math"
	"strings"
)

// volumeDays is how far back evaluations are counted for those of a week.
const volumeDays = 28

// AssumedWeekly is how many evaluations a week are taken where none can be counted.
const AssumedWeekly = 1000

// WeeklyEvaluations is how many evaluations a week a judge, model and prompt version
// gave in the last four weeks, in whole ones, as far as it may be told; AssumedWeekly and
// not measured where that is none. Roles: those of JudgeHealth.
func (s *Store) WeeklyEvaluations(ctx context.Context, a Actor, project, judgeName, model, version string) (n float64, measured bool, err error) {
	model, _, _ = strings.Cut(model, " ×") // several calls are one evaluation
	h, err := s.JudgeHealth(ctx, a, project, judgeName, HealthFilter{PromptVersion: version, Model: model, Days: volumeDays})
	if err != nil || h.Total.Evaluations == 0 {
		return AssumedWeekly, false, err
	}
	return max(1, math.Round(float64(h.Total.Evaluations)*7/volumeDays)), true, nil
}
