package main

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/countersign/countersign/store/storetest"
)

// TestMain lets scripts run this program as countersign.
func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"countersign": main})
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
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
