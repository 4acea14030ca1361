package main

import (
	"context"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// workList is the store's, with the definition that each evaluation was
// planned with: its project's.
type workList struct {
	*store.Store
	judges *harnesses
	only   string // a project; empty: all
}

// ClaimWork is the store's. It fills in the judges.
func (l workList) ClaimWork(ctx context.Context, c judge.Claim) ([]judge.Work, error) {
	c.Project = l.only
	work, err := l.Store.ClaimWork(ctx, c)
	if err != nil {
		return nil, err
	}
	for i := range work {
		if i > 0 && sameJudge(work[i], work[i-1]) { // batches are of few judges
			work[i].Judge = work[i-1].Judge
		} else if work[i].Judge, err = l.judges.definition(ctx, work[i].Project, work[i].Planned); err != nil {
			return nil, err
		}
	}
	return work, nil
}

func sameJudge(a, b judge.Work) bool {
	return a.Project == b.Project && a.Planned.Judge == b.Planned.Judge &&
		a.Planned.PromptVersion == b.Planned.PromptVersion && a.Planned.Engine == b.Planned.Engine
}
