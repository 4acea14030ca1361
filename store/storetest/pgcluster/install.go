package pgcluster

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
)

// places are where systems keep the server's programs when they are not on
// the PATH: Debian and Ubuntu, Red Hat and Fedora, Homebrew. .ci/setup looks
// in the same places.
var places = []string{
	"/usr/lib/postgresql/*/bin",
	"/usr/pgsql-*/bin",
	"/opt/homebrew/opt/postgresql@*/bin",
	"/usr/local/opt/postgresql@*/bin",
}

var errNotInstalled = errors.New("no PostgreSQL server is installed here (initdb and postgres: Debian's package postgresql)")

// find gives the folder of initdb and postgres: the PATH's, else the newest
// version in the places.
func find(places []string) (string, error) {
	if initdb, err := exec.LookPath("initdb"); err == nil {
		// The PATH may hold a link; postgres stands beside what it leads to.
		if real, err := filepath.EvalSymlinks(initdb); err == nil && complete(filepath.Dir(real)) {
			return filepath.Dir(real), nil
		}
	}
	var found []string
	for _, place := range places {
		folders, err := filepath.Glob(place)
		if err != nil {
			return "", err
		}
		found = append(found, slices.DeleteFunc(folders, func(f string) bool { return !complete(f) })...)
	}
	if len(found) == 0 {
		return "", errNotInstalled
	}
	return slices.MaxFunc(found, func(a, b string) int { return cmp.Compare(version(a), version(b)) }), nil
}

func complete(folder string) bool {
	for _, program := range []string{"initdb", "postgres"} {
		if _, err := exec.LookPath(filepath.Join(folder, program)); err != nil {
			return false
		}
	}
	return true
}

var number = regexp.MustCompile(`[0-9]+(\.[0-9]+)?`)

// version is the first number in a text: 15 in /usr/lib/postgresql/15/bin; 0
// without one.
func version(text string) float64 {
	v, err := strconv.ParseFloat(number.FindString(text), 64)
	if err != nil {
		return 0
	}
	return v
}

// leaveOut ends a test that can't have its server: skipped on a person's
// machine, failed where CI=true, as nothing may be left out there.
func leaveOut(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("%v; with CI=true no test may be left out: run .ci/setup", err)
	}
	t.Skipf("%v; run .ci/setup, or install it and run the test again", err)
}
