package main

import (
	"context"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/store"
)

// batchTraces is how many traces one transaction imports.
const batchTraces = 500

// load imports the traces that are not there yet. Two batches are under way at
// once: the database writes one while the texts of the other are made.
func (b *build) load(ctx context.Context) error {
	first, err := b.imported(ctx)
	if err != nil {
		return err
	}
	p := b.begin("traces imported", b.make.traces-first)
	group, ctx := errgroup.WithContext(ctx)
	var next atomic.Int64
	next.Store(int64(first))
	for range 2 {
		group.Go(func() error {
			for {
				from := int(next.Add(batchTraces)) - batchTraces
				if from >= b.make.traces {
					return nil
				}
				items := make([]store.ImportItem, 0, batchTraces)
				for n := from; n < min(from+batchTraces, b.make.traces); n++ {
					t := b.make.trace(n)
					plan, err := b.harness.Plan(&t)
					if err != nil {
						return err
					}
					items = append(items, store.ImportItem{Trace: t, Plan: plan})
				}
				if _, err := b.db.ImportTraces(ctx, operator, store.DefaultProject, items); err != nil {
					return err
				}
				p.add(len(items))
			}
		})
	}
	err = group.Wait()
	p.end()
	return err
}

// imported is from which trace on an import that was cut goes on. Batches of
// two goroutines may end out of order, so a few that are there come again; that
// changes nothing.
func (b *build) imported(ctx context.Context) (int, error) {
	low, high := 0, (b.make.traces+batchTraces-1)/batchTraces // in batches
	for low < high {
		middle := (low + high) / 2
		rows, _, err := b.db.ListEvaluations(ctx, operator, store.EvaluationFilter{TraceID: fmt.Sprintf("bench-%07d", middle*batchTraces), Limit: 1})
		if err != nil {
			return 0, err
		}
		if len(rows) > 0 {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return max(0, low-2) * batchTraces, nil
}

// newHarness is a project's, with the model in place of an endpoint.
func newHarness(m maker, judges []judge.Judge, policy judge.Policy) (*harness.Harness, error) {
	return harness.New(harness.Config{
		Judges: judges, Default: defaultJudges(), Policy: policy, Audit: true,
		Engines: map[string]judge.Engine{judge.EngineOpenAI: model{m}}, Engine: judge.EngineOpenAI, Model: modelName,
		Key: []byte("the key of a database that is made up"),
	})
}
