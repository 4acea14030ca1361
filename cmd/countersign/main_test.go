package main

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/countersign/countersign/store/storetest"
)

// TestMain lets scripts run this program as countersign.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"countersign": main, "bare": bareMain})
}

// tests are the package's, and end the PostgreSQL that they started.
type tests struct{ m *testing.M }

// Run is part of testscript's interface.
func (t tests) Run() int { return storetest.Main(t.m) }

// TestScripts runs testdata/script: what commands print, and their exit codes.
// On PostgreSQL each script has a database of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, "COUNTERSIGN_DATA="+e.WorkDir+"/data", "OPENAI_API_KEY=")
			if !storetest.OnPostgres() {
				return nil
			}
			t, ok := e.T().(testing.TB)
			if !ok {
				return errors.New("a script's test is no testing.TB")
			}
			e.Vars = append(e.Vars, "COUNTERSIGN_DATABASE_URL="+storetest.Address(t))
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "postgres" {
				return storetest.OnPostgres(), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "capture": capture},
	})
}

// exits is a script command: exits CODE PROGRAM ARGS... runs the program and
// fails unless it ends with this code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// capture is a script command: capture NAME REGEXP puts what the first group of
// the expression finds on standard output into a variable of the script.
func capture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: capture NAME REGEXP")
	}
	pattern, err := regexp.Compile("(?m)" + args[1])
	ts.Check(err)
	found := pattern.FindStringSubmatch(ts.ReadFile("stdout"))
	if len(found) < 2 {
		ts.Fatalf("%s finds nothing on standard output, or has no group", args[1])
	}
	ts.Setenv(args[0], found[1])
}
