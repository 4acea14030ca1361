package main

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/store"
)

// TestImportSharesLimits: what an importing process calls is taken of the budget
// that every process of the database has together.
func TestImportSharesLimits(t *testing.T) {
	server, calls := endpoint(t, func(int64) (int, string) { return http.StatusOK, equivalent })
	config := writeFile(t, "countersign.yaml", "requests_per_minute: 1\n")
	data := t.TempDir()
	c := newConsole(t, map[string]string{"OPENAI_BASE_URL": server.URL + "/v1", "COUNTERSIGN_MODEL": "grader"},
		"--config", config, "import", "--data", data, "--judge", "--engine", "openai",
		writeFile(t, "t.jsonl", `{"id":"a","output":"it is four","reference":"four is what it is","judges":["reference"]}`))
	now := time.Now()
	c.now = func() time.Time { return now }
	if code := c.run(t.Context()); code != exitOK || calls.Load() != 1 {
		t.Fatalf("exit code %d after %d calls, want %d after 1:\n%s", code, calls.Load(), exitOK, c.messages)
	}
	db, err := store.Open(t.Context(), store.Options{Path: filepath.Join(data, "countersign.db"), Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for address, want := range map[string]time.Duration{server.URL + "/v1": time.Minute, "http://another.example/v1": 0} {
		_, wait, err := db.TakeAllowance(t.Context(), judge.BudgetRequest{
			Endpoint: judge.HashText(address), PerMinute: judge.Budget{Requests: 1}, Least: judge.Budget{Requests: 1},
		})
		if err != nil || wait != want {
			t.Errorf("%s: the next call waits %s, error %v; want %s", address, wait, err, want)
		}
	}
}
