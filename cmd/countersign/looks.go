package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/countersign/countersign/store"
)

// looksEvery is how often it is written who looked at what: no page waits for it,
// and no more than this is lost when a server dies.
const looksEvery = 5 * time.Second

// keepLooks writes who looked at what. What goes wrong is logged and tried again.
func keepLooks(ctx context.Context, s *state, db *store.Store) error {
	for {
		select {
		case <-ctx.Done():
			return nil // stopping writes the rest, once no page is shown any more
		case <-time.After(looksEvery):
		}
		writeLooks(ctx, s, db)
	}
}

func writeLooks(ctx context.Context, s *state, db *store.Store) {
	if err := db.WriteLooks(ctx); err != nil && ctx.Err() == nil {
		s.log.LogAttrs(ctx, slog.LevelError, "write who looked at what", slog.Any("error", err))
	}
}
