package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/google/uuid"
	_ "github.com/mattn/go-sqlite3" // the driver of database/sql named sqlite3
	"github.com/pressly/goose/v3"

	"github.com/countersign/countersign/judge/calibration"
	"github.com/countersign/countersign/migrations"
)

// Options of a store.
type Options struct {
	// Path of the SQLite file; its folder is made when it is absent.
	Path string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Store is one database. It is safe for use by many goroutines.
type Store struct {
	// SQLite has one writer: writes queue for one connection here instead of
	// failing on a locked file, and readers never wait for them (WAL).
	writer, reader *sql.DB
	now            func() time.Time
	strangers      strangers
	keptRuns       kept[[]RunRow]
	keptCounts     kept[[]calibration.Counts]
}

// Open opens or makes the database and brings its schema up to date.
func Open(ctx context.Context, o Options) (_ *Store, err error) {
	defer wrap(&err, "open the database %s", o.Path)
	if err := os.MkdirAll(filepath.Dir(o.Path), 0o700); err != nil {
		return nil, err
	}
	s := &Store{now: o.Now}
	if s.now == nil {
		s.now = time.Now
	}
	if s.writer, err = openSQLite(o.Path, "immediate", 1); err != nil {
		return nil, err
	}
	if err := migrate(ctx, s.writer); err != nil {
		return nil, errors.Join(err, s.writer.Close())
	}
	if s.reader, err = openSQLite(o.Path, "deferred", max(4, runtime.GOMAXPROCS(0))); err != nil {
		return nil, errors.Join(err, s.writer.Close())
	}
	return s, nil
}

// Close ends every connection.
func (s *Store) Close() error { return errors.Join(s.reader.Close(), s.writer.Close()) }

// Ping says whether the database answers.
func (s *Store) Ping(ctx context.Context) error { return s.reader.PingContext(ctx) }

// openSQLite sets every pragma in the address, so that each connection of the
// pool has it. synchronous=FULL: what was answered 2xx survives a power cut.
func openSQLite(path, lock string, conns int) (*sql.DB, error) {
	q := url.Values{
		"_journal_mode": {"WAL"}, "_busy_timeout": {"5000"}, "_foreign_keys": {"on"},
		"_synchronous": {"FULL"}, "_txlock": {lock}, "_cache_size": {"-16000"},
	}
	db, err := sql.Open("sqlite3", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+q.Encode())
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, db.Ping()
}

func migrate(ctx context.Context, db *sql.DB) error {
	p, err := goose.NewProvider(goose.DialectSQLite3, db, migrations.Files)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	have, want, err := p.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}
	if have > want {
		return fmt.Errorf("the database has schema version %d and this program knows only %d: use a newer countersign", have, want)
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return nil
}

// querier is what reads run on: the reader pool, or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// tx is one write transaction: it carries one time, and the audit events that
// are chained and written just before the commit.
type tx struct {
	*sql.Tx
	now    time.Time
	events []event
	counts map[tallyKey]int
	stmts  map[string]*sql.Stmt
}

// write runs fn in a transaction. Nothing of it is stored unless fn returns
// nil; its audit events are stored with it or not at all.
func (s *Store) write(ctx context.Context, fn func(*tx) error) error {
	sqlTx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	t := &tx{Tx: sqlTx, now: s.clock(), counts: map[tallyKey]int{}, stmts: map[string]*sql.Stmt{}}
	if err := fn(t); err != nil {
		return errors.Join(err, ignoreDone(t.Rollback()))
	}
	if err := t.writeTallies(ctx); err != nil {
		return errors.Join(err, ignoreDone(t.Rollback()))
	}
	if err := t.writeEvents(ctx); err != nil {
		return errors.Join(err, ignoreDone(t.Rollback()))
	}
	if err := t.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

// ignoreDone drops the error of rolling back what a cancelled context has
// already rolled back.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// prepared gives a statement that is prepared once per transaction: batches
// repeat the same few statements thousands of times.
func (t *tx) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := t.stmts[query]; ok {
		return stmt, nil
	}
	stmt, err := t.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", firstLine(query), err)
	}
	t.stmts[query] = stmt
	return stmt, nil
}

// scan reads one row by a prepared statement; sql.ErrNoRows when there is none.
func (t *tx) scan(ctx context.Context, query string, args, into []any) error {
	stmt, err := t.prepared(ctx, query)
	if err != nil {
		return err
	}
	if err := stmt.QueryRowContext(ctx, args...).Scan(into...); err != nil {
		return fmt.Errorf("%s: %w", firstLine(query), err)
	}
	return nil
}

// exec runs a prepared statement. Whether the caller has gone is asked before
// it: the driver would start a goroutine for each statement to watch a context
// that can end, which costs more than the statement.
func (t *tx) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	ctx = context.WithoutCancel(ctx)
	stmt, err := t.prepared(ctx, query)
	if err != nil {
		return nil, err
	}
	res, err := stmt.ExecContext(ctx, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", firstLine(query), err)
	}
	return res, nil
}

// changed runs a statement and says how many rows it changed.
func (t *tx) changed(ctx context.Context, query string, args ...any) (int64, error) {
	res, err := t.exec(ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
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

// clock is the present in UTC at the precision that both databases keep, so
// that times compare and hash alike wherever they are stored.
func (s *Store) clock() time.Time { return s.now().UTC().Truncate(time.Microsecond) }

// newID makes an id that sorts by the time it was made (UUID version 7).
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// nullTime is the database's form of an optional time.
func nullTime(t *time.Time) sql.NullTime {
	if t == nil {
		return sql.NullTime{}
	}
	return sql.NullTime{Time: t.UTC(), Valid: true}
}

// optional is the way back.
func optional(t sql.NullTime) *time.Time {
	if !t.Valid {
		return nil
	}
	u := t.Time.UTC()
	return &u
}
