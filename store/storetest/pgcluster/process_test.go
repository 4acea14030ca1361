package pgcluster_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign/countersign/store/storetest/pgcluster"
)

// waitToBeKilled makes TestChild, in this test binary started again, stay.
const waitToBeKilled = "PGCLUSTER_TEST_WAIT_TO_BE_KILLED"

// TestChild says which servers it started, then waits to be killed.
func TestChild(t *testing.T) {
	if os.Getenv(waitToBeKilled) == "" {
		t.Skip("only for TestKilledProcessLeavesNothing")
	}
	for _, address := range []string{pgcluster.Database(t), pgcluster.Start(t).URL("postgres")} {
		conn := connect(t, address)
		os.Stdout.WriteString("server " + strconv.Itoa(postmaster(t, conn)) + " " + ask(t, conn, "SHOW data_directory")[0] + "\n")
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func TestKilledProcessLeavesNothing(t *testing.T) {
	t.Parallel()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestChild$")
	child.Env = append(os.Environ(), waitToBeKilled+"=yes", pgcluster.ServerVariable+"=")
	child.Stderr = os.Stderr
	if _, err := child.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	servers := map[int]string{} // process and folder
	for lines := bufio.NewScanner(out); len(servers) < 2 && lines.Scan(); {
		words := strings.Fields(lines.Text())
		if len(words) != 3 || words[0] != "server" {
			continue
		}
		pid, err := strconv.Atoi(words[1])
		if err != nil {
			t.Fatal(err)
		}
		servers[pid] = filepath.Dir(words[2])
	}
	if len(servers) != 2 {
		t.Fatalf("the child started %d servers, want 2: %v", len(servers), child.Wait())
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := child.Wait(); err == nil {
		t.Fatal("the child ended in order, and was to be killed")
	}
	// The wait is bounded by the test's own time limit only.
	for pid, folder := range servers {
		for look := range time.Tick(10 * time.Millisecond) {
			_, err := os.Stat(folder)
			if !alive(pid) && errors.Is(err, os.ErrNotExist) {
				break
			}
			if deadline, ok := t.Deadline(); ok && look.After(deadline.Add(-5*time.Second)) {
				t.Fatalf("server %d alive: %v; its folder: %v", pid, alive(pid), err)
			}
		}
	}
}

// Root's tests lend the server an account; other people's run it as themselves.
// Root can try both.
func TestNotAsRoot(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("the other tests are this one: nobody here is root")
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		t.Fatal(err)
	}
	uid, err := strconv.ParseUint(nobody.Uid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	gid, err := strconv.ParseUint(nobody.Gid, 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	binary := filepath.Join(folder, "pgcluster.test")
	copyForAll(t, os.Args[0], binary)

	cmd := exec.CommandContext(t.Context(), binary, "-test.v", "-test.run=^(TestDatabasesAreSeparate|TestStopAndStart)$")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), pgcluster.ServerVariable+"=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Count(string(out), "--- PASS") != 2 {
		t.Errorf("tests as nobody: %v\n%s", err, out)
	}
}

// copyForAll copies a program to where everybody can run it.
func copyForAll(t *testing.T, from, to string) {
	t.Helper()
	program, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, program, 0o755); err != nil {
		t.Fatal(err)
	}
	for folder := filepath.Dir(to); len(folder) > len(os.TempDir()); folder = filepath.Dir(folder) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}
