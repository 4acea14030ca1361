package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
)

// BackupReport says what a backup file holds, or what was restored from it. It
// was verified before it is given.
type BackupReport struct {
	File    string `json:"file"`
	Bytes   int64  `json:"bytes"`
	Schema  int64  `json:"schema_version"`
	Events  int64  `json:"events"`         // of the audit chain
	Head    string `json:"head"`           // its last hash
	Kept    string `json:"kept,omitempty"` // restore: where the old database is now
	Restore string `json:"restored_to,omitempty"`
}

// ErrNotForPostgres says that a command is for SQLite files only.
var ErrNotForPostgres = fmt.Errorf("a PostgreSQL database is backed up by the server's own tools: "+
	"pg_dump --format=custom and pg_restore, or pg_basebackup with WAL archiving for any moment; "+
	"`countersign copy` makes a SQLite file of it (docs/operations.md has the commands): %w", ErrInvalid)

// Backup writes the database, as it is at one moment, to a file that it holds
// verified: SQLite's own check, the foreign keys, and the audit chain. Servers
// go on meanwhile. A file ending in .zst is packed. A file that is there is
// replaced only with force (ErrConflict), and never by less than a whole one.
//
// The copy is made by VACUUM INTO. SQLite's backup API was somewhat quicker when
// it took all pages in one step (4.8 s against 6.4 s for 313 MB on two cores;
// beside a writer 3.7 s and 5.2 s, with a longest wait of 0.5 s and 1.2 s); but
// that step can't be stopped, and in small steps the copy begins anew at every
// write of another process: beside a busy server it did not end within a minute.
// VACUUM INTO reads one snapshot, can be stopped, and writes no free pages.
func Backup(ctx context.Context, o Options, file string, force bool) (r BackupReport, err error) {
	e, err := fileEngine(o)
	if err != nil {
		return r, err
	}
	defer wrap(&err, "back up %s to %s", e.path, file)
	defer plainly(e, &err)
	if err := notTheDatabase(file, e.path); err != nil {
		return r, err
	}
	if _, err := os.Stat(file); err == nil && !force {
		return r, fmt.Errorf("the file is there already: name another one, or replace it with --force: %w", ErrConflict)
	}
	plain, err := newPart(file)
	if err != nil {
		return r, e.folderTrouble(err)
	}
	defer func() { err = errors.Join(err, plain.remove()) }()
	if err := e.vacuumInto(ctx, plain.path); err != nil {
		return r, err
	}
	if r, err = verifyFile(ctx, plain, true); err != nil {
		return r, fmt.Errorf("verify the copy: %w", err)
	}
	part := plain
	if strings.HasSuffix(file, packedEnd) {
		packed, err := packPart(ctx, plain, file)
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, packed.remove()) }()
		part = packed
	}
	if err := part.sync(); err != nil {
		return r, err
	}
	info, err := os.Stat(part.path)
	if err != nil {
		return r, err
	}
	r.File, r.Bytes = file, info.Size()
	return r, part.rename(file)
}

// notTheDatabase refuses to write a backup over the database itself, under any
// name, or over one of the files that SQLite keeps beside it.
func notTheDatabase(file, database string) error {
	target, err := os.Stat(file)
	if err != nil {
		return nil // a new name
	}
	for _, end := range []string{"", "-wal", "-shm", "-journal"} {
		if own, err := os.Stat(database + end); err == nil && os.SameFile(target, own) {
			return fmt.Errorf("the file is the database itself or a part of it: name another one: %w", ErrInvalid)
		}
	}
	if _, err := os.Stat(strings.TrimSuffix(strings.TrimSuffix(file, "-wal"), "-shm") + "-wal"); err == nil {
		return fmt.Errorf("the file is a database that is in use, or a part of one: name another one: %w", ErrInvalid)
	}
	return nil
}

func fileEngine(o Options) (sqliteEngine, error) {
	e, err := engineFor(o)
	if err != nil {
		return sqliteEngine{}, err
	}
	file, ok := e.(sqliteEngine)
	if !ok {
		return sqliteEngine{}, ErrNotForPostgres
	}
	return file, nil
}

func (e sqliteEngine) vacuumInto(ctx context.Context, path string) (err error) {
	read, err := e.connectReading()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, read.Close()) }()
	have, err := schemaVersion(ctx, read)
	if err != nil {
		return fmt.Errorf("this is no database of countersign: %w", err)
	}
	if err := notNewer(have); err != nil {
		return err
	}
	if err := refuseUnfinished(ctx, read); err != nil {
		return err
	}
	_, err = read.ExecContext(ctx, `VACUUM INTO ?`, path)
	return err
}

// notNewer refuses schemas that this program does not know.
func notNewer(have int64) error {
	want, err := programVersion(sqliteEngine{})
	if err == nil && have > want {
		return fmt.Errorf("it has schema version %d and this program knows only %d: use a newer countersign: %w", have, want, ErrInvalid)
	}
	return err
}

// verifyFile checks a database file by itself, and its audit chain. A file of an
// older schema stays as it is, with asIs, and the chain is checked in a migrated
// copy of it; else it is migrated.
func verifyFile(ctx context.Context, part *partFile, asIs bool) (r BackupReport, err error) {
	if r.Schema, err = checkFile(ctx, part.path); err != nil {
		return r, err
	}
	want, err := programVersion(sqliteEngine{})
	if err != nil {
		return r, err
	}
	if err := notNewer(r.Schema); err != nil {
		return r, err
	}
	if asIs && r.Schema < want {
		scratch, err := newPart(part.path)
		if err != nil {
			return r, err
		}
		defer func() { err = errors.Join(err, scratch.remove()) }()
		if err := copyFile(part.path, scratch.path); err != nil {
			return r, err
		}
		part = scratch
	}
	s, err := Open(ctx, Options{Path: part.path})
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	v, err := s.VerifyAudit(ctx, Operator("backup"))
	if err != nil {
		return r, err
	}
	if v.Problem != "" {
		return r, fmt.Errorf("the audit chain does not hold after %d good events: %s", v.Events, v.Problem)
	}
	r.Events, r.Head = v.Events, v.Head
	return r, nil
}

// checkFile reads the whole file, and gives its schema version.
func checkFile(ctx context.Context, path string) (version int64, err error) {
	db, err := sql.Open("sqlite3", sqliteEngine{path: path}.dsn(url.Values{"mode": {"rw"}, "_busy_timeout": {"5000"}, "_cache_size": {"-64000"}}))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	q := &pool{DB: db, engine: sqliteEngine{path: path}}
	if err := checkIntegrity(ctx, q); err != nil {
		return 0, err
	}
	if err := checkForeignKeys(ctx, q); err != nil {
		return 0, err
	}
	if version, err = schemaVersion(ctx, q); err != nil {
		return 0, fmt.Errorf("this is no database of countersign: %w", err)
	}
	return version, nil
}

func copyFile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
