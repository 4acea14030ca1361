package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// tx is one write transaction: it carries one time, and the audit events that
// are chained and written just before the commit.
type tx struct {
	*sql.Tx
	engine engine
	packed *packs
	now    time.Time // the database's
	events []event
	counts map[tallyKey]int
	recounts
	kept  *statements          // of the writer
	stmts map[string]*sql.Stmt // those in use here
	once  []string             // queries that were prepared here only
}

// maxTries bounds how often a transaction is run that lost against others.
const maxTries = 8

// write runs fn in a transaction. Nothing of it is stored unless fn returns
// nil; its audit events are stored with it or not at all. On PostgreSQL fn runs
// again, from its beginning, when another transaction won: it must set what it
// gives its caller, and not add to it.
func (s *Store) write(ctx context.Context, fn func(*tx) error) error {
	for try := 1; ; try++ {
		err := s.writeOnce(ctx, fn)
		if err == nil || try == maxTries || !s.engine.again(err) || ctx.Err() != nil {
			return err
		}
		time.Sleep(rand.N(time.Duration(try*try) * 4 * time.Millisecond))
	}
}

func (s *Store) writeOnce(ctx context.Context, fn func(*tx) error) error {
	defer s.engine.turn(ctx)()
	sqlTx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	t := &tx{Tx: sqlTx, engine: s.engine, packed: s.packed, counts: map[tallyKey]int{}, recounts: newRecounts(),
		kept: s.writer.statements, stmts: map[string]*sql.Stmt{}}
	if err := s.fill(ctx, t, fn); err != nil {
		return errors.Join(err, ignoreDone(t.Rollback()))
	}
	if err := t.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	s.writer.statements.keep(ctx, s.writer.DB, t.once...)
	return nil
}

// fill runs all that a transaction consists of.
func (s *Store) fill(ctx context.Context, t *tx, fn func(*tx) error) (err error) {
	if t.now, err = s.askClock(ctx, t); err != nil {
		return err
	}
	if err := fn(t); err != nil {
		return err
	}
	if err := t.writeRecounts(ctx); err != nil {
		return err
	}
	if err := t.writeTallies(ctx); err != nil {
		return err
	}
	return t.writeEvents(ctx)
}

func (t *tx) packs() *packs { return t.packed }

// newID makes an id that sorts by the transaction's time.
func (t *tx) newID() string { return newID(t.now) }

// QueryContext runs a query in the transaction.
func (t *tx) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if t.engine.prepares() {
		stmt, err := t.prepared(ctx, query)
		if err != nil {
			return nil, err
		}
		return stmt.QueryContext(ctx, storable(args)...)
	}
	return t.Tx.QueryContext(ctx, t.engine.sql(query), storable(args)...)
}

// QueryRowContext runs a query for one row in the transaction.
func (t *tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if t.engine.prepares() {
		if stmt, err := t.prepared(ctx, query); err == nil {
			return stmt.QueryRowContext(ctx, storable(args)...)
		} // else the row says why
	}
	return t.Tx.QueryRowContext(ctx, t.engine.sql(query), storable(args)...)
}

// ignoreDone drops the error of rolling back what a cancelled context has
// already rolled back.
func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// prepared gives a statement that is prepared once: batches repeat the same few
// statements thousands of times, and so do transactions.
func (t *tx) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if stmt, ok := t.stmts[query]; ok {
		return stmt, nil
	}
	if kept := t.kept.get(query); kept != nil {
		t.stmts[query] = t.StmtContext(ctx, kept)
		return t.stmts[query], nil
	}
	stmt, err := t.PrepareContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", firstLine(query), err)
	}
	t.once = append(t.once, query)
	t.stmts[query] = stmt
	return stmt, nil
}

// scan reads one row by a prepared statement; sql.ErrNoRows when there is none.
func (t *tx) scan(ctx context.Context, query string, args, into []any) error {
	var row *sql.Row
	if t.engine.prepares() {
		stmt, err := t.prepared(ctx, query)
		if err != nil {
			return err
		}
		row = stmt.QueryRowContext(ctx, args...)
	} else {
		row = t.QueryRowContext(ctx, query, args...)
	}
	if err := row.Scan(into...); err != nil {
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
	ctx, args = context.WithoutCancel(ctx), storable(args)
	var res sql.Result
	var err error
	if t.engine.prepares() {
		stmt, failed := t.prepared(ctx, query)
		if failed != nil {
			return nil, failed
		}
		res, err = stmt.ExecContext(ctx, args...)
	} else {
		res, err = t.Tx.ExecContext(ctx, t.engine.sql(query), args...)
	}
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

// storable replaces what PostgreSQL takes in no text, a NUL and what is not
// UTF-8, by the sign for that, on both databases alike. Whole traces, prompts
// and replies are stored as bytes and stay as they are.
func storable(args []any) []any {
	copied := false
	for i, arg := range args {
		if text, ok := arg.(string); ok && (strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text)) {
			if !copied {
				args, copied = slices.Clone(args), true
			}
			args[i] = strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
		}
	}
	return args
}
