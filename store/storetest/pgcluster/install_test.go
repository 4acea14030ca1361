package pgcluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func programs(t *testing.T, folder string, names ...string) {
	t.Helper()
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(folder, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func TestFind(t *testing.T) {
	root := t.TempDir()
	places := []string{filepath.Join(root, "postgresql/*/bin")}
	at := func(version string) string { return filepath.Join(root, "postgresql", version, "bin") }
	t.Setenv("PATH", filepath.Join(root, "path"))

	if got, err := find(places); !errors.Is(err, errNotInstalled) {
		t.Errorf("nothing installed: %q, %v", got, err)
	}
	programs(t, at("18"), "initdb") // the client's tools only
	programs(t, at("9.6"), "initdb", "postgres")
	programs(t, at("15"), "initdb", "postgres")
	if got, err := find(places); err != nil || got != at("15") {
		t.Errorf("the newest whole one: %q, %v, want %q", got, err, at("15"))
	}
	programs(t, filepath.Join(root, "chosen"), "initdb", "postgres")
	programs(t, filepath.Join(root, "path"))
	if err := os.Symlink(filepath.Join(root, "chosen", "initdb"), filepath.Join(root, "path", "initdb")); err != nil {
		t.Fatal(err)
	}
	if got, err := find(places); err != nil || got != filepath.Join(root, "chosen") {
		t.Errorf("the PATH's: %q, %v, want %q", got, err, filepath.Join(root, "chosen"))
	}
}

// ended records how a test was ended in place of ending it.
type ended struct {
	testing.TB
	skipped, failed string
}

func (e *ended) Helper() {}

func (e *ended) Skipf(format string, args ...any) {
	e.skipped = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (e *ended) Fatalf(format string, args ...any) {
	e.failed = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func TestLeaveOut(t *testing.T) {
	for _, c := range []struct {
		ci              string
		skipped, failed bool
	}{
		{ci: "", skipped: true},
		{ci: "true", failed: true},
	} {
		t.Setenv("CI", c.ci)
		e := &ended{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			leaveOut(e, errNotInstalled)
		}()
		<-done
		if (e.skipped != "") != c.skipped || (e.failed != "") != c.failed {
			t.Errorf("CI=%q: skipped %q, failed %q", c.ci, e.skipped, e.failed)
		}
		if said := e.skipped + e.failed; !strings.Contains(said, "Debian's package postgresql") || !strings.Contains(said, ".ci/setup") {
			t.Errorf("CI=%q: %q does not say what to do", c.ci, said)
		}
	}
}

func TestWithDatabase(t *testing.T) {
	for _, c := range []struct{ server, want string }{
		{"postgres://reviewer:secret@db:5433/postgres?sslmode=disable", "postgres://reviewer:secret@db:5433/fresh?sslmode=disable"},
		{"postgresql://db", "postgresql://db/fresh"},
		{"postgres:///?host=%2Ftmp%2Fpg&dbname=other", "postgres:///fresh?host=%2Ftmp%2Fpg"},
	} {
		if got, err := withDatabase(c.server, "fresh"); err != nil || got != c.want {
			t.Errorf("withDatabase(%q) = %q, %v, want %q", c.server, got, err, c.want)
		}
	}
	for _, wrong := range []string{"host=db password=secret", "sqlite:///secret.db", "postgres://reviewer:secret@db:port/"} {
		got, err := withDatabase(wrong, "fresh")
		if err == nil {
			t.Errorf("withDatabase(%q) = %q, want an error", wrong, got)
		} else if !strings.Contains(err.Error(), ServerVariable) || strings.Contains(err.Error(), "secret") {
			t.Errorf("withDatabase(%q): %v; want the variable named and no secret", wrong, err)
		}
	}
}

// A server that can't start says why, and leaves no folder.
func TestStartFails(t *testing.T) {
	t.Parallel()
	c, err := newCluster(onDisk, []string{"no_such_setting=1"})
	if errors.Is(err, errNotInstalled) {
		leaveOut(t, err)
	}
	if err == nil {
		t.Fatal("a server started with a setting that does not exist")
	}
	if !strings.Contains(err.Error(), "no_such_setting") {
		t.Errorf("%v; want the server's own words", err)
	}
	if c != nil {
		t.Error("a cluster came back with an error")
	}
}
