package countersign_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWhatRunsAtOnceIsRaced: `make test` lends the race detector to some
// packages, and in them to tests whose names say that things happen at once.
// A test that starts goroutines elsewhere, or under another name, would go
// without.
func TestWhatRunsAtOnceIsRaced(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	setting := func(name string) string {
		m := regexp.MustCompile(`(?m)^` + name + `\s*:=\s*(.*)$`).FindSubmatch(makefile)
		if m == nil {
			t.Fatalf("the Makefile sets no %s", name)
		}
		return strings.ReplaceAll(string(m[1]), "$$", "$")
	}
	raced := regexp.MustCompile(setting("AT_ONCE"))
	folders := strings.Fields(setting("PARALLEL"))
	files, err := filepath.Glob("*/*/*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, pattern := range []string{"*_test.go", "*/*_test.go", "*/*/*/*_test.go"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	set := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !strings.HasPrefix(f.Name.Name, "Test") || !startsGoroutines(f) {
				continue
			}
			if strings.HasPrefix(f.Name.Name, "TestBrowser") || strings.HasPrefix(f.Name.Name, "TestCopy") || strings.HasPrefix(name, "store/storetest/") {
				continue // what they start only waits for another process
			}
			if folder := "./" + filepath.ToSlash(filepath.Dir(name)); !slices.Contains(folders, folder) {
				t.Errorf("%s: %s starts goroutines; PARALLEL in the Makefile lacks %s", set.Position(f.Pos()), f.Name.Name, folder)
			}
			if !raced.MatchString(f.Name.Name) {
				t.Errorf("%s: %s starts goroutines, and AT_ONCE in the Makefile does not fit its name", set.Position(f.Pos()), f.Name.Name)
			}
		}
	}
}

func startsGoroutines(f *ast.FuncDecl) bool {
	found := false
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found = true
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
				found = true
			}
		}
		return !found
	})
	return found
}
