package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"github.com/countersign/countersign/store"
)

// takeOverDead puts back what workers of this machine held whose process is no
// more, so that work killed with its server does not wait for its lease.
// Workers of other machines, and those of which nothing can be told, keep theirs
// until it runs out.
func takeOverDead(ctx context.Context, s *state, db *store.Store) error {
	holders, err := db.WorkHolders(ctx)
	if err != nil {
		return err
	}
	for _, holder := range holders {
		if !isDead(holder) {
			continue
		}
		n, err := db.TakeOver(ctx, holder)
		if err != nil {
			return err
		}
		s.say("%s of a server that ended without finishing: queued again", plural(n, "evaluation", "evaluations"))
	}
	return nil
}

// workerName tells this process from all others that judge for the same
// database, on whatever machine: HOST/MACHINE/PROCESS. Where machine and process
// can't be told apart for certain it ends in a random word instead, and nobody
// takes its work over before its lease ends.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown-host"
	}
	host = strings.ReplaceAll(host, "/", "-")
	machine, process := thisMachine(), processName(os.Getpid())
	if machine == "" || process == "" {
		return host + "/" + unnamed
	}
	return fmt.Sprintf("%s/%s/%s", host, machine, process)
}

// unnamed is this process's word where it has no better name.
var unnamed = rand.Text()

// isDead says for certain that a worker was a process of this machine that is
// gone.
func isDead(worker string) bool {
	parts := strings.Split(worker, "/")
	if len(parts) != 3 {
		return false
	}
	machine := thisMachine()
	return machine != "" && parts[1] == machine && processGone(parts[2])
}
