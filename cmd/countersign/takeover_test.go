package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign/countersign/store"
)

// TestDeadWorkersWorkIsTakenOver: what a killed server held is judged by the
// next one at once, not when its lease runs out; a living one keeps its own.
func TestDeadWorkersWorkIsTakenOver(t *testing.T) {
	data := t.TempDir()
	mustRun(t, exitOK, nil, "import", "--data", data, writeFile(t, "t.jsonl", lines(3)))
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	db, err := store.Open(t.Context(), store.Options{Path: filepath.Join(data, "countersign.db"), Now: newConsole(t, nil).now})
	if err != nil {
		t.Fatal(err)
	}
	for _, worker := range []string{host + "/1999999999", host + "/1", "elsewhere/1999999999"} {
		work, err := db.ClaimWork(t.Context(), worker, 1, time.Hour)
		if err != nil || len(work) != 1 {
			t.Fatalf("%s claimed %d: %v", worker, len(work), err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c := mustRun(t, exitOK, nil, "import", "--judge", "--data", data, writeFile(t, "none.jsonl", ""))
	if got, want := c.messages.String(), "1 evaluation of a server that ended without finishing: queued again"; !strings.Contains(got, want) {
		t.Errorf("messages %q, want %q", got, want)
	}
	if got := c.out.String(); !strings.Contains(got, "1 evaluation judged") {
		t.Errorf("output %q, want one judged", got)
	}
}
