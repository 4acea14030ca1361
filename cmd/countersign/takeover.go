package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/countersign/countersign/store"
)

// takeOverDead puts back what workers of this machine held whose process is no
// more, so that work killed with its server does not wait for its lease.
// Workers of other machines keep theirs until it runs out.
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

// isDead says that a worker was a process of this machine that is gone. When
// its number was given to another process since, that is not seen.
func isDead(worker string) bool {
	host, pid, ok := strings.Cut(worker, "/")
	here, err := os.Hostname()
	n, numberErr := strconv.Atoi(pid)
	if !ok || err != nil || numberErr != nil || host != here || n == os.Getpid() {
		return false
	}
	return errors.Is(syscall.Kill(n, 0), syscall.ESRCH)
}

// workerName tells this process from others that judge for the same database.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s/%d", host, os.Getpid())
}
