package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/countersign/countersign/store"
)

type upkeepCmd struct {
	dataFlags
	RawRepliesOlderThan days `help:"Remove raw replies of calls older than so many days, such as 90d; their hashes stay." placeholder:"DAYS"`
	Prompts             bool `help:"Remove the prompts of those calls too."`
	Vacuum              bool `help:"Give free space back: rewrites a SQLite file (needs free space of twice the data), VACUUM (ANALYZE) on PostgreSQL."`
	JSON                bool `help:"Write JSON."`
}

// upkept is what was done, as --json shows it.
type upkept struct {
	Removed   *store.Retired   `json:"removed,omitempty"`
	Dropped   store.Leftovers  `json:"dropped"`
	Compacted *store.Compacted `json:"compacted,omitempty"`
	Bytes     int64            `json:"bytes"`
}

// Run keeps the database in shape.
func (c upkeepCmd) Run(ctx context.Context, s *state) (err error) {
	if c.Prompts && c.RawRepliesOlderThan == 0 {
		return usagef("--prompts goes with --raw-replies-older-than: say how old")
	}
	db, err := c.openExisting(ctx, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	var done upkept
	if c.RawRepliesOlderThan > 0 {
		removed, err := db.RemoveOldTexts(ctx, s.operator(), store.Retention{OlderThan: c.RawRepliesOlderThan.duration(), Prompts: c.Prompts})
		if err != nil {
			return err
		}
		done.Removed = &removed
	}
	if done.Dropped, err = db.DropLeftovers(ctx); err != nil {
		return err
	}
	if done.Dropped.Texts, err = db.DropOrphanTexts(ctx); err != nil {
		return err
	}
	if c.Vacuum {
		compacted, err := db.Compact(ctx)
		if err != nil {
			if trouble := db.Trouble(err); trouble != nil {
				return fmt.Errorf("%w", trouble)
			}
			return err
		}
		done.Compacted = &compacted
	}
	if err := db.Optimise(ctx); err != nil {
		return err
	}
	if done.Bytes, err = db.Size(ctx); err != nil {
		return err
	}
	return c.tell(s, done)
}

func (c upkeepCmd) tell(s *state, done upkept) error {
	if c.JSON {
		return s.writeJSON(done)
	}
	var b strings.Builder
	if r := done.Removed; r != nil {
		fmt.Fprintf(&b, "removed of calls before %s: %s, %s; their hashes stay\n", r.Until.Format(time.DateOnly),
			plural(int(r.Replies), "reply", "replies"), plural(int(r.Prompts), "prompt", "prompts"))
	}
	d := done.Dropped
	fmt.Fprintf(&b, "dropped: %s, %s, %s, %s\n", plural(int(d.Replies), "kept reply", "kept replies"),
		plural(int(d.Answers), "old answer", "old answers"), plural(int(d.Drafts), "old draft", "old drafts"), plural(int(d.Texts), "orphaned text", "orphaned texts"))
	if p := done.Compacted; p != nil {
		fmt.Fprintf(&b, "compacted from %s to %s bytes\n", thousands(int(p.Before)), thousands(int(p.After)))
	}
	fmt.Fprintf(&b, "the database takes %s bytes\n", thousands(int(done.Bytes)))
	_, err := fmt.Fprint(s.stdout, b.String())
	return err
}

// days is an age in days, written 90d or 90.
type days int

const maxDays = 36_500 // a hundred years

// UnmarshalText reads the flag.
func (d *days) UnmarshalText(text []byte) error {
	n, err := strconv.Atoi(strings.TrimSuffix(string(text), "d"))
	if err != nil || n < 1 || n > maxDays {
		return fmt.Errorf("%q is no number of days between 1d and %dd", text, maxDays)
	}
	*d = days(n)
	return nil
}

func (d days) duration() time.Duration { return time.Duration(d) * 24 * time.Hour }
