package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"

	"github.com/pressly/goose/v3"

	"github.com/countersign/countersign/migrations"
)

// openSource opens a database to be read only: it is neither made nor migrated,
// and its schema must be the one that this program knows.
func openSource(ctx context.Context, o Options) (_ *Store, err error) {
	e, err := engineFor(o)
	if err != nil {
		return nil, err
	}
	defer wrap(&err, "open the database %s", e.place())
	s := &Store{engine: e, clocks: clocks{fixed: o.Now}, packed: newPacks()}
	if s.reader, err = connectSource(ctx, e); err != nil {
		return nil, err
	}
	s.reader.packed = s.packed
	s.writer = s.reader // nothing is written: whatever tried would be refused by the database
	have, err := schemaVersion(ctx, s.reader)
	if err == nil {
		err = knownVersion(e, have)
	}
	if err == nil {
		err = refuseUnfinished(ctx, s.reader)
	}
	if err != nil {
		return nil, errors.Join(err, s.reader.Close())
	}
	return s, nil
}

func connectSource(ctx context.Context, e engine) (*pool, error) {
	if file, ok := e.(sqliteEngine); ok {
		return file.connectReading()
	}
	pg := e.(postgresEngine)
	config := pg.config.Copy()
	config.RuntimeParams["default_transaction_read_only"] = "on"
	config.RuntimeParams["idle_in_transaction_session_timeout"] = "0" // the target may be slow
	p := postgresEngine{config, pg.written}.connect(4)
	if err := pg.check(ctx, p); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

// connectReading opens the file, which must be there, to be read only.
func (e sqliteEngine) connectReading() (*pool, error) {
	if _, err := os.Stat(e.path); err != nil {
		return nil, fmt.Errorf("there is no database: %w: %w", err, ErrNotFound)
	}
	q := url.Values{"mode": {"ro"}, "_busy_timeout": {"5000"}, "_txlock": {"deferred"}, "_cache_size": {"-16000"}}
	db, err := sql.Open("sqlite3", e.dsn(q))
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	if err := db.Ping(); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &pool{DB: db, engine: e}, nil
}

// dsn is the file's address for the driver.
func (e sqliteEngine) dsn(q url.Values) string {
	return "file:" + (&url.URL{Path: e.path}).EscapedPath() + "?" + q.Encode()
}

// programVersion is the newest schema version that this program knows.
func programVersion(e engine) (int64, error) {
	dialect := goose.DialectPostgres
	if _, file := e.(sqliteEngine); file {
		dialect = goose.DialectSQLite3
	}
	db, err := sql.Open("sqlite3", ":memory:") // goose wants one, and does not use it
	if err != nil {
		return 0, err
	}
	p, err := goose.NewProvider(dialect, db, migrations.For(string(dialect)))
	if err != nil {
		return 0, errors.Join(err, db.Close())
	}
	var newest int64
	for _, s := range p.ListSources() {
		newest = max(newest, s.Version)
	}
	return newest, db.Close()
}

// knownVersion refuses a schema that is not of this program's version.
func knownVersion(e engine, have int64) error {
	want, err := programVersion(e)
	switch {
	case err != nil:
		return err
	case have > want:
		return fmt.Errorf("it has schema version %d and this program knows only %d: use a newer countersign: %w", have, want, ErrInvalid)
	case have < want:
		return fmt.Errorf("it has schema version %d and this program's is %d: bring it up to date first, with `countersign audit verify` of this version: %w", have, want, ErrInvalid)
	}
	return nil
}
