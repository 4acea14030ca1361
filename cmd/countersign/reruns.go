package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// rerunIdle is how long the worker waits before it looks for re-runs again.
const rerunIdle = 2 * time.Second

// keepRerunning queues what re-runs ask for, a batch at a time, until ctx ends.
// A batch that fails is tried again: the re-run stands where it was.
func (h *harnesses) keepRerunning(ctx context.Context, wake func()) error {
	failing := false
	for ctx.Err() == nil {
		queued, more, err := h.db.ContinueReruns(ctx, h.planAgain)
		if queued > 0 {
			wake()
		}
		switch {
		case err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrConflict): // a conflict: it was stopped, or another server is at it
			if !failing {
				h.state.log.Error("a re-run does not get on; it is tried again", "error", err)
			}
			failing = true
		case err == nil:
			failing = false
		}
		if err == nil && more {
			continue
		}
		if sleep(ctx, rerunIdle) != nil {
			break
		}
	}
	return nil
}

// rerunAll queues all that re-runs ask for.
func (h *harnesses) rerunAll(ctx context.Context) error {
	for {
		if err := stopped(ctx); err != nil {
			return err
		}
		if _, more, err := h.db.ContinueReruns(ctx, h.planAgain); err != nil || !more {
			return err
		}
	}
}

// planAgain says whether a trace can be judged by the target of a re-run, and if
// not why: what is refused is refused as in an import.
func (h *harnesses) planAgain(ctx context.Context, project string, t *judge.Trace, target judge.Planned) (judge.Planned, error) {
	j, err := h.definition(ctx, project, target)
	if err != nil {
		return target, err
	}
	if j == nil {
		target.RefusedField = "judge"
		target.Message = fmt.Sprintf("version %s of judge %s is not in this program or project: re-run with the present version", shortHash(target.PromptVersion), target.Judge)
		return target, nil
	}
	p, err := h.live(project).policyNow(ctx)
	if err != nil {
		return target, err
	}
	planned, err := judge.Planning{
		Judges: []judge.Judge{*j}, Only: []string{j.Name}, ByName: true, ModelsByName: true, Policy: &p,
		Targets: []judge.Target{{Engine: target.Engine, Model: target.Model, Endpoint: target.Endpoint, Samples: max(1, target.Samples)}},
		Where:   func(key string) judge.Endpoint { return judge.EndpointOf(h.shared.Engines[key]) },
	}.Plan(&judge.Trace{
		ID: t.ID, Domain: t.Domain, Stakes: t.Stakes, Question: t.Question, Output: t.Output, Reference: t.Reference,
		Premises: t.Premises, Conclusion: t.Conclusion, Sources: t.Sources, Constraints: t.Constraints, Cluster: t.Cluster,
	})
	if err != nil {
		return target, err
	}
	for _, p := range planned {
		// The version is the one without drawn examples where the trace is one of them.
		target.PromptVersion, target.RefusedField, target.Message = p.PromptVersion, p.RefusedField, p.Message
	}
	return target, nil
}
