package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/countersign/countersign/store"
)

// askEvery is how often a server asks whether the daily upkeep is due.
const askEvery = 15 * time.Minute

// keepUp does the light part of upkeep once a day, in one of all the servers of
// a database: it drops leftovers, removes raw replies that are too old if the
// configuration says so, and lets the database put itself in order. What goes
// wrong is logged and tried again the next day; serving goes on.
func keepUp(ctx context.Context, s *state, db *store.Store) error {
	for {
		mine, err := db.TakeUpkeep(ctx)
		if err == nil && mine {
			err = keepUpNow(ctx, s, db)
		}
		if err != nil && ctx.Err() == nil {
			s.log.LogAttrs(ctx, slog.LevelError, "daily upkeep", slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(askEvery):
		}
	}
}

func keepUpNow(ctx context.Context, s *state, db *store.Store) error {
	dropped, err := db.DropLeftovers(ctx)
	if err != nil {
		return err
	}
	var removed store.Retired
	if age := days(s.settings.KeepRawRepliesDays); age > 0 {
		if removed, err = db.RemoveOldTexts(ctx, store.Operator("retention"), store.Retention{OlderThan: age.duration()}); err != nil {
			return err
		}
	}
	if err := db.Optimise(ctx); err != nil {
		return err
	}
	s.log.LogAttrs(ctx, slog.LevelInfo, "daily upkeep done", slog.Int64("kept_replies", dropped.Replies),
		slog.Int64("answers", dropped.Answers), slog.Int64("drafts", dropped.Drafts), slog.Int64("removed_replies", removed.Replies))
	return nil
}
