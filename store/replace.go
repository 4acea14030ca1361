package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/mattn/go-sqlite3"
	"github.com/rogpeppe/go-internal/lockedfile"
)

// replacing says how a database file gives way to another one.
type replacing struct {
	// check looks at the old database while nobody else can use it.
	check func(held querier) error
	// keep is the name that the old file gets; empty: it is dropped.
	keep string
}

// replace puts a finished file in the place of this database, if there is one.
// Nobody may have the old one open (ErrConflict): a server would go on writing
// into a file that has lost its name.
func (e sqliteEngine) replace(ctx context.Context, part *partFile, r replacing) (err error) {
	// Whoever opens the database waits here until the new one is in place.
	unlock, err := lockedfile.MutexAt(e.path + ".migrating").Lock()
	if err != nil {
		return fmt.Errorf("lock the database: %w", err)
	}
	defer unlock()
	if _, err := os.Stat(e.path); err == nil {
		release, err := e.holdAlone(ctx, r.check)
		if err != nil {
			return err
		}
		err = e.moveIn(part, r.keep)
		return errors.Join(err, release())
	}
	return e.moveIn(part, r.keep)
}

// moveIn keeps the old file under a second name before the new one takes its
// first, so that there is a whole database at every moment.
func (e sqliteEngine) moveIn(part *partFile, keep string) error {
	if keep != "" {
		if err := os.Link(e.path, keep); errors.Is(err, os.ErrNotExist) {
			keep = "" // there is none
		} else if errors.Is(err, os.ErrExist) {
			return fmt.Errorf("%s is there already: %w", keep, ErrConflict)
		} else if err != nil {
			if err := os.Rename(e.path, keep); err != nil { // a file system without second names
				return fmt.Errorf("keep the old database: %w", err)
			}
		}
	}
	// A log that is left belongs to a file that could not be read.
	for _, end := range []string{"-wal", "-shm"} {
		var err error
		if keep != "" && end == "-wal" {
			err = os.Rename(e.path+end, keep+end)
		} else {
			err = os.Remove(e.path + end)
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return part.rename(e.path)
}

// holdAlone waits a moment for the database and then holds it alone; release
// lets go. Its log is emptied into the file and removed. A file that is no
// database, or damaged, has nobody to wait for.
func (e sqliteEngine) holdAlone(ctx context.Context, check func(querier) error) (release func() error, err error) {
	if broken, err := e.noDatabase(); err != nil || broken {
		return func() error { return nil }, err
	}
	db, err := sql.Open("sqlite3", e.dsn(url.Values{"mode": {"rw"}, "_busy_timeout": {"1000"}}))
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	db.SetMaxOpenConns(1)
	// Leaving WAL is possible for the only connection, and for no other.
	for _, pragma := range []string{`PRAGMA journal_mode = DELETE`, `PRAGMA locking_mode = EXCLUSIVE`, `BEGIN EXCLUSIVE`} {
		if err = drain(ctx, db, pragma); err != nil {
			break
		}
	}
	var fault sqlite3.Error
	switch {
	case err == nil && check != nil:
		return db.Close, check(&pool{DB: db, engine: e})
	case err == nil:
		return db.Close, nil
	case !errors.As(err, &fault):
		return nil, err
	case fault.Code == sqlite3.ErrBusy, fault.Code == sqlite3.ErrLocked:
		return nil, fmt.Errorf("a server or another program has the database %s open: stop it first: %w", e.path, ErrConflict)
	case fault.Code == sqlite3.ErrNotADB, fault.Code == sqlite3.ErrCorrupt:
		if check != nil {
			return nil, err
		}
		return db.Close, nil
	}
	return nil, err
}

// noDatabase says that a file does not even begin as one: no program has it
// open, and SQLite, when asked, would throw away the log beside it. An empty file
// is an empty database.
func (e sqliteEngine) noDatabase() (bool, error) {
	f, err := os.Open(e.path)
	if err != nil {
		return false, err
	}
	const magic = "SQLite format 3\x00"
	start := make([]byte, len(magic))
	n, err := io.ReadFull(f, start)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n > 0 && string(start) != magic, errors.Join(err, f.Close())
}

// drain runs a statement that may answer with a row.
func drain(ctx context.Context, db *sql.DB, statement string) (err error) {
	rows, err := db.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
	}
	return rows.Err()
}
