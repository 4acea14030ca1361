package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/countersign/countersign/migrations"
)

// engine is all that differs between the two databases. The SQL of this
// package is one text, written with ? for its values; behaviour is one too.
type engine interface {
	// place names the database in messages, without a password.
	place() string
	// open connects, migrates under a lock, and gives the pool that write
	// transactions run on and the one for reading.
	open(ctx context.Context) (writer, reader *pool, err error)
	// oneWriter is the line of those who want to write, where one can at a time;
	// nil: as many can as there are.
	oneWriter() *together
	// sql is the query as this database writes it.
	sql(query string) string
	// snapshot are the options of a transaction that reads one moment.
	snapshot() *sql.TxOptions
	// forUpdate ends a SELECT in a write transaction: it locks the rows of the
	// named table alias until the end. SQLite's one writer needs no more.
	forUpdate(alias string) string
	// forUpdateFree is forUpdate that passes over rows others have locked.
	forUpdateFree(alias string) string
	// now reads the database's clock.
	now(ctx context.Context, q querier) (time.Time, error)
	// prepares says whether statements that repeat in a transaction are to be
	// prepared by hand; PostgreSQL's driver does it by itself.
	prepares() bool
	// again says that the same transaction may well succeed when it is run once
	// more: it lost against another one.
	again(err error) bool
	// trouble says what keeps the database from working, nil when err is none
	// of that.
	trouble(err error) error
}

// Schemes of database addresses.
const (
	schemeSQLite   = "sqlite://"
	schemePostgres = "postgres://"
	schemePostgreS = "postgresql://" // the other spelling that libpq takes
)

func engineFor(o Options) (engine, error) {
	switch {
	case o.URL == "" && o.Path != "":
		return newSQLite(o.Path), nil
	case strings.HasPrefix(o.URL, schemeSQLite) && len(o.URL) > len(schemeSQLite):
		return newSQLite(strings.TrimPrefix(o.URL, schemeSQLite)), nil
	case strings.HasPrefix(o.URL, schemePostgres), strings.HasPrefix(o.URL, schemePostgreS):
		return newPostgres(o.URL)
	}
	scheme, _, found := strings.Cut(o.URL, "://")
	if !found {
		scheme = "no scheme"
	}
	return nil, fmt.Errorf("the database address has %s: it is sqlite://PATH or postgres://USER@HOST/DATABASE: %w", scheme, ErrInvalid)
}

// pool is a set of connections that take this package's SQL.
type pool struct {
	*sql.DB
	engine     engine
	packed     *packs
	statements *statements
}

func (p *pool) packs() *packs { return p.packed }

// QueryContext runs a query that reads.
func (p *pool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	p.statements.keep(ctx, p.DB, query)
	if stmt := p.statements.get(query); stmt != nil {
		return stmt.QueryContext(ctx, storable(args)...)
	}
	return p.DB.QueryContext(ctx, p.engine.sql(query), storable(args)...)
}

// QueryRowContext runs a query that reads one row.
func (p *pool) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	p.statements.keep(ctx, p.DB, query)
	if stmt := p.statements.get(query); stmt != nil {
		return stmt.QueryRowContext(ctx, storable(args)...)
	}
	return p.DB.QueryRowContext(ctx, p.engine.sql(query), storable(args)...)
}

// snapshot begins a transaction in which every query sees the same moment.
func (p *pool) snapshot(ctx context.Context) (*snapshot, error) {
	t, err := p.BeginTx(ctx, p.engine.snapshot())
	if err != nil {
		return nil, fmt.Errorf("begin: %w", err)
	}
	return &snapshot{Tx: t, pool: p}, nil
}

// snapshot is a transaction that only reads.
type snapshot struct {
	*sql.Tx
	pool  *pool
	fresh []string // queries that are not prepared yet
}

func (s *snapshot) packs() *packs { return s.pool.packed }

// end ends the transaction. It prepares for the next one what was new.
func (s *snapshot) end(ctx context.Context) error {
	err := ignoreDone(s.Rollback())
	s.pool.statements.keep(ctx, s.pool.DB, s.fresh...)
	return err
}

func (s *snapshot) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if stmt := s.pool.statements.get(query); stmt != nil {
		return s.Tx.StmtContext(ctx, stmt).QueryContext(ctx, storable(args)...)
	}
	s.fresh = append(s.fresh, query)
	return s.Tx.QueryContext(ctx, s.pool.engine.sql(query), storable(args)...)
}

func (s *snapshot) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if stmt := s.pool.statements.get(query); stmt != nil {
		return s.Tx.StmtContext(ctx, stmt).QueryRowContext(ctx, storable(args)...)
	}
	s.fresh = append(s.fresh, query)
	return s.Tx.QueryRowContext(ctx, s.pool.engine.sql(query), storable(args)...)
}

// migrate brings a schema up to date. The caller holds the lock.
func migrate(ctx context.Context, dialect goose.Dialect, db *sql.DB) error {
	p, err := goose.NewProvider(dialect, db, migrations.For(string(dialect)))
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
	if have == want {
		return nil
	}
	if _, err := p.Up(ctx); err != nil {
		return fmt.Errorf("migrate the database: %w", err)
	}
	return nil
}
