package pgcluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// ServerVariable names a server, as a postgres:// address, on which tests may
// create databases. The database in the address is only connected to.
const ServerVariable = "TEST_DATABASE_URL"

// patience bounds every wait on a server: far more than it ever takes.
const patience = time.Minute

// Database makes an empty database for this test and returns its address. It
// is dropped at the test's end, whoever is still connected. A test process that
// is killed can't drop it from the server of TEST_DATABASE_URL: databases
// called countersign_test_… there are left-overs.
//
// Without a server the test is skipped, or failed if CI=true.
func Database(t testing.TB) string {
	t.Helper()
	address := newDatabase(t)
	t.Cleanup(func() {
		config, err := pgx.ParseConfig(address)
		if err == nil {
			err = onServerOf(address, func(server string) error { return drop(server, config.Database) })
		}
		if err != nil {
			t.Errorf("drop the test's database: %v", err)
		}
	})
	return address
}

// newDatabase makes an empty database and returns its address.
func newDatabase(t testing.TB) string {
	t.Helper()
	server := os.Getenv(ServerVariable)
	given := server != ""
	if !given {
		c, err := sharedCluster()
		if errors.Is(err, errNotInstalled) {
			leaveOut(t, fmt.Errorf("%s is not set and %w", ServerVariable, err))
		}
		if err != nil {
			t.Fatalf("start the tests' PostgreSQL: %v", err)
		}
		server = c.URL("postgres")
	}
	name := "countersign_test_" + strings.ToLower(rand.Text())
	address, err := withDatabase(server, name)
	if err != nil {
		t.Fatal(err)
	}
	if err := create(server, name, given); err != nil {
		t.Fatalf("create a database for the test: %v", err)
	}
	return address
}

// onServerOf calls do with the address of the server that a database is on.
func onServerOf(address string, do func(server string) error) error {
	server, err := withDatabase(address, "postgres")
	if err != nil {
		return err
	}
	return do(server)
}

// withDatabase is the server's address with another database in it. Errors
// never show the address, which may hold a password.
func withDatabase(server, name string) (string, error) {
	u, err := url.Parse(server)
	if err != nil {
		var parse *url.Error
		if errors.As(err, &parse) {
			err = parse.Err
		}
		return "", fmt.Errorf("%s is no address: %w", ServerVariable, err)
	}
	if u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return "", fmt.Errorf("%s must be an address of the form postgres://user@host:port/database", ServerVariable)
	}
	u.Path, u.RawPath = "/"+name, ""
	// A database may also be named in the query, where it would win.
	q := u.Query()
	q.Del("dbname")
	q.Del("database")
	u.RawQuery = q.Encode()
	return u.String(), nil
}

func create(server, name string, given bool) error {
	return onServer(server, func(ctx context.Context, conn *pgx.Conn) error {
		// Nobody can be connected to template0, so copying it never waits.
		statement := "CREATE DATABASE " + name + " TEMPLATE template0 ENCODING 'UTF8'"
		if !given && version(conn.PgConn().ParameterStatus("server_version")) >= 15 {
			// Without fsync a copy of the files took 22 ms and the default,
			// which writes every page to the log, 170 ms (PostgreSQL 15). With
			// fsync they are alike, and the copy would make a busy server
			// write out all its pages.
			statement += " STRATEGY file_copy"
		}
		_, err := conn.Exec(ctx, statement)
		return err
	})
}

func drop(server, name string) error {
	return onServer(server, func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
		return err
	})
}

func onServer(server string, do func(context.Context, *pgx.Conn) error) (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	return do(ctx, conn)
}
