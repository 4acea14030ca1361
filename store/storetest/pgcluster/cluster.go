package pgcluster

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// port only names the socket file; nothing listens on the network.
const port = "5432"

// standing are the settings of every cluster. The zone is far from UTC and not
// at a whole hour, so that a time kept in the server's zone fails a test.
var standing = []string{
	"listen_addresses=",
	"port=" + port,
	"shared_buffers=64MB",
	"max_connections=200",
	"timezone=Asia/Kathmandu",
	// In files, so that nothing is left in /dev/shm by a killed server.
	"dynamic_shared_memory_type=mmap",
}

// Cluster is a PostgreSQL server with its own data. Its methods that change it
// are called from the test's goroutine, one at a time; URL from any.
type Cluster struct {
	t        testing.TB // nil for the shared cluster
	programs string     // the folder of initdb and postgres
	account  account    // who the server runs as
	folder   string     // data, log and socket
	settings []string
	keeper   *keeper
	server   *server // the newest run; nil before the first
	killed   bool    // and not started again since
}

// Start starts a server that belongs to this test alone and waits until it
// answers. It keeps what was committed, as a server in earnest does (fsync
// is on). Settings are "name=value", as in postgresql.conf, and win over the
// package's own. The test's end stops the server and removes its data.
//
// TEST_DATABASE_URL plays no part here: nobody may stop that server. Where no
// server is installed the test is skipped, or failed if CI=true.
func Start(t testing.TB, settings ...string) *Cluster {
	t.Helper()
	c, err := newCluster(onDisk, settings)
	if errors.Is(err, errNotInstalled) {
		leaveOut(t, err)
	}
	if err != nil {
		t.Fatalf("start a PostgreSQL of the test's own: %v", err)
	}
	c.t = t
	t.Cleanup(func() {
		if err := c.end(); err != nil {
			t.Errorf("stop the test's PostgreSQL: %v", err)
		}
	})
	return c
}

// URL is the address of a database of this cluster ("postgres" always
// exists). It stays the same over Stop, Kill and Start.
func (c *Cluster) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.User("postgres"), Path: "/" + database,
		RawQuery: url.Values{"host": {c.folder}, "port": {port}}.Encode()}
	return u.String()
}

// Stop ends the server in order, as an administrator does, and waits until its
// process is gone: open connections are cut, what was not committed is rolled
// back. A server that has ended already is left as it is.
func (c *Cluster) Stop() {
	c.t.Helper()
	if err := c.stop(syscall.SIGINT); err != nil {
		c.t.Fatalf("stop PostgreSQL: %v", err)
	}
}

// Kill ends the server as kill -9 does, without a word to anybody. What was
// committed must be there after the next Start.
func (c *Cluster) Kill() {
	c.t.Helper()
	c.killed = c.killed || c.running()
	if err := c.stop(syscall.SIGKILL); err != nil {
		c.t.Fatalf("kill PostgreSQL: %v", err)
	}
}

// Start starts the server again after Stop or Kill, on the same data and
// address, and waits until it answers.
func (c *Cluster) Start() {
	c.t.Helper()
	if c.running() {
		c.t.Fatal("start PostgreSQL: it is running")
	}
	if err := c.start(); err != nil {
		c.t.Fatalf("start PostgreSQL again: %v", err)
	}
}

// onDisk is the parent of a cluster's folder. It is not TMPDIR: a socket's path
// may have about 100 bytes, and the server's account must be able to reach it.
const onDisk = "/tmp"

// newCluster makes the folder and the data in it, and starts the server.
func newCluster(parent string, settings []string) (_ *Cluster, err error) {
	programs, err := find(places)
	if err != nil {
		return nil, err
	}
	c := &Cluster{programs: programs, settings: append(append([]string{}, standing...), settings...)}
	if c.account, err = serverAccount(); err != nil {
		return nil, err
	}
	if c.folder, err = os.MkdirTemp(parent, "countersign-pg-"); err != nil {
		return nil, fmt.Errorf("make a folder for PostgreSQL: %w", err)
	}
	if err := c.account.own(c.folder); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.folder))
	}
	if c.keeper, err = keep(c.folder, c.account); err != nil {
		return nil, errors.Join(err, os.RemoveAll(c.folder))
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.end())
		}
	}()
	if err := c.initialise(); err != nil {
		return nil, err
	}
	if err := c.start(); err != nil {
		return nil, err
	}
	return c, nil
}

func (c *Cluster) initialise() error {
	initdb := c.command("initdb", "--pgdata", c.data(), "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C", "--no-sync")
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return nil
}

// command is a program of the server, to be run as its account.
func (c *Cluster) command(program string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(c.programs, program), args...)
	cmd.Dir = c.folder
	cmd.SysProcAttr = c.account.attributes()
	for _, v := range os.Environ() {
		// PGDATA, PGPORT and their kin are about another server.
		if !strings.HasPrefix(v, "PG") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, "LC_ALL=C")
	return cmd
}

func (c *Cluster) data() string { return filepath.Join(c.folder, "data") }

// end stops the server at once and removes its folder.
func (c *Cluster) end() error {
	var err error
	if c.killed && !c.running() {
		// A killed server left its shared memory behind; only the next one
		// on the same data gives it back.
		err = c.start()
	}
	return errors.Join(err, c.stop(syscall.SIGQUIT), c.keeper.remove())
}
