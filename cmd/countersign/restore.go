package main

import (
	"context"
	"fmt"

	"github.com/countersign/countersign/store"
)

type restoreCmd struct {
	File string `arg:"" help:"Backup, packed or not." type:"path"`
	dataFlags
	Force bool `help:"Replace a database that is there; it is kept beside under another name."`
	JSON  bool `help:"Write JSON."`
}

// Run makes a backup the database.
func (c restoreCmd) Run(ctx context.Context, s *state) error {
	o, err := c.options(s)
	if err != nil {
		return err
	}
	r, err := store.Restore(ctx, o, c.File, c.Force, s.machineTime())
	switch {
	case err != nil:
		return moved(ctx, err)
	case c.JSON:
		return s.writeJSON(r)
	}
	_, err = fmt.Fprintf(s.stdout, "%s: restored, %s bytes, verified; the chain holds: %s, head %s\n",
		r.Restore, thousands(int(r.Bytes)), plural(int(r.Events), "event", "events"), r.Head)
	if err == nil && r.Kept != "" {
		_, err = fmt.Fprintf(s.stdout, "the database that was there is kept as %s\n", r.Kept)
	}
	return err
}
