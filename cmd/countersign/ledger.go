package main

import (
	"context"
	"log/slog"
	"sync"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// ledger keeps replies in the store, and waits for one that is away: a reply
// that was paid for must not be lost for it. An outage is told once when it
// begins and once when it ends.
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
