package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/pressly/goose/v3"
)

// fileTarget builds a new SQLite file beside the one that is to be, and puts it
// in its place when it is whole and verified. Nothing of it is durable until
// then, so the file is written without a journal.
type fileTarget struct {
	engine   sqliteEngine
	part     *partFile
	db       *pool
	tx       *snapshot // it writes too
	triggers []string  // to be made again
	inserts  map[string]*sql.Stmt
}

func newFileTarget(ctx context.Context, e sqliteEngine) (copyTarget, error) {
	if err := e.mustBeFresh(ctx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(e.path), 0o700); err != nil {
		return nil, e.folderTrouble(err)
	}
	part, err := newPart(e.path)
	if err != nil {
		return nil, e.folderTrouble(err)
	}
	return &fileTarget{engine: e, part: part, inserts: map[string]*sql.Stmt{}}, nil
}

// mustBeFresh refuses a file that holds more than a migrated schema.
func (e sqliteEngine) mustBeFresh(ctx context.Context) (err error) {
	if _, err := os.Stat(e.path); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	read, err := e.connectReading()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, read.Close()) }()
	return mustBeFresh(ctx, e, read)
}

// mustBeFresh refuses a database that has other rows than those that the
// migrations make.
func mustBeFresh(ctx context.Context, e engine, q querier) error {
	all, err := tables(ctx, e, q)
	if err != nil {
		return err
	}
	fresh, err := freshRows(ctx)
	if err != nil {
		return err
	}
	for _, t := range all {
		n, err := countUpTo(ctx, q, t.name, fresh[t.name])
		if err != nil {
			return err
		}
		if n > fresh[t.name] {
			return fmt.Errorf("the target is not empty (there are rows in table %s): name one that does not exist yet: %w", t.name, ErrConflict)
		}
	}
	return nil
}

// freshRows counts what the migrations put into a new database.
func freshRows(ctx context.Context) (_ map[string]int64, err error) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1) // a second connection would be another database
	if err := migrate(ctx, goose.DialectSQLite3, db); err != nil {
		return nil, err
	}
	all, err := tables(ctx, sqliteEngine{}, &pool{DB: db, engine: sqliteEngine{}})
	if err != nil {
		return nil, err
	}
	rows := map[string]int64{}
	for _, t := range all {
		var n int64
		if err := db.QueryRowContext(ctx, `SELECT count(*) FROM `+quote(t.name)).Scan(&n); err != nil {
			return nil, err
		}
		rows[t.name] = n
	}
	return rows, nil
}

func (f *fileTarget) begin(ctx context.Context) (all []table, err error) {
	temp := sqliteEngine{path: f.part.path}
	q := url.Values{"_journal_mode": {"OFF"}, "_synchronous": {"OFF"}, "_foreign_keys": {"off"}, "_txlock": {"immediate"}, "_cache_size": {"-64000"}}
	db, err := sql.Open("sqlite3", temp.dsn(q))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	f.db = &pool{DB: db, engine: temp}
	if err := migrate(ctx, goose.DialectSQLite3, db); err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return nil, err
	}
	f.tx = &snapshot{Tx: tx, pool: f.db}
	if err := f.dropTriggers(ctx); err != nil {
		return nil, err
	}
	if all, err = tables(ctx, temp, f.tx); err != nil {
		return nil, err
	}
	for _, t := range all { // what the migrations made comes from the source
		if _, err := f.tx.ExecContext(ctx, `DELETE FROM `+quote(t.name)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// dropTriggers puts triggers aside: rows are copied as they are, and what a
// trigger would do about them was done in the source.
func (f *fileTarget) dropTriggers(ctx context.Context) error {
	type trigger struct{ name, text string }
	all, err := collect(ctx, f.tx, func(r *sql.Rows, t *trigger) error { return r.Scan(&t.name, &t.text) },
		`SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`)
	if err != nil {
		return err
	}
	for _, t := range all {
		if _, err := f.tx.ExecContext(ctx, `DROP TRIGGER `+quote(t.name)); err != nil {
			return err
		}
		f.triggers = append(f.triggers, t.text)
	}
	return nil
}

func (f *fileTarget) insert(ctx context.Context, t table, rows [][]any) error {
	stmt := f.inserts[t.name]
	if stmt == nil {
		var err error
		stmt, err = f.tx.PrepareContext(ctx, `INSERT INTO `+quote(t.name)+` (`+t.names()+`) VALUES (`+placeholders(len(t.columns))+`)`)
		if err != nil {
			return err
		}
		f.inserts[t.name] = stmt
	}
	within := context.WithoutCancel(ctx) // else the driver starts a goroutine a row
	for _, row := range rows {
		if _, err := stmt.ExecContext(within, row...); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (f *fileTarget) sum(ctx context.Context, t table) (rowSum, error) {
	return sumOf(ctx, f.engine, f.tx, t)
}

func (f *fileTarget) store(ctx context.Context) (*Store, error) {
	for _, text := range f.triggers {
		if _, err := f.tx.ExecContext(ctx, text); err != nil {
			return nil, fmt.Errorf("make a trigger again: %w", err)
		}
	}
	if err := f.tx.Commit(); err != nil {
		return nil, err
	}
	f.tx = nil
	if err := checkForeignKeys(ctx, f.db); err != nil {
		return nil, err
	}
	err := f.db.Close()
	f.db = nil
	if err != nil {
		return nil, err
	}
	return Open(ctx, Options{Path: f.part.path})
}

// publish gives the new file its name. Nobody may have begun to use the old one
// meanwhile.
func (f *fileTarget) publish(ctx context.Context) error {
	if err := f.part.sync(); err != nil {
		return err
	}
	return f.engine.replace(ctx, f.part, replacing{check: func(held querier) error { return mustBeFresh(ctx, f.engine, held) }})
}

func (f *fileTarget) close(context.Context) error {
	var err error
	if f.db != nil {
		// Without a journal there is no way back: the file is thrown away.
		if f.tx != nil {
			_ = f.tx.Rollback()
		}
		err = f.db.Close()
	}
	return errors.Join(err, f.part.remove())
}

// checkForeignKeys says which row points at nothing.
func checkForeignKeys(ctx context.Context, q querier) error {
	var table, parent string
	var row sql.NullInt64
	var key int
	err := q.QueryRowContext(ctx, `PRAGMA foreign_key_check`).Scan(&table, &row, &parent, &key)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("check the foreign keys: %w", err)
	}
	return fmt.Errorf("row %d of table %s points at a row of %s that is not there", row.Int64, table, parent)
}

// checkIntegrity is SQLite's own check of the whole file.
func checkIntegrity(ctx context.Context, q querier) error {
	faults, err := collect(ctx, q, scanID, `PRAGMA integrity_check(3)`)
	if err != nil {
		return fmt.Errorf("check the file: %w", err)
	}
	if len(faults) != 1 || faults[0] != "ok" {
		return fmt.Errorf("the file is damaged: %s", strings.Join(faults, "; "))
	}
	return nil
}
