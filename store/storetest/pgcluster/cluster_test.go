package pgcluster_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/countersign/countersign/store/storetest/pgcluster"
)

func TestMain(m *testing.M) { os.Exit(pgcluster.Run(m)) }

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the server may have cut it
	return conn
}

func run(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// ask is the first column of what a query answers.
func ask(t *testing.T, conn *pgx.Conn, query string) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), query)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	answers, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return answers
}

// postmaster is the process id of the server behind a connection.
func postmaster(t *testing.T, conn *pgx.Conn) int {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(ask(t, conn, "SHOW data_directory")[0], "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(file), "\n")
	pid, err := strconv.Atoi(first)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

func TestStopAndStart(t *testing.T) {
	t.Parallel()
	c := pgcluster.Start(t, "max_connections=17")
	conn := connect(t, c.URL("postgres"))
	for name, want := range map[string]string{
		"max_connections": "17", "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
		"listen_addresses": "", "server_encoding": "UTF8", "lc_collate": "C",
	} {
		if got := ask(t, conn, "SHOW "+name)[0]; got != want {
			t.Errorf("%s = %q, want %q", name, got, want)
		}
	}
	run(t, conn, "CREATE TABLE label (id TEXT)")
	run(t, conn, "INSERT INTO label VALUES ('kept')")
	pid := postmaster(t, conn)

	c.Stop()
	if alive(pid) {
		t.Errorf("process %d is still there after Stop", pid)
	}
	if _, err := pgx.Connect(t.Context(), c.URL("postgres")); err == nil {
		t.Error("a stopped server answers")
	}
	if _, err := conn.Exec(t.Context(), "SELECT 1"); err == nil {
		t.Error("an open connection outlived its server")
	}
	c.Stop() // nothing to stop, nothing to fail

	c.Start()
	conn = connect(t, c.URL("postgres"))
	if diff := cmp.Diff([]string{"kept"}, ask(t, conn, "SELECT id FROM label")); diff != "" {
		t.Errorf("after Stop and Start (-want +got):\n%s", diff)
	}
}

// What was committed outlives kill -9. A process in the middle of a query
// outlives it too, for a while, and keeps the data from being used: Start waits.
func TestKillKeepsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	c := pgcluster.Start(t)
	conn := connect(t, c.URL("postgres"))
	run(t, conn, "CREATE TABLE label (id TEXT)")
	run(t, conn, "INSERT INTO label VALUES ('committed')")
	pid := postmaster(t, conn)
	open, busy := connect(t, c.URL("postgres")), connect(t, c.URL("postgres"))
	run(t, open, "BEGIN")
	run(t, open, "INSERT INTO label VALUES ('not committed')")
	ended := make(chan error, 1)
	go func() {
		_, err := busy.Exec(context.Background(), "SELECT count(*) FROM generate_series(1, 100) a, generate_series(1, 50000) b")
		ended <- err
	}()
	for len(ask(t, conn, "SELECT query FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'SELECT count(*) FROM gen%'")) == 0 {
		// It asks again until the query is under way.
	}

	c.Kill()
	if alive(pid) {
		t.Errorf("process %d is still there after Kill", pid)
	}
	c.Start()
	conn = connect(t, c.URL("postgres"))
	if diff := cmp.Diff([]string{"committed"}, ask(t, conn, "SELECT id FROM label")); diff != "" {
		t.Errorf("after Kill and Start (-want +got):\n%s", diff)
	}
	t.Logf("the query under way at the kill ended with: %v", <-ended)
}

func TestNothingIsLeft(t *testing.T) {
	for _, c := range []struct {
		name string
		last func(*pgcluster.Cluster)
	}{
		{"running", func(*pgcluster.Cluster) {}},
		{"stopped", (*pgcluster.Cluster).Stop},
		{"killed", (*pgcluster.Cluster).Kill},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var pid int
			var data string
			t.Run("cluster", func(t *testing.T) {
				cluster := pgcluster.Start(t)
				conn := connect(t, cluster.URL("postgres"))
				pid, data = postmaster(t, conn), ask(t, conn, "SHOW data_directory")[0]
				c.last(cluster)
			})
			if alive(pid) {
				t.Errorf("process %d is left", pid)
			}
			if _, err := os.Stat(filepath.Dir(data)); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the cluster's folder is left: %v", err)
			}
		})
	}
}
