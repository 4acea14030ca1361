package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/store"
)

type backupCmd struct {
	File string `arg:"" help:"File to write; one that ends in .zst is packed." type:"path"`
	dataFlags
	Force bool `help:"Replace a file that is there."`
	JSON  bool `help:"Write JSON."`
}

// Run backs the database up while servers go on.
func (c backupCmd) Run(ctx context.Context, s *state) error {
	o, err := c.options(s)
	if err != nil {
		return err
	}
	report, err := store.Backup(ctx, o, c.File, c.Force)
	if err != nil {
		return moved(ctx, err)
	}
	return c.tell(s, report)
}

func (c backupCmd) tell(s *state, r store.BackupReport) error {
	if c.JSON {
		return s.writeJSON(r)
	}
	_, err := fmt.Fprintf(s.stdout, "%s: %s bytes, verified; the chain holds: %s, head %s\n",
		r.File, thousands(int(r.Bytes)), plural(int(r.Events), "event", "events"), r.Head)
	return err
}

// moved is how a command ends that moves whole databases: what the database or
// the files refuse is bad usage, and being stopped leaves all as it was.
func moved(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return anewError{errors.New("stopped: nothing was changed, and the same command begins anew")}
	}
	return refused(err)
}

// refused is an error for which nothing was done, as bad usage: the target is
// not empty, in use, or there already.
func refused(err error) error {
	if errors.Is(err, store.ErrConflict) {
		return usageError{err}
	}
	return err
}
