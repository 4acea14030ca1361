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
	owed
	recounts
	kept  *statements          // of the writer
	stmts map[string]*sql.Stmt // those in use here
	once  []string             // queries that were prepared here only
}

// maxTries bounds how often a transaction is run that lost against others.
const maxTries = 8

// write runs fn in a transaction. Nothing of it is stored unless fn returns
// nil; its audit events are stored with it or not at all. fn runs again, from
// its beginning, when another transaction won: it must set what it gives its
// caller, and not add to it. What is short is written by write; on SQLite it
// may share its commit with others.
func (s *Store) write(ctx context.Context, fn func(*tx) error) error {
	return s.writeAgain(ctx, fn, false)
}

// writeAlone is write for what takes long: nobody's commit waits for it.
func (s *Store) writeAlone(ctx context.Context, fn func(*tx) error) error {
	return s.writeAgain(ctx, fn, true)
}

func (s *Store) writeAgain(ctx context.Context, fn func(*tx) error, alone bool) error {
	for try := 1; ; try++ {
		err := s.writeOnce(ctx, fn, alone)
		if err == nil || try == maxTries || !s.engine.again(err) && !errors.Is(err, errBroken) || ctx.Err() != nil {
			return err
		}
		time.Sleep(rand.N(time.Duration(try*try) * 4 * time.Millisecond))
	}
}

func (s *Store) writeOnce(ctx context.Context, fn func(*tx) error, alone bool) error {
	if g := s.engine.oneWriter(); g != nil {
		return s.writeInLine(ctx, g, alone, fn)
	}
	begun, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	t := s.newTx(begun, map[string]*sql.Stmt{})
	err = s.fill(ctx, t, fn)
	if err == nil {
		err = t.pay(ctx)
	}
	if err != nil {
		return errors.Join(err, ignoreDone(t.Rollback()))
	}
	if err := t.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	return nil
}

func (s *Store) newTx(begun *sql.Tx, stmts map[string]*sql.Stmt) *tx {
	return &tx{Tx: begun, engine: s.engine, packed: s.packed, owed: newOwed(), recounts: newRecounts(),
		kept: s.writer.statements, stmts: stmts}
}

// fill runs all that a transaction consists of, but for what it owes.
func (s *Store) fill(ctx context.Context, t *tx, fn func(*tx) error) (err error) {
	if t.now, err = s.askClock(ctx, t); err != nil {
		return err
	}
	if err := fn(t); err != nil {
		return err
	}
	return t.writeRecounts(ctx)
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
		return stmt.QueryContext(uninterrupted(ctx), storable(args)...)
	}
	return t.Tx.QueryContext(ctx, t.engine.sql(query), storable(args)...)
}

// QueryRowContext runs a query for one row in the transaction.
func (t *tx) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if t.engine.prepares() {
		if stmt, err := t.prepared(ctx, query); err == nil {
			return stmt.QueryRowContext(uninterrupted(ctx), storable(args)...)
		} // else the row says why
	}
	return t.Tx.QueryRowContext(ctx, t.engine.sql(query), storable(args)...)
}

// uninterrupted is for a statement whose caller has not gone yet. The driver
// would start a goroutine for each to watch a context that can end, which
// costs more than the statement; and what it interrupts is whatever runs on the
// connection just then, which may be the next one's.
func uninterrupted(ctx context.Context) context.Context {
	if ctx.Err() != nil {
		return ctx
	}
	return context.WithoutCancel(ctx)
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
		row = stmt.QueryRowContext(uninterrupted(ctx), args...)
	} else {
		row = t.QueryRowContext(ctx, query, args...)
	}
	if err := row.Scan(into...); err != nil {
		return fmt.Errorf("%s: %w", firstLine(query), err)
	}
	return nil
}

// exec runs a prepared statement, unless its caller has gone.
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
			args[i] = storableText(text)
		}
	}
	return args
}

// storableText is a text as both engines keep it.
func storableText(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", "\uFFFD"), "\uFFFD")
}
