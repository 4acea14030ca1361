package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign/countersign/store/storetest"
)

// mostImportMemory is what an import may hold in memory, however large the file
// is, in MB. The race detector's own book-keeping comes on top where it is used.
const mostImportMemory = 300

// largeFile writes a trace file of about so many MB.
func largeFile(t *testing.T, mb int) (path string, traces int) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "large.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for size := 0; size < mb*1_000_000; traces++ {
		trace := storetest.Trace(traces)
		trace.Judges = []string{"citations"}
		line, err := json.Marshal(trace)
		if err != nil {
			t.Fatal(err)
		}
		n, err := w.Write(append(line, '\n'))
		if err != nil {
			t.Fatal(err)
		}
		size += n
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		t.Fatal(err)
	}
	return path, traces
}

var peakLine = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// watch waits for the end of the process; every few milliseconds it reads the
// peak of its memory, in MB, and calls look.
func (p *child) watch(look func()) (peak int, err error) {
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			return peak, err
		case <-time.After(20 * time.Millisecond):
		}
		// The status of a process that has just ended has no peak any more.
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
		if m := peakLine.FindSubmatch(status); m != nil {
			kb, err := strconv.Atoi(string(m[1]))
			if err != nil {
				p.t.Fatal(err)
			}
			peak = max(peak, kb/1000)
		}
		if look != nil {
			look()
		}
	}
}

// TestLargeImport imports a large file, is killed, goes on, is told to stop, and
// goes on, in bounded memory each time. COUNTERSIGN_TEST_IMPORT_MB=1000 is what
// the product promises.
func TestLargeImport(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("there is no /proc here to read a process's peak of memory from")
	}
	mb := sizeFrom(t, "COUNTERSIGN_TEST_IMPORT_MB", 20)
	path, n := largeFile(t, mb)
	h := newHome(t)
	mustRun(t, exitOK, h.env, "import", writeFile(t, "none.jsonl", "")) // makes the tables
	db := storetest.Raw(t, h.address)
	stored := func() (count int) {
		t.Helper()
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM traces`).Scan(&count); err != nil {
			t.Fatal(err)
		}
		return count
	}
	importing := func(what string, until int, signal syscall.Signal) (said string, state *os.ProcessState) {
		t.Helper()
		before, began, sent := stored(), time.Now(), false
		p := startChild(t, h.env, nil, "import", "--engine", "rules", "--json", path)
		peak, err := p.watch(func() {
			if sent || signal == 0 || stored() < until {
				return
			}
			sent = true
			if err := p.cmd.Process.Signal(signal); err != nil {
				t.Error(err)
			}
		})
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		took := time.Since(began)
		t.Logf("%s: %d traces were there, %d are now; %s, %.0f new traces/s, peak %d MB",
			what, before, stored(), took.Round(time.Millisecond), float64(stored()-before)/took.Seconds(), peak)
		if peak == 0 || peak > mostImportMemory*memoryFactor {
			t.Errorf("%s: peak of %d MB, want at most %d", what, peak, mostImportMemory*memoryFactor)
		}
		return <-p.said, p.cmd.ProcessState
	}

	said, state := importing("until it is killed", n/4, syscall.SIGKILL)
	if status, ok := state.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		t.Fatalf("the import ended by itself: %v\n%s", state, said)
	}
	killed := stored()
	said, state = importing("until it is told to stop", max(n/2, killed+1), syscall.SIGINT)
	if want := "the same command goes on from here"; state.ExitCode() != exitInterrupted || !strings.Contains(said, want) {
		t.Fatalf("exit code %d, want %d and %q in what it says:\n%s", state.ExitCode(), exitInterrupted, want, said)
	}
	cut := stored()
	if killed < n/4 || cut <= killed || cut >= n {
		t.Errorf("of %d traces %d were stored when it was killed, %d when it was stopped", n, killed, cut)
	}
	said, state = importing("to the end", n, 0)
	if diff := cmp.Diff(importCounts{Traces: n, Created: n - cut, Unchanged: cut, Evaluations: n - cut}, countsIn(t, said)); diff != "" || state.ExitCode() != exitOK {
		t.Errorf("exit code %d; counts (-want +got):\n%s", state.ExitCode(), diff)
	}
	said, state = importing("again", n, 0)
	if diff := cmp.Diff(importCounts{Traces: n, Unchanged: n}, countsIn(t, said)); diff != "" || state.ExitCode() != exitOK {
		t.Errorf("exit code %d; counts (-want +got):\n%s", state.ExitCode(), diff)
	}
	if got := len(rowsOf(t, db, evaluationStates+` WHERE e.status = 'queued'`)); got != n || stored() != n {
		t.Errorf("%d traces and %d evaluations, want %d of each", stored(), got, n)
	}
	mustRun(t, exitOK, h.env, "audit", "verify")
}

// countsIn reads the summary at the end of what an import wrote.
func countsIn(t *testing.T, said string) (counts importCounts) {
	t.Helper()
	if err := json.Unmarshal([]byte(said[max(0, strings.Index(said, "{")):]), &counts); err != nil {
		t.Fatalf("summary: %v in %q", err, said)
	}
	return counts
}
