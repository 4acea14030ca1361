package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/store"
)

// counter counts from several goroutines.
type counter struct{ total atomic.Int64 }

func (c *counter) add(n int) { c.total.Add(int64(n)) }
func (c *counter) n() int    { return int(c.total.Load()) }

// worker of this process. It judges for one project, or for every one of the
// database when only is empty.
func (h *harnesses) worker(concurrency int, only string) (*harness.Worker, error) {
	any, err := h.forWorker()
	if err != nil {
		return nil, err
	}
	return &harness.Worker{
		List: workList{Store: h.db, judges: h, only: only}, Harness: any, Name: workerName(),
		Of: h.last, Concurrency: concurrency, Log: h.state.log,
	}, nil
}

// drain judges everything that is queued in a project, and says how much that was. When it
// is told to stop, evaluations under way are finished or put back.
func drain(ctx context.Context, judges *harnesses, project string, concurrency int) (int, error) {
	pending, err := judges.db.PendingWork(ctx, project)
	if err != nil {
		return 0, err
	}
	worker, err := judges.worker(concurrency, project)
	if err != nil {
		return 0, err
	}
	p := judges.state.startJudgeProgress(-1)
	defer p.end()
	p.pending(pending)
	breakers := judges.shared.Breakers
	breakers.Changed, breakers.Misdirected = p.outage, true
	defer func() { breakers.Changed, breakers.Misdirected = nil, false }()
	var judged counter
	worker.Patience = importPatience
	worker.Done = func(n int) { judged.add(n); p.made(n, 0, 0) }
	err = worker.Drain(ctx)
	var wrong *harness.MisdirectedError
	switch {
	case errors.As(err, &wrong):
		err = fmt.Errorf("%w. What is queued is kept, and waits for an endpoint", wrong)
	case err == nil:
		err = stopped(ctx)
	}
	if err == nil {
		err = tellElsewhere(ctx, judges, project)
	}
	return judged.n(), err
}

// tellElsewhere says what of a project's work was left to a server that has its
// endpoint.
func tellElsewhere(ctx context.Context, judges *harnesses, project string) error {
	s := judges.state
	waits, err := judges.db.WaitingElsewhere(ctx, s.operator(), store.WaitFilter{
		Project: project, Here: slices.Collect(maps.Keys(judges.engines.all)),
	})
	if err != nil {
		return err
	}
	for _, w := range waits {
		many := plural(w.N, "evaluation", "evaluations")
		if w.More {
			many = "more than " + many
		}
		where := "the engine " + w.Engine + ", which is not here"
		switch {
		case w.Engine == judge.EngineOpenAI && w.Endpoint != "":
			where = "the endpoint " + w.Endpoint + ", which is not under endpoints in countersign.yaml here"
		case w.Engine == judge.EngineOpenAI:
			where = "the default model endpoint, for which there is no key or address here: give OPENAI_API_KEY or OPENAI_BASE_URL with --engine openai"
		}
		s.say("%s still queued for %s; a server or command that has it judges them", many, where)
	}
	return nil
}
