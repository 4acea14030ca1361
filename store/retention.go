package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// Retention says which texts of calls are removed. Their hashes stay.
type Retention struct {
	// OlderThan is the age from which on; at least a day.
	OlderThan time.Duration
	// Prompts are removed too, and not only replies.
	Prompts bool
}

// Retired is what was removed.
type Retired struct {
	Until   time.Time `json:"until"` // calls before it
	Replies int64     `json:"replies"`
	Prompts int64     `json:"prompts"`
}

// One batch of retention looks at so many calls in one transaction. It reads the
// calls once to see what is still needed, so that small ones would cost more.
const retireCalls = 5_000

const (
	repliesRemoved = "replies.removed"
	promptsRemoved = "prompts.removed"
	callTexts      = "texts:calls" // the subject of both events
)

// RemoveOldTexts removes the raw replies, and prompts if asked for, of calls that
// are older than the given age, unless something else still needs the text: a
// newer call, a trace, a recorded judgment, or another text packed against it.
// Hashes, reports, findings and all numbers stay. Each batch is a transaction of
// its own, with an audit event that says how many and up to when, so what is done
// stays done when it is stopped. Roles: lead, admin.
func (s *Store) RemoveOldTexts(ctx context.Context, a Actor, r Retention) (done Retired, err error) {
	defer wrap(&err, "remove old replies")
	if err := s.authorise(ctx, a, leads, repliesRemoved, callTexts); err != nil {
		return done, err
	}
	if r.OlderThan < 24*time.Hour {
		return done, invalid("older_than", "is %s: texts are kept for a day at least", r.OlderThan)
	}
	now, err := s.askClock(ctx, s.reader)
	if err != nil {
		return done, err
	}
	done.Until = now.Add(-r.OlderThan)
	refs, err := references(ctx, s.engine, s.reader)
	if err != nil {
		return done, err
	}
	kinds := []retiredKind{{column: reference{"attempts", "reply_hash"}, action: repliesRemoved, n: &done.Replies}}
	if r.Prompts {
		kinds = append(kinds, retiredKind{column: reference{"attempts", "prompt_hash"}, action: promptsRemoved, n: &done.Prompts})
	}
	sources, err := s.readSources(ctx)
	if err != nil {
		return done, err
	}
	for _, k := range kinds {
		k.until, k.refs, k.sources = done.Until, refs, sources
		if err := s.retireKind(ctx, a, k); err != nil {
			return done, err
		}
	}
	return done, nil
}

type retiredKind struct {
	column reference
	action string
	n      *int64

	until   time.Time
	refs    []reference
	sources *sourcesNamed
}

// retireKind goes through all calls in the order of their evaluations.
func (s *Store) retireKind(ctx context.Context, a Actor, k retiredKind) error {
	for place := ""; ; {
		next, err := s.retireBatch(ctx, a, k, place)
		if err != nil || next == place {
			return err
		}
		place = next
	}
}

// retireBatch looks at the calls of the evaluations behind from, and gives the
// evaluation that it came to: from itself when there are no more.
func (s *Store) retireBatch(ctx context.Context, a Actor, k retiredKind, from string) (to string, err error) {
	var removed int64
	err = s.writeAlone(ctx, func(t *tx) error {
		to, removed = from, 0
		column := quote(k.column.column)
		err := t.QueryRowContext(ctx, `
SELECT coalesce((SELECT evaluation_id FROM attempts WHERE evaluation_id > ? ORDER BY evaluation_id, number LIMIT 1 OFFSET ?),
    (SELECT max(evaluation_id) FROM attempts), '')`, from, retireCalls-1).Scan(&to)
		if err != nil || to == from {
			return err
		}
		if err := t.retire(ctx); err != nil {
			return err
		}
		query := `INSERT INTO ` + retiring + ` SELECT DISTINCT x.hash FROM attempts a JOIN texts x ON x.hash = a.` + column + `
WHERE a.evaluation_id > ? AND a.evaluation_id <= ? AND a.started_at < ?`
		if _, err := t.ExecContext(ctx, t.engine.sql(query), from, to, k.until); err != nil {
			return fmt.Errorf("find old texts: %w", err)
		}
		if err := t.spareNeeded(ctx, k); err != nil {
			return err
		}
		if removed, err = t.removeRetired(ctx); err != nil || removed == 0 {
			return err
		}
		t.audit(event{actor: a, action: k.action, subject: callTexts, data: removedTexts{Until: k.until, Removed: removed}})
		return nil
	})
	if err == nil {
		*k.n += removed
	}
	return to, err
}

// spareNeeded takes from the retiring texts what something else needs.
func (t *tx) spareNeeded(ctx context.Context, k retiredKind) error {
	for _, ref := range k.refs {
		if empty, err := t.nothingRetires(ctx); err != nil || empty {
			return err
		}
		when, args := "", []any{}
		if ref == k.column { // only newer calls need the text
			when, args = ` AND started_at >= ?`, append(args, k.until)
		}
		if err := t.spare(ctx, ref, when, args...); err != nil {
			return err
		}
	}
	return t.spareSources(ctx, k.sources)
}

func (t *tx) nothingRetires(ctx context.Context) (bool, error) {
	var n int
	err := t.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT 1 FROM `+retiring+` LIMIT 1) x`).Scan(&n)
	return n == 0, err
}

// removedTexts is what the events say.
type removedTexts struct {
	Until   time.Time `json:"until"`
	Removed int64     `json:"removed"`
}

// removals are the times at which retention came by, per kind, oldest first.
type removals map[string][]removal

type removal struct{ until, at time.Time }

func readRemovals(ctx context.Context, q querier) (removals, error) {
	type row struct {
		action, data string
		at           time.Time
	}
	rows, err := collect(ctx, q, func(r *sql.Rows, x *row) error { return r.Scan(&x.action, &x.data, &x.at) },
		`SELECT action, data, at FROM audit_events WHERE subject = ? AND allowed ORDER BY seq`, callTexts)
	if err != nil {
		return nil, err
	}
	all := removals{}
	for _, x := range rows {
		var said removedTexts
		if err := json.Unmarshal([]byte(x.data), &said); err != nil {
			return nil, fmt.Errorf("the event of a removal: %w", err)
		}
		// Batches of one run say the same.
		if known := all[x.action]; len(known) == 0 || !known[len(known)-1].until.Equal(said.Until) {
			all[x.action] = append(known, removal{said.Until, x.at.UTC()})
		}
	}
	return all, nil
}

// of is when the text of a call was removed: the first time that retention took
// calls of its age. A text that something else needed then went later. nil when
// retention never came to it.
func (r removals) of(action string, started time.Time) *time.Time {
	for _, x := range r[action] {
		if started.Before(x.until) {
			return &x.at
		}
	}
	return nil
}

// sayRemoved says of calls whose texts have a hash and are not there when they
// were removed.
func (s *Store) sayRemoved(ctx context.Context, calls []judge.Attempt, hashes func(int) (prompt, reply string)) error {
	var removed removals
	for i := range calls {
		prompt, reply := hashes(i)
		noPrompt, noReply := prompt != "" && calls[i].Prompt == "", reply != "" && calls[i].Reply == ""
		if !noPrompt && !noReply {
			continue
		}
		if removed == nil {
			var err error
			if removed, err = readRemovals(ctx, s.reader); err != nil {
				return err
			}
		}
		if noPrompt {
			calls[i].PromptRemovedAt = removed.of(promptsRemoved, calls[i].StartedAt)
		}
		if noReply {
			calls[i].ReplyRemovedAt = removed.of(repliesRemoved, calls[i].StartedAt)
		}
	}
	return nil
}
