package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"
	"github.com/pressly/goose/v3"
	"github.com/rogpeppe/go-internal/lockedfile"
)

// sqliteEngine is a file. SQLite has one writer: write transactions queue for
// one connection here instead of failing on a locked file, and readers never
// wait for them (WAL). Other processes on the same machine may write too; they
// take turns (see turns), and wait for each other by the file's lock. A network
// drive has no such lock.
type sqliteEngine struct {
	path string
	line *together
}

func newSQLite(path string) sqliteEngine { return sqliteEngine{path, &together{turns: newTurns(path)}} }

func (e sqliteEngine) place() string { return e.path }

// writerDriver sets on the connection that writes what an address can't say.
const writerDriver = "sqlite3 that writes"

// A savepoint keeps what pages were before it: in memory, since it is small,
// where a temporary file cost a third of a decision's time. A longer log before
// it is moved into the file saves writing the same page many times.
const writerPragmas = `PRAGMA temp_store = MEMORY; PRAGMA wal_autocheckpoint = 4000`

func init() {
	sql.Register(writerDriver, &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
		_, err := c.Exec(writerPragmas, nil)
		return err
	}})
}

func (e sqliteEngine) open(ctx context.Context) (writer, reader *pool, err error) {
	if err := os.MkdirAll(filepath.Dir(e.path), 0o700); err != nil {
		return nil, nil, e.folderTrouble(err)
	}
	// A lock file beside the database: of two programs that start at once one
	// migrates and the other finds it done, and neither opens a file that is
	// just being replaced.
	unlock, err := lockedfile.MutexAt(e.path + ".migrating").Lock()
	if err != nil {
		return nil, nil, e.folderTrouble(err)
	}
	defer unlock()
	// SQLite makes its other files with the rights of this one: it holds
	// password hashes and every trace, whatever the folder's rights are.
	made, err := os.OpenFile(e.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, nil, e.folderTrouble(err)
	}
	if err := made.Close(); err != nil {
		return nil, nil, e.folderTrouble(err)
	}
	if writer, err = e.connect("immediate", 1); err != nil {
		return nil, nil, err
	}
	if err := e.migrate(ctx, writer); err != nil {
		return nil, nil, errors.Join(err, writer.Close())
	}
	if reader, err = e.connect("deferred", max(4, runtime.GOMAXPROCS(0))); err != nil {
		return nil, nil, errors.Join(err, writer.Close())
	}
	return writer, reader, nil
}

// connect sets every pragma in the address, so that each connection of the
// pool has it. synchronous=FULL: what was answered 2xx survives a power cut.
func (e sqliteEngine) connect(lock string, conns int) (*pool, error) {
	q := url.Values{
		"_journal_mode": {"WAL"}, "_busy_timeout": {"5000"}, "_foreign_keys": {"on"},
		"_synchronous": {"FULL"}, "_txlock": {lock}, "_cache_size": {"-16000"},
		"_mutex": {"no"}, // database/sql gives a connection to one goroutine at a time
	}
	driver := "sqlite3"
	if conns == 1 {
		driver, q["_cache_size"] = writerDriver, []string{"-32000"}
	}
	db, err := sql.Open(driver, e.dsn(q))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	if err := db.Ping(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &pool{DB: db, engine: e, statements: statementsFor(e)}, nil
}

// folderTrouble says in plain words what is wrong with the data folder.
func (e sqliteEngine) folderTrouble(err error) error {
	folder := filepath.Dir(e.path)
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w (%w)", &TroubleError{"the data folder " + folder + " can't be written to", "make it and its files writable for this account"}, err)
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Errorf("%w (%w)", &TroubleError{"the disk of the data folder " + folder + " is full", "free space on it"}, err)
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w (%w)", &TroubleError{"the data folder " + folder + " can't be made", "see that all of its path are folders"}, err)
	}
	return fmt.Errorf("lock the data folder: %w", err)
}

// migrate brings the schema and what is kept of counts up to date; open holds
// the lock.
func (e sqliteEngine) migrate(ctx context.Context, p *pool) error {
	if err := migrate(ctx, goose.DialectSQLite3, p.DB); err != nil {
		return err
	}
	return fillKeptCounts(ctx, e, p)
}

func (e sqliteEngine) sql(query string) string     { return query }
func (e sqliteEngine) snapshot() *sql.TxOptions    { return &sql.TxOptions{ReadOnly: true} }
func (e sqliteEngine) forUpdate(string) string     { return "" }
func (e sqliteEngine) forUpdateFree(string) string { return "" }
func (e sqliteEngine) prepares() bool              { return true }
func (e sqliteEngine) oneWriter() *together        { return e.line }

// now is the machine's clock: whoever has the file open runs on it.
func (e sqliteEngine) now(context.Context, querier) (time.Time, error) { return time.Now(), nil }

// again is never: a transaction has the write lock from its beginning.
func (e sqliteEngine) again(error) bool { return false }

func (e sqliteEngine) trouble(err error) error {
	var fault sqlite3.Error
	if !errors.As(err, &fault) {
		return nil
	}
	switch fault.Code {
	case sqlite3.ErrBusy, sqlite3.ErrLocked:
		return &TroubleError{"another program has been writing to the database file for too long", "try again; if it stays so, end the other program"}
	case sqlite3.ErrFull:
		return &TroubleError{"the disk is full, nothing was stored", "free space on the disk of the data folder"}
	case sqlite3.ErrReadonly:
		return &TroubleError{"the database can't be written to, nothing was stored", "make the data folder and its files writable"}
	case sqlite3.ErrCantOpen, sqlite3.ErrPerm, sqlite3.ErrAuth:
		return &TroubleError{"the database file can't be opened", "see that the data folder exists, and may be read and written"}
	case sqlite3.ErrIoErr:
		return &TroubleError{"the disk gave an error, nothing was stored", "see the machine's log; check the disk and its free space"}
	}
	return nil
}
