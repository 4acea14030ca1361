package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/countersign/countersign/store"
)

type auditCmd struct {
	Verify auditVerifyCmd `cmd:"" help:"Recompute the hash chain of the database, or of an exported audit file."`
	Replay auditReplayCmd `cmd:"" help:"Make an evaluation again from the prompts and replies that were kept of it, without calling a model."`
}

type auditVerifyCmd struct {
	File string `arg:"" optional:"" help:"Exported audit log (JSONL); - is standard input. Without one: the database."`
	dataFlags
	Deep bool `help:"Also unpack every stored text, hold it to its hash, and count every kept count anew (minutes for a million evaluations)."`
	JSON bool `help:"Write JSON."`
}

// verified is the outcome as --json shows it.
type verified struct {
	OK      bool   `json:"ok"`
	Events  int64  `json:"events"`
	Head    string `json:"head"`
	Problem string `json:"problem,omitempty"`
	// Complete is false for a file without a head line: its end was cut off.
	Complete bool `json:"complete"`
}

// Run checks a chain and fails when it does not hold.
func (c auditVerifyCmd) Run(ctx context.Context, s *state) error {
	v, err := c.verify(ctx, s)
	if err != nil {
		return err
	}
	out := verified{OK: v.Problem == "", Events: v.Events, Head: v.Head, Problem: v.Problem, Complete: !v.Open}
	switch {
	case c.JSON:
		err = s.writeJSON(out)
	case !out.OK:
		_, err = fmt.Fprintf(s.stdout, "the chain does not hold after %s: %s\n", plural(int(v.Events), "good event", "good events"), v.Problem)
	default:
		_, err = fmt.Fprintf(s.stdout, "the chain holds: %s, head %s\n", plural(int(v.Events), "event", "events"), v.Head)
	}
	if err == nil && !out.OK {
		return errFailed
	}
	return err
}

// verifyDatabase checks the chain, and with --deep all that it does not cover.
func (c auditVerifyCmd) verifyDatabase(ctx context.Context, s *state, db *store.Store) (store.Verification, error) {
	v, err := db.VerifyAudit(ctx, s.operator())
	if err != nil || v.Problem != "" || !c.Deep {
		return v, err
	}
	contents, err := db.CheckContents(ctx, s.operator())
	if err != nil {
		return v, err
	}
	if len(contents.Problems) > 0 {
		v.Problem = "the chain itself holds, but: " + strings.Join(contents.Problems, "; ")
		return v, nil
	}
	s.say("unpacked and hashed %s and %s; every kept count is right", plural(int(contents.Texts), "text", "texts"),
		plural(int(contents.Reports), "report", "reports"))
	return v, nil
}

func (c auditVerifyCmd) verify(ctx context.Context, s *state) (_ store.Verification, err error) {
	switch c.File {
	case "":
		db, err := c.openExisting(ctx, s)
		if err != nil {
			return store.Verification{}, err
		}
		v, err := c.verifyDatabase(ctx, s, db)
		return v, errors.Join(err, db.Close())
	case "-":
		return store.VerifyAuditFile(s.stdin)
	}
	f, err := os.Open(c.File)
	if err != nil {
		return store.Verification{}, usageError{err}
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return store.VerifyAuditFile(f)
}
