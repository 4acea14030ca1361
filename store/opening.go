package store

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"
)

// Place is where the database is, without any password. The error, an
// ErrInvalid, says that the address can't be read; it may show parts of it.
func (o Options) Place() (string, error) {
	e, err := engineFor(o)
	if err != nil {
		return "", err
	}
	return e.place(), nil
}

// Trouble says in plain words what kept Open or Exists from reaching the
// database, when err comes from that; nil otherwise. See Store.Trouble.
func (o Options) Trouble(err error) *TroubleError {
	e, failed := engineFor(o)
	if failed != nil || err == nil {
		return nil
	}
	return (&Store{engine: e}).Trouble(err)
}

// Exists says whether there is a database with this program's tables, and makes
// nothing.
func Exists(ctx context.Context, o Options) (there bool, err error) {
	e, err := engineFor(o)
	if err != nil {
		return false, err
	}
	defer wrap(&err, "look for the database %s", e.place())
	switch e := e.(type) {
	case sqliteEngine:
		_, err := os.Stat(e.path)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	case postgresEngine:
		p := e.connect(1)
		defer func() { err = errors.Join(err, p.Close()) }()
		err = p.QueryRowContext(ctx, `SELECT to_regclass('audit_head') IS NOT NULL`).Scan(&there)
		return there, err
	}
	return false, errors.New("an engine that is not known here")
}

// Now is the present by the clock of leases, due dates and events: the
// database's own. Whoever compares such a time must ask this clock.
func (s *Store) Now() time.Time { return s.clock() }
