package storetest

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver of database/sql named pgx
	_ "github.com/mattn/go-sqlite3"    // and the one named sqlite3

	"github.com/countersign/countersign/store/storetest/pgcluster"
)

// OnPostgres says that tests run on PostgreSQL, because TEST_ENGINE=postgres,
// and else on SQLite. `make test` runs them on both. It is asked while tests
// run, so that a cached result is not taken for one of the other database.
func OnPostgres() bool { return os.Getenv("TEST_ENGINE") == "postgres" }

// Main runs a package's tests and ends the PostgreSQL that they started.
func Main(m *testing.M) int { return pgcluster.Run(m) }

// seed is what the migrations put into a new schema.
const seed = `INSERT INTO audit_head (id, seq, hash) VALUES (1, 0, '')`

// Address is that of an empty database for one test.
func Address(t testing.TB) string {
	t.Helper()
	if OnPostgres() {
		return pgcluster.Emptied(t, seed)
	}
	return "sqlite://" + filepath.Join(t.TempDir(), "countersign.db")
}

// Unmigrated is Address for a test that does things to the schema itself.
func Unmigrated(t testing.TB) string {
	t.Helper()
	if OnPostgres() {
		return pgcluster.Database(t)
	}
	return Address(t)
}

// Database is a connection to a store's database behind the store's back. It
// takes SQL with ? for the values, as the store does.
type Database struct {
	*sql.DB
	postgres bool
}

// Raw opens the database of an address; its tables are there already.
func Raw(t testing.TB, address string) *Database {
	t.Helper()
	d := &Database{postgres: !strings.HasPrefix(address, "sqlite://")}
	driver, name := "pgx", address
	if !d.postgres {
		driver, name = "sqlite3", "file:"+strings.TrimPrefix(address, "sqlite://")+"?_busy_timeout=5000&_foreign_keys=on"
	}
	var err error
	if d.DB, err = sql.Open(driver, name); err != nil {
		t.Fatal(err)
	}
	d.SetMaxOpenConns(1) // settings of the connection stay
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Errorf("close the connection behind the store: %v", err)
		}
	})
	return d
}

// Forger is Raw for somebody who owns the database: no trigger and no foreign
// key stands in the way.
func Forger(t testing.TB, address string) *Database {
	t.Helper()
	d := Raw(t, address)
	if d.postgres {
		d.mustExec(t, `SET session_replication_role = replica`)
		return d
	}
	d.mustExec(t, `PRAGMA foreign_keys = off`)
	var names []string
	rows, err := d.Query(`SELECT name FROM sqlite_master WHERE type = 'trigger'`)
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		d.mustExec(t, `DROP TRIGGER `+name)
	}
	return d
}

func (d *Database) mustExec(t testing.TB, query string) {
	t.Helper()
	if _, err := d.Exec(query); err != nil {
		t.Fatal(err)
	}
}

// sql numbers the placeholders for PostgreSQL.
func (d *Database) sql(query string) string {
	if !d.postgres {
		return query
	}
	parts := strings.Split(query, "?")
	var b strings.Builder
	for i, part := range parts {
		if i > 0 {
			b.WriteString("$" + strconv.Itoa(i))
		}
		b.WriteString(part)
	}
	return b.String()
}

// Exec runs a statement; several, divided by semicolons, when it has no values.
func (d *Database) Exec(query string, args ...any) (sql.Result, error) {
	return d.DB.Exec(d.sql(query), args...)
}

// Query runs a query.
func (d *Database) Query(query string, args ...any) (*sql.Rows, error) {
	return d.DB.Query(d.sql(query), args...)
}

// QueryContext runs a query.
func (d *Database) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return d.DB.QueryContext(ctx, d.sql(query), args...)
}

// QueryRow runs a query for one row.
func (d *Database) QueryRow(query string, args ...any) *sql.Row {
	return d.DB.QueryRow(d.sql(query), args...)
}

// QueryRowContext runs a query for one row.
func (d *Database) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	return d.DB.QueryRowContext(ctx, d.sql(query), args...)
}
