package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Options of a store.
type Options struct {
	// URL of the database: sqlite://PATH or postgres://….
	URL string
	// Path of a SQLite file, when there is no URL. Its folder is made when it is
	// absent.
	Path string
	// Now is the clock; nil means the database's own: PostgreSQL's, or for a
	// file that of the machine it lies on.
	Now func() time.Time
	// Upgraded is told how far a change to a database of an older program is that
	// takes minutes; it is called by Open alone. May be nil.
	Upgraded func(Upgrade)
}

// Store is one database. It is safe for use by many goroutines, and several
// processes may have a Store each over the same database.
type Store struct {
	engine         engine
	writer, reader *pool
	clocks         clocks
	packed         *packs
	oldIDs         bool // there are evaluations whose ids are UUIDs, of an older program
	strangers      strangers
	glances        glances
	shown          shownLabels
	upgraded       func(Upgrade) // Options.Upgraded
}

// Open opens or makes the database and brings its schema up to date, under a
// lock: several processes may start at once. A schema that is newer than this
// program is refused.
func Open(ctx context.Context, o Options) (_ *Store, err error) {
	e, err := engineFor(o)
	if err != nil {
		return nil, err
	}
	defer wrap(&err, "open the database %s", e.place())
	defer plainly(e, &err)
	s, err := openAny(ctx, o, e)
	if err != nil {
		return nil, err
	}
	if err := refuseUnfinished(ctx, s.reader); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// openAny opens the database also when it is a copy that was not finished.
func openAny(ctx context.Context, o Options, e engine) (_ *Store, err error) {
	s := &Store{engine: e, clocks: clocks{fixed: o.Now}, packed: newPacks(), shown: newShownLabels(), upgraded: o.Upgraded}
	if s.writer, s.reader, err = e.open(ctx); err != nil {
		return nil, err
	}
	s.writer.packed, s.reader.packed = s.packed, s.packed
	if _, err := s.askClock(ctx, s.reader); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.readied(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close ends every connection.
func (s *Store) Close() error { return errors.Join(s.reader.Close(), s.writer.Close()) }

// Ping says whether the database answers.
func (s *Store) Ping(ctx context.Context) (err error) {
	defer wrap(&err, "reach the database")
	return s.reader.PingContext(ctx)
}

// Place is where the database is, without any password.
func (s *Store) Place() string { return s.engine.place() }

// querier is what reads run on: the reader pool, or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	packs() *packs
}

// collect reads every row of a query into values.
func collect[T any](ctx context.Context, q querier, scan func(*sql.Rows, *T) error, query string, args ...any) (_ []T, err error) {
	rows, err := q.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", firstLine(query), err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	var all []T
	for rows.Next() {
		var v T
		if err := scan(rows, &v); err != nil {
			return nil, fmt.Errorf("%s: %w", firstLine(query), err)
		}
		all = append(all, v)
	}
	return all, rows.Err()
}

// notFound turns the driver's "no rows" into ErrNotFound with a name.
func notFound(err error, format string, args ...any) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), ErrNotFound)
	}
	return err
}

func firstLine(query string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(query), "\n")
	return line
}

// placeholders is "?, ?, ?" for n values of an IN list; n must be bounded.
func placeholders(n int) string {
	return strings.TrimSuffix(strings.Repeat("?, ", n), ", ")
}

// nullTime is the database's form of an optional time.
func nullTime(t *time.Time) sql.NullTime {
	if t == nil {
		return sql.NullTime{}
	}
	return sql.NullTime{Time: toStored(*t), Valid: true}
}

// optional is the way back.
func optional(t sql.NullTime) *time.Time {
	if !t.Valid {
		return nil
	}
	u := t.Time.UTC()
	return &u
}
