package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// keptCountsSetting says how far a database that was there before its counts
// were kept has been counted: the last trace, or keptCountsDone.
const (
	keptCountsSetting = "kept_counts"
	keptCountsDone    = "done"
)

// fillBatch is how many traces one transaction counts.
const fillBatch = 2000

// fillKeptCounts counts a database that is older than its kept counts, once.
// The caller holds the lock of migrations, so nobody else has the database open
// by a program that keeps counts. A program that dies meanwhile leaves what it
// has counted; the next one goes on from there.
func fillKeptCounts(ctx context.Context, e engine, p *pool) error {
	s := &Store{engine: e, writer: p, reader: p}
	for done := false; !done; {
		at, err := keptCountsAt(ctx, p)
		if err != nil {
			return err
		}
		if done = at == keptCountsDone; done {
			break
		}
		if err := s.writeAlone(ctx, func(t *tx) error { return t.fillKeptCounts(ctx, at) }); err != nil {
			return fmt.Errorf("count what is there already, after trace %q: %w", at, err)
		}
	}
	return nil
}

func keptCountsAt(ctx context.Context, q querier) (at string, err error) {
	err = q.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = ?`, keptCountsSetting).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return at, err
}

// fillKeptCounts counts the next traces after the given one.
func (t *tx) fillKeptCounts(ctx context.Context, after string) error {
	ids, err := collect(ctx, t, scanID, `SELECT id FROM traces WHERE id > ? ORDER BY id LIMIT ?`, after, fillBatch)
	if err != nil {
		return err
	}
	at := keptCountsDone
	if len(ids) > 0 {
		at = ids[len(ids)-1]
	}
	t.all = true
	for _, id := range ids {
		t.recount(id)
	}
	_, err = t.exec(ctx, `
INSERT INTO settings (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value`, keptCountsSetting, at)
	return err
}
