package store

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Leftovers is what upkeep dropped.
type Leftovers struct {
	Replies int64 `json:"kept_replies"` // of evaluations that are settled
	Answers int64 `json:"answers"`      // to requests with an idempotency key, that are too old to be given again
	Texts   int64 `json:"texts"`        // that nothing names
	Drafts  int64 `json:"drafts"`       // of items that their author has not held for a month
}

// DropLeftovers drops kept replies of evaluations that were settled, old answers,
// old drafts, and who looked at what more than 400 days ago. They serve nobody any more, so no event tells of it. It is light, and
// servers run it daily.
func (s *Store) DropLeftovers(ctx context.Context) (n Leftovers, err error) {
	defer wrap(&err, "drop leftovers")
	err = s.writeAlone(ctx, func(t *tx) (err error) {
		// A reply that may still be needed belongs to an evaluation under way, and
		// came after that was planned: all from before the oldest one is done with.
		n.Replies, err = t.changed(ctx, `
DELETE FROM kept_replies WHERE kept_at < ?
  AND NOT EXISTS (SELECT 1 FROM evaluations e WHERE e.status IN ('queued', 'judging') AND e.created_at <= kept_replies.kept_at)`,
			t.now.Add(-24*time.Hour))
		if err != nil {
			return err
		}
		if n.Answers, err = t.changed(ctx, `DELETE FROM idempotent_answers WHERE created_at <= ?`, t.now.Add(-keptFor)); err != nil {
			return err
		}
		if _, err = t.changed(ctx, `DELETE FROM webhook_deliveries WHERE created_at <= ?`, t.now.Add(-deliveryKept)); err != nil {
			return err
		}
		if n.Drafts, err = t.dropOldDrafts(ctx); err != nil {
			return err
		}
		return t.dropOldViews(ctx)
	})
	return n, err
}

// Optimise lets the database learn what its tables hold and write its log into
// its file: PRAGMA optimize and a checkpoint on SQLite. PostgreSQL does both by
// itself (autovacuum, checkpointer). It is light, and servers run it daily.
func (s *Store) Optimise(ctx context.Context) (err error) {
	defer wrap(&err, "optimise the database")
	if _, file := s.engine.(sqliteEngine); !file {
		return nil
	}
	for _, pragma := range []string{`PRAGMA analysis_limit = 400`, `PRAGMA optimize`, `PRAGMA wal_checkpoint(TRUNCATE)`} {
		if err := drain(ctx, s.writer.DB, pragma); err != nil {
			return fmt.Errorf("%s: %w", pragma, err)
		}
	}
	return nil
}

// Compacted is what Compact did.
type Compacted struct {
	Before int64 `json:"bytes_before"`
	After  int64 `json:"bytes_after"`
}

// Compact rewrites a SQLite file without its free pages, and runs VACUUM (ANALYZE)
// on PostgreSQL, which frees pages for later rows without shrinking files.
// Rewriting needs free space of twice the data; with less it is refused and
// nothing is done. Writers wait until it is over.
func (s *Store) Compact(ctx context.Context) (c Compacted, err error) {
	defer wrap(&err, "compact the database")
	if c.Before, err = s.Size(ctx); err != nil {
		return c, err
	}
	if file, ok := s.engine.(sqliteEngine); ok {
		if err := s.compactFile(ctx, file); err != nil {
			return c, err
		}
	} else if _, err := s.writer.ExecContext(ctx, `VACUUM (ANALYZE)`); err != nil {
		return c, err
	}
	c.After, err = s.Size(ctx)
	return c, err
}

func (s *Store) compactFile(ctx context.Context, e sqliteEngine) error {
	var pages, free, size int64
	for pragma, into := range map[string]*int64{`page_count`: &pages, `freelist_count`: &free, `page_size`: &size} {
		if err := s.writer.QueryRowContext(ctx, `PRAGMA `+pragma).Scan(into); err != nil {
			return err
		}
	}
	need := uint64(2 * (pages - free) * size)
	if have, known, err := freeSpace(e.path); err != nil {
		return err
	} else if known && have < need {
		return fmt.Errorf("%w", &TroubleError{
			fmt.Sprintf("compacting needs %d MB of free space on the disk of the data folder, and there are %d MB", mega(need), have>>20),
			"free space, or leave it: free pages are used again"})
	}
	// The copy that VACUUM makes is as large as the database: not in memory.
	if _, err := s.writer.ExecContext(ctx, `PRAGMA temp_store = FILE`); err != nil {
		return err
	}
	err := drain(ctx, s.writer.DB, `VACUUM`)
	if _, again := s.writer.ExecContext(context.WithoutCancel(ctx), writerPragmas); err != nil || again != nil {
		return errors.Join(err, again)
	}
	return drain(ctx, s.writer.DB, `PRAGMA wal_checkpoint(TRUNCATE)`)
}

// mega is bytes in MB, rounded up.
func mega(n uint64) uint64 { return (n + 1<<20 - 1) >> 20 }

// Size is what the database takes on the disk, in bytes.
func (s *Store) Size(ctx context.Context) (n int64, err error) {
	query := `SELECT pg_database_size(current_database())`
	if _, file := s.engine.(sqliteEngine); file {
		query = `SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()`
	}
	if err := s.reader.QueryRowContext(ctx, query).Scan(&n); err != nil {
		return 0, fmt.Errorf("read the size of the database: %w", err)
	}
	return n, nil
}
