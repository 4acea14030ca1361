// Package countersign_test holds the house together: which package may import
// which. ARCHITECTURE.md says why.
package countersign_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"strings"
	"testing"
)

const module = "github.com/countersign/countersign"

// rules are tried in order; the first whose pattern fits the package counts.
// A pattern ends in /... for a package and all below it.
var rules = []struct {
	of    string
	ours  []string // packages of ours it may import
	reach []string // outside packages that only it may import
}{
	{of: "judge/agreement/...", ours: []string{"judge/agreement/..."}},
	{of: "judge/openai", ours: []string{"judge/..."}, reach: []string{"github.com/openai/openai-go/..."}},
	{of: "judge/...", ours: []string{"judge/..."}},
	{of: "migrations"},
	{of: "static"},
	{of: "store/...", ours: []string{"store/...", "judge/...", "migrations"},
		reach: []string{"database/sql/...", "github.com/mattn/go-sqlite3", "github.com/jackc/pgx/...", "github.com/pressly/goose/..."}},
	{of: "views/...", ours: []string{"views/...", "judge", "static"}},
	{of: "web/...", ours: []string{"web/...", "views/...", "store/...", "judge/...", "static"},
		reach: []string{"github.com/labstack/echo/...", "github.com/gorilla/sessions"}},
	{of: "cmd/...", ours: []string{"..."}},
}

// testsOnly is what nothing but tests and its own kind may import.
const testsOnly = "store/storetest/..."

func fits(pattern, pkg string) bool {
	if pattern == "..." {
		return true
	}
	if below, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == below || strings.HasPrefix(pkg, below+"/")
	}
	return pkg == pattern
}

func anyFits(patterns []string, pkg string) bool {
	for _, p := range patterns {
		if fits(p, pkg) {
			return true
		}
	}
	return false
}

func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimPrefix(strings.TrimPrefix(pkg.ImportPath, module), "/")
		if name == "" {
			continue
		}
		seen++
		at := -1
		for i, r := range rules {
			if fits(r.of, name) {
				at = i
				break
			}
		}
		if at < 0 {
			t.Errorf("package %s has no rule: does its folder belong to the house? See ARCHITECTURE.md", name)
			continue
		}
		for _, imported := range pkg.Imports {
			if own, ok := strings.CutPrefix(imported, module+"/"); ok {
				if own != path.Clean(name) && !anyFits(rules[at].ours, own) {
					t.Errorf("package %s may not import %s", name, own)
				}
				if fits(testsOnly, own) && !fits(testsOnly, name) {
					t.Errorf("package %s imports %s, which only tests may", name, own)
				}
				continue
			}
			for i, r := range rules {
				if i != at && anyFits(r.reach, imported) && !anyFits(rules[at].reach, imported) {
					t.Errorf("package %s imports %s, which only %s may", name, imported, r.of)
				}
			}
		}
	}
	if seen < 8 {
		t.Errorf("only %d packages were looked at", seen)
	}
}

func TestFits(t *testing.T) {
	for _, c := range []struct {
		pattern, pkg string
		want         bool
	}{
		{"judge", "judge", true},
		{"judge", "judge/openai", false},
		{"judge/...", "judge", true},
		{"judge/...", "judge/openai", true},
		{"judge/...", "judges", false},
		{"...", "anything", true},
	} {
		if got := fits(c.pattern, c.pkg); got != c.want {
			t.Errorf("fits(%q, %q) = %v, want %v", c.pattern, c.pkg, got, c.want)
		}
	}
}
