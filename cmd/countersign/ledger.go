package main

import (
	"context"
	"log/slog"
	"sync"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// ledger keeps replies in the store, with what they cost and the steps that were
// read from them, and waits for a store that is away: a reply that was paid for
// must not be lost for it. An outage is told once when it begins and once when
// it ends.
type ledger struct {
	db  *store.Store
	log *slog.Logger

	mu   sync.Mutex
	away bool
}

// KeptReply is the store's.
func (l *ledger) KeptReply(ctx context.Context, evaluation, call string) (r judge.KeptReply, ok bool, err error) {
	err = l.wait(ctx, func() error {
		r, ok, err = l.db.KeptReply(ctx, evaluation, call)
		return err
	})
	return r, ok, err
}

// KeepReply is the store's.
func (l *ledger) KeepReply(ctx context.Context, evaluation, call string, r judge.KeptReply) error {
	return l.wait(ctx, func() error { return l.db.KeepReply(ctx, evaluation, call, r) })
}

// Hold is the store's.
func (l *ledger) Hold(ctx context.Context, evaluation, call string, amount judge.NanoUSD) (ok bool, err error) {
	err = l.wait(ctx, func() error {
		ok, err = l.db.Hold(ctx, evaluation, call, amount)
		return err
	})
	return ok, err
}

// Spent is the store's.
func (l *ledger) Spent(ctx context.Context, evaluation, call string, cost judge.NanoUSD) error {
	return l.wait(ctx, func() error { return l.db.Spent(ctx, evaluation, call, cost) })
}

// Drop is the store's.
func (l *ledger) Drop(ctx context.Context, evaluation, call string) error {
	return l.wait(ctx, func() error { return l.db.Drop(ctx, evaluation, call) })
}

// CutSteps is the store's.
func (l *ledger) CutSteps(ctx context.Context, key string) (c judge.CutSteps, ok bool, err error) {
	err = l.wait(ctx, func() error {
		c, ok, err = l.db.CutSteps(ctx, key)
		return err
	})
	return c, ok, err
}

// KeepCutSteps is the store's.
func (l *ledger) KeepCutSteps(ctx context.Context, key string, c judge.CutSteps) error {
	return l.wait(ctx, func() error { return l.db.KeepCutSteps(ctx, key, c) })
}

var (
	_ judge.ReplyLedger = (*ledger)(nil)
	_ judge.Purse       = (*ledger)(nil)
	_ judge.StepCache   = (*ledger)(nil)
)

// wait tries until the database is there or ctx ends.
func (l *ledger) wait(ctx context.Context, try func() error) error {
	for wait := firstTry; ; wait = min(2*wait, longestTry) {
		err := try()
		away := l.db.Trouble(err) != nil
		l.note(away, err)
		if !away || sleep(ctx, wait) != nil {
			return err
		}
	}
}

func (l *ledger) note(away bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case away && !l.away:
		l.log.Error("the model's replies can't be read or kept; they wait until the database is back", "error", err)
	case !away && l.away && err == nil:
		l.log.Info("the model's replies are kept again")
	}
	l.away = away
}
