package main

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/store"
)

// leastKappa is what a judge's agreement with people must reach before it decides
// alone where the policy asks for that: "substantial" in the words of Landis and
// Koch (1977).
const leastKappa = 0.60

// trustKept is how long what was found of a judge's calibration is gone by: it
// moves with every label, and slowly.
const trustKept = time.Minute

// trust answers whether a version of a judge, by one model, has passed its
// calibration in a project.
type trust struct {
	db      *store.Store
	log     *slog.Logger
	project string

	mu      sync.Mutex
	byJudge map[string]calibrated
}

// calibrated is what was found of one judge.
type calibrated struct {
	at      time.Time
	reports []calibration.Report
}

// trusted is asked by the harness. What can't be found out is not trusted: a
// person decides then.
func (t *trust) trusted(ctx context.Context, e *judge.Evaluation) (ok bool, detail string) {
	reports, err := t.of(ctx, e.Judge)
	if err != nil {
		t.log.Error("the calibration of a judge can't be read; it counts as not passed", "project", t.project, "judge", e.Judge, "error", err)
		return false, "the calibration of this judge could not be read"
	}
	model := e.Model
	if e.Samples > 1 {
		model = fmt.Sprintf("%s ×%d", e.Model, e.Samples) // a vote is another rater than one answer
	}
	for _, r := range reports {
		if r.Model == model && r.PromptVersion == e.PromptVersion {
			ok, why := r.Trusted(leastKappa)
			if !ok {
				why = fmt.Sprintf("this version has not passed its calibration by %s: %s", model, why)
			}
			return ok, why
		}
	}
	return false, fmt.Sprintf("nobody has labelled what this version says by %s yet, and the policy accepts only judges that passed their calibration", model)
}

func (t *trust) of(ctx context.Context, judgeName string) ([]calibration.Report, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.byJudge[judgeName]; ok && time.Since(known.at) < trustKept {
		return known.reports, nil
	}
	counts, err := t.db.CalibrationCounts(ctx, store.Operator("calibration gate"), t.project, judgeName)
	if err != nil {
		return nil, err
	}
	reports, err := calibration.ComposeAll(counts)
	if err != nil {
		return nil, err
	}
	if t.byJudge == nil {
		t.byJudge = map[string]calibrated{}
	}
	t.byJudge[judgeName] = calibrated{time.Now(), reports}
	return reports, nil
}
