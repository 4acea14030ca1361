package store_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// statementsOf are the statements of a migration that begin with one of the
// words, so that a test can run on data what filled older databases.
func statementsOf(t *testing.T, file string, words ...string) (found []string) {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("..", "migrations", file))
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(body)) {
		if code, _, _ := strings.Cut(line, "--"); strings.TrimSpace(code) != "" {
			lines = append(lines, code)
		}
	}
	for statement := range strings.SplitSeq(strings.Join(lines, " "), ";") {
		statement = strings.TrimSpace(statement)
		if word, _, _ := strings.Cut(statement, " "); slices.Contains(words, word) {
			found = append(found, statement)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s has no statement that begins with %v", file, words)
	}
	return found
}
