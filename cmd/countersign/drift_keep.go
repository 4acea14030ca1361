package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/countersign/countersign/store"
)

// driftEvery is how often a server looks whether a judge has drifted. What is new
// since the last look is counted only; whichever server sees it first opens the alarm.
const driftEvery = 5 * time.Minute

// keepWatching looks for drift until ctx ends. What goes wrong is logged and tried
// again at the next look; serving goes on.
func keepWatching(ctx context.Context, s *state, db *store.Store) error {
	for {
		opened, err := db.LookForDrift(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			s.log.LogAttrs(ctx, slog.LevelError, "look for drift of judges", slog.Any("error", err))
		case opened > 0:
			s.log.LogAttrs(ctx, slog.LevelWarn, "a judge has drifted: the calibration page says which and how", slog.Int("alarms", opened))
		}
		if sleep(ctx, driftEvery) != nil {
			return nil
		}
	}
}
