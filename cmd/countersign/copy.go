package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/store"
)

type copyCmd struct {
	From string `required:"" help:"Database that is copied: sqlite://PATH or postgres://USER@HOST/DATABASE. It is only read." placeholder:"URL"`
	To   string `required:"" help:"Database that is made; it must be new or empty." placeholder:"URL"`
	JSON bool   `help:"Write JSON."`
}

// Run copies, and tells what was copied once all of it was verified.
func (c copyCmd) Run(ctx context.Context, s *state) error {
	s.say("what servers write to the source from now on is not copied: stop them first if nothing may be missed")
	p := s.startProgress("copying", -1, false)
	defer p.end()
	table, before := "", int64(0)
	report, err := store.Copy(ctx, store.Options{URL: c.From}, store.Options{URL: c.To}, func(name string, rows int64) {
		if name != table {
			table, before = name, 0
			p.describe("copying %s", name)
		}
		p.add(rows - before)
		before = rows
	})
	p.end()
	switch {
	case ctx.Err() != nil:
		return anewError{errors.New("stopped: the copy is not finished, and the same command begins it anew")}
	case err != nil:
		return refused(err)
	case c.JSON:
		return s.writeJSON(report)
	}
	for _, t := range report.Tables {
		if _, err := fmt.Fprintf(s.stdout, "%-20s %12s\n", t.Name, thousands(int(t.Rows))); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(s.stdout, "copied and verified: %s; the chain holds: %s, head %s\n",
		plural(int(report.Rows), "row", "rows"), plural(int(report.Events), "event", "events"), report.Head)
	return err
}
