package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/harness"
	"github.com/countersign/countersign/store"
)

const (
	// sentinelEvery is how often a server asks whether a sentinel set is due.
	sentinelEvery = time.Minute
	// sentinelBeat keeps a round held while one of its traces is judged.
	sentinelBeat = 40 * time.Second
)

// keepSentinels judges sentinel sets when they are due, a trace at a time so that the
// work comes first, until ctx ends. What goes wrong is noted at the round and tried
// again; serving goes on.
func (h *harnesses) keepSentinels(ctx context.Context) error {
	for {
		if err := h.sentinelsOnce(ctx); err != nil && ctx.Err() == nil {
			h.state.log.LogAttrs(ctx, slog.LevelError, "sentinel sets", slog.Any("error", err))
		}
		if sleep(ctx, sentinelEvery) != nil {
			return nil
		}
	}
}

// sentinelsOnce begins what is due, and judges what is begun and can be judged here.
func (h *harnesses) sentinelsOnce(ctx context.Context) error {
	faults := h.beginRounds(ctx) // what is begun is judged all the same
	engines := make([]string, 0, len(h.engines.all))
	for key := range h.engines.all {
		engines = append(engines, key)
	}
	for ctx.Err() == nil {
		w, err := h.db.TakeRound(ctx, engines)
		if err != nil || w == nil {
			return errors.Join(faults, err)
		}
		if err := h.judgeRound(ctx, w); err != nil {
			faults = errors.Join(faults, err, h.db.LeaveRound(context.WithoutCancel(ctx), w, err.Error()))
		}
	}
	return faults
}

// beginRounds plans each set as its project would plan it now.
func (h *harnesses) beginRounds(ctx context.Context) error {
	sets, firsts, err := h.db.ActiveSentinels(ctx)
	if err != nil {
		return err
	}
	var faults error
	for i, set := range sets {
		if err := h.beginRound(ctx, set, &firsts[i]); err != nil {
			faults = errors.Join(faults, fmt.Errorf("the sentinel set of judge %s in project %s: %w", set.Judge, set.Project, err))
		}
	}
	return faults
}

func (h *harnesses) beginRound(ctx context.Context, set store.SentinelSet, first *judge.Trace) error {
	at, err := h.of(ctx, set.Project)
	if err != nil {
		return err
	}
	policy, err := h.live(set.Project).policyNow(ctx)
	if err != nil {
		return err
	}
	targets, err := at.PlanAgain(first, set.Judge, &policy)
	if err != nil {
		return err
	}
	for _, target := range targets {
		if target.Refused() || h.engines.all[target.EngineKey()] == nil {
			continue // another server has that engine
		}
		if _, err := h.db.BeginRound(ctx, set, target); err != nil {
			return err
		}
	}
	return nil
}

// judgeRound judges a part of a round, and ends it when nothing is left.
func (h *harnesses) judgeRound(ctx context.Context, w *store.SentinelWork) error {
	if len(w.Traces) == 0 {
		return h.db.EndRound(ctx, w, "")
	}
	at, err := h.of(ctx, w.Project)
	if err != nil {
		return err
	}
	j, err := h.definition(ctx, w.Project, w.Target)
	if err != nil {
		return err
	}
	if j == nil {
		return h.db.EndRound(ctx, w, "this version of the judge is not in the program any more")
	}
	var purse judge.Purse
	if w.BudgetUSD != nil {
		paid := harness.NewPurse(judge.Nano(*w.BudgetUSD))
		if err := paid.Spent(ctx, "", "before", judge.Nano(w.SpentUSD)); err != nil {
			return err
		}
		purse = paid
	}
	for _, t := range w.Traces {
		e, err := h.judgeSentinel(ctx, at, j, w, t, purse)
		var spent *harness.BudgetError
		switch {
		case err == nil:
			err = h.db.KeepSentinel(ctx, w, t, e)
		case errors.Is(err, store.ErrRoundLost):
		case ctx.Err() != nil: // another server, or this one when it is back, goes on
			return h.db.LeaveRound(context.WithoutCancel(ctx), w, "")
		case errors.As(err, &spent):
			return h.db.EndRound(ctx, w, spent.Error())
		default:
			return h.db.LeaveRound(ctx, w, err.Error())
		}
		if errors.Is(err, store.ErrRoundLost) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return h.db.LeaveRound(ctx, w, "") // it is taken again at once
}

// judgeSentinel judges one trace while the round is kept.
func (h *harnesses) judgeSentinel(ctx context.Context, at *harness.Harness, j *judge.Judge, w *store.SentinelWork, t store.SentinelTrace, purse judge.Purse) (judge.Evaluation, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	beating := make(chan struct{})
	go func() {
		defer close(beating)
		for sleep(ctx, sentinelBeat) == nil {
			if err := h.db.ExtendRound(ctx, w); errors.Is(err, store.ErrRoundLost) {
				stop(err)
				return
			}
		}
	}()
	e, err := at.EvaluateAgain(ctx, w.Key(t), j, &t.Trace, w.Target, &w.Policy, purse)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, store.ErrRoundLost) {
		err = cause
	}
	stop(nil)
	<-beating
	return e, err
}
