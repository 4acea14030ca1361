package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os/user"
	"time"

	"github.com/countersign/countersign/store"
)

// state is everything of the outside that a command touches, so that a test
// can run the program in its own process.
type state struct {
	args      []string // without the program's name
	lookupEnv func(string) (string, bool)
	stdin     io.Reader
	stdout    io.Writer        // results only
	stderr    io.Writer        // messages and progress
	now       func() time.Time // a test's clock; nil: the machine's, and for leases the database's
	terminal  bool             // stderr is a terminal: progress bars may be drawn

	settings settings        // of countersign.yaml
	byName   map[string]bool // flags given on the command line itself
	inEnv    map[string]bool // flags that the environment gave
	inFile   map[string]bool // flags that the configuration gave
	db       *store.Store    // the one that is open or was open last; nil: none yet
	log      *slog.Logger

	// listening is told the address of a server once it listens; may be nil.
	listening func(address string)
}

// machineTime names files; what is stored has the database's time.
func (s *state) machineTime() time.Time {
	if s.now != nil {
		return s.now()
	}
	return time.Now()
}

// env is a variable of the environment, or empty.
func (s *state) env(name string) string {
	v, _ := s.lookupEnv(name)
	return v
}

// say writes a message for people.
func (s *state) say(format string, args ...any) { fmt.Fprintf(s.stderr, format+"\n", args...) }

// operator is who acts at the command line: whoever holds the data folder.
func (s *state) operator() store.Actor {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return store.Operator(u.Username + " (command line)")
	}
	return store.Operator("command line")
}

// stopped says why a command ends before its work is done; nil when it is not
// to end.
func stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return errInterrupted
	}
	return nil
}

// nearest is the flag of these that comes from nearest to the person: the
// command line, else the environment, else the configuration; the last one when
// none is given. Of one place the earlier counts, but on the command line there
// may be only one.
func (s *state) nearest(names ...string) (string, error) {
	for _, given := range []map[string]bool{s.byName, s.inEnv, s.inFile} {
		found := ""
		for _, name := range names {
			switch {
			case !given[name]:
			case found == "":
				found = name
			case s.byName[name]:
				return "", usagef("--%s and --%s are given, and the data is in one place: leave one out", found, name)
			}
		}
		if found != "" {
			return found, nil
		}
	}
	return names[len(names)-1], nil
}
