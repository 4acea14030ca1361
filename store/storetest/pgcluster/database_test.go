package pgcluster_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/countersign/countersign/store/storetest/pgcluster"
)

const tables = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'"

func TestDatabasesAreSeparate(t *testing.T) {
	one := connect(t, pgcluster.Database(t))
	two := connect(t, pgcluster.Database(t))
	run(t, one, "CREATE TABLE first (id TEXT)")
	run(t, two, "CREATE TABLE second (id TEXT)")
	if diff := cmp.Diff([]string{"first"}, ask(t, one, tables)); diff != "" {
		t.Errorf("tables of one (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"second"}, ask(t, two, tables)); diff != "" {
		t.Errorf("tables of two (-want +got):\n%s", diff)
	}
}

// A database ends with its test although somebody is still connected.
func TestDatabaseIsDropped(t *testing.T) {
	parent := t
	var address string
	t.Run("test", func(t *testing.T) {
		address = pgcluster.Database(t)
		conn, err := pgx.Connect(context.Background(), address)
		if err != nil {
			t.Fatal(err)
		}
		parent.Cleanup(func() { _ = conn.Close(context.Background()) }) // not before the drop
	})
	_, err := pgx.Connect(t.Context(), address)
	var refused *pgconn.PgError
	if !errors.As(err, &refused) || refused.Code != "3D000" { // invalid_catalog_name
		t.Errorf("connect after the test: %v, want: database does not exist", err)
	}
}

func TestDatabaseOnGivenServer(t *testing.T) {
	server := pgcluster.Start(t)
	admin := connect(t, server.URL("postgres"))
	const names = "SELECT datname::text FROM pg_database WHERE NOT datistemplate ORDER BY 1"
	t.Setenv(pgcluster.ServerVariable, server.URL("postgres"))
	t.Run("test", func(t *testing.T) {
		name := ask(t, connect(t, pgcluster.Database(t)), "SELECT current_database()::text")[0]
		if got := ask(t, admin, names); !slices.Contains(got, name) {
			t.Errorf("the given server has %q, not %q", got, name)
		}
	})
	if diff := cmp.Diff([]string{"postgres"}, ask(t, admin, names)); diff != "" {
		t.Errorf("databases after the test (-want +got):\n%s", diff)
	}
}

func BenchmarkDatabase(b *testing.B) {
	pgcluster.Database(b) // the cluster's own start is not counted
	for b.Loop() {
		pgcluster.Database(b)
	}
}
