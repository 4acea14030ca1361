package main

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// batchResults is how many results one transaction stores.
const batchResults = 200

// lease is long enough for a batch on a busy machine. What a build that was
// killed held comes back after it.
const lease = 5 * time.Minute

// judge makes all evaluations that are queued: some goroutines claim, judge and
// store, so that the database is never idle while reports are made.
func (b *build) judge(ctx context.Context) error {
	pending, err := b.db.PendingWork(ctx, store.DefaultProject)
	if err != nil || pending == 0 {
		return err
	}
	p := b.begin("evaluations judged", pending)
	group, ctx := errgroup.WithContext(ctx)
	for i := range runtime.GOMAXPROCS(0) + 1 {
		group.Go(func() error {
			for {
				work, err := b.db.ClaimWork(ctx, judge.Claim{Worker: fmt.Sprintf("benchdata-%d", i), N: batchResults, Lease: lease})
				if err != nil {
					return err
				}
				if len(work) == 0 {
					if done, err := b.waited(ctx); done || err != nil {
						return err
					}
					continue
				}
				finished := make([]judge.Finished, len(work))
				for k, w := range work {
					if finished[k], err = b.evaluate(ctx, w); err != nil {
						return err
					}
				}
				if err := b.db.FinishWork(ctx, finished); err != nil {
					return err
				}
				p.add(len(work))
			}
		})
	}
	err = group.Wait()
	p.end()
	return err
}

// waited says whether all is judged, after a while: what another goroutine, or
// a build before this one, holds may come back.
func (b *build) waited(ctx context.Context) (done bool, err error) {
	pending, err := b.db.PendingWork(ctx, store.DefaultProject)
	if err != nil || pending == 0 {
		return true, err
	}
	select {
	case <-ctx.Done():
		return false, ctx.Err()
	case <-time.After(time.Second):
		return false, nil
	}
}

func (b *build) evaluate(ctx context.Context, w judge.Work) (judge.Finished, error) {
	var number int
	if _, err := fmt.Sscanf(w.Trace.ID, "bench-%d", &number); err != nil {
		return judge.Finished{}, fmt.Errorf("trace %q is none of this program: give it a database of its own: %w", w.Trace.ID, err)
	}
	ctx = context.WithValue(ctx, aboutKey{}, about{trace: &w.Trace, number: number, judge: w.Planned.Judge})
	e, draw, err := b.harness.Evaluate(ctx, &w.Trace, w.Planned)
	if err != nil {
		return judge.Finished{}, err
	}
	done := judge.Finished{Work: w, Evaluation: e, Draw: draw, Key: e.ID}
	done.Evaluation.ID = w.EvaluationID
	return done, nil
}
