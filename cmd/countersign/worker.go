package main

import (
	"context"
	"sync/atomic"

	"github.com/countersign/countersign/judge/harness"
)

// counter counts from several goroutines.
type counter struct{ total atomic.Int64 }

func (c *counter) add(n int) { c.total.Add(int64(n)) }
func (c *counter) n() int    { return int(c.total.Load()) }

// drain judges everything that is queued, and says how much that was. When it
// is told to stop, evaluations under way are finished or put back.
func drain(ctx context.Context, s *state, judges *liveJudges, concurrency int) (int, error) {
	pending, err := judges.db.PendingWork(ctx, judges.project)
	if err != nil {
		return 0, err
	}
	p := s.startProgress("judging", int64(pending), false)
	defer p.end()
	var judged counter
	worker := harness.Worker{
		List: workList{Store: judges.db, judges: judges}, Harness: judges.now, Name: workerName(), Concurrency: concurrency, Log: s.log,
		Patience: importPatience,
		Done:     func(n int) { judged.add(n); p.add(int64(n)) },
	}
	err = worker.Drain(ctx)
	if err == nil {
		err = stopped(ctx)
	}
	return judged.n(), err
}
