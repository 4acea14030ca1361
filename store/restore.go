package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Restore makes a backup the database, after all of it was verified in a file
// beside: SQLite's own check, the foreign keys, a schema that this program
// knows, and the audit chain. A backup of an older schema is brought up to date.
// A database that is there gives way only with force, and is kept under the name
// that the report says. ErrConflict: it is there, or a server has it open.
func Restore(ctx context.Context, o Options, file string, force bool, now time.Time) (r BackupReport, err error) {
	e, err := fileEngine(o)
	if err != nil {
		return r, err
	}
	defer wrap(&err, "restore %s to %s", file, e.path)
	defer plainly(e, &err)
	if _, err := os.Stat(file); err != nil {
		return r, fmt.Errorf("%w: %w", err, ErrNotFound)
	}
	there, err := e.something()
	if err != nil {
		return r, err
	}
	if there && !force {
		return r, fmt.Errorf("there is a database already: name another folder, or replace it with --force (it is kept beside the new one): %w", ErrConflict)
	}
	if err := os.MkdirAll(filepath.Dir(e.path), 0o700); err != nil {
		return r, e.folderTrouble(err)
	}
	part, err := newPart(e.path)
	if err != nil {
		return r, e.folderTrouble(err)
	}
	defer func() { err = errors.Join(err, part.remove()) }()
	if err := unpackTo(ctx, file, part.path); err != nil {
		return r, fmt.Errorf("read the backup: %w", err)
	}
	if r, err = verifyFile(ctx, part, false); err != nil {
		return r, fmt.Errorf("the backup is not good: %w", err)
	}
	if err := part.sync(); err != nil {
		return r, err
	}
	info, err := os.Stat(part.path)
	if err != nil {
		return r, err
	}
	r.File, r.Bytes, r.Restore = file, info.Size(), e.path
	how := replacing{}
	if there {
		if how.keep, err = freeName(e.path + ".replaced-" + now.UTC().Format("20060102T150405Z")); err != nil {
			return r, err
		}
		r.Kept = how.keep
	}
	return r, e.replace(ctx, part, how)
}

// something says whether there is a database, or a log of one.
func (e sqliteEngine) something() (bool, error) {
	for _, end := range []string{"", "-wal"} {
		_, err := os.Stat(e.path + end)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, os.ErrNotExist) {
			return false, err
		}
	}
	return false, nil
}

// freeName is a name that no file has yet.
func freeName(name string) (string, error) {
	for n, free := 2, name; ; n++ {
		if _, err := os.Lstat(free); errors.Is(err, os.ErrNotExist) {
			return free, nil
		} else if err != nil {
			return "", err
		}
		free = fmt.Sprintf("%s-%d", name, n)
	}
}

func unpackTo(ctx context.Context, file, path string) (err error) {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	return unpackFrom(ctx, file, out)
}
