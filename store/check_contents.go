package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Contents is what a check of everything that is stored found.
type Contents struct {
	Texts    int64    // unpacked, each held to its hash
	Reports  int64    // current reports, unpacked
	Problems []string // in plain words; empty when all is well
}

// CheckContents unpacks every text and current report, holds texts to their hashes,
// and counts anew what is kept as a count. The audit chain says nothing of
// these; SQLite's own check does not see bytes that a disk changed inside a
// value. It reads everything: some minutes for a million evaluations. Only the
// first bad text and the first bad report are named. Roles: lead, auditor, admin.
func (s *Store) CheckContents(ctx context.Context, a Actor) (c Contents, err error) {
	defer wrap(&err, "check the stored texts")
	if err := s.authorise(ctx, a, readers, "audit.listed", "audit"); err != nil {
		return c, err
	}
	if c.Problems, err = s.CheckKeptCounts(ctx); err != nil {
		return c, err
	}
	for _, check := range []func(context.Context, *Contents) error{s.checkTexts, s.checkReports, s.checkDays} {
		var fault *contentError
		switch err := check(ctx, &c); {
		case errors.As(err, &fault):
			c.Problems = append(c.Problems, fault.Error())
		case err != nil:
			return c, err
		}
	}
	return c, nil
}

// contentError is something stored that can't be right, as against a database
// that can't be read now.
type contentError struct{ error }

func (e *contentError) Unwrap() error { return e.error }

func (s *Store) content(err error) error {
	if err == nil || s.Trouble(err) != nil || errors.Is(err, context.Canceled) {
		return err
	}
	return &contentError{err}
}

func (s *Store) checkTexts(ctx context.Context, c *Contents) error {
	for after := digest(""); ; {
		hashes, err := collect(ctx, s.reader, func(r *sql.Rows, h *string) error { return r.Scan((*digest)(h)) },
			`SELECT hash FROM texts WHERE hash > ? ORDER BY hash LIMIT 500`, orLowest(after))
		if err != nil || len(hashes) == 0 {
			return err
		}
		plain, err := textsAnew(s.reader).get(ctx, hashes)
		if err != nil {
			return s.content(err)
		}
		if len(plain) != len(hashes) {
			return &contentError{fmt.Errorf("%d of %d texts went while they were read", len(hashes)-len(plain), len(hashes))}
		}
		c.Texts += int64(len(hashes))
		after = digest(hashes[len(hashes)-1])
	}
}

// orLowest is below every hash when there is none yet.
func orLowest(d digest) any {
	if d == "" {
		return []byte{}
	}
	return d
}

func (s *Store) checkReports(ctx context.Context, c *Contents) error {
	for after := ""; ; {
		ids, err := collect(ctx, s.reader, scanID, `
SELECT DISTINCT x.evaluation_id FROM evaluation_reports x WHERE x.evaluation_id > ? ORDER BY x.evaluation_id LIMIT 500`, after)
		if err != nil || len(ids) == 0 {
			return err
		}
		if _, err := textsAnew(s.reader).details(ctx, ids); err != nil {
			return s.content(err)
		}
		c.Reports += int64(len(ids))
		after = ids[len(ids)-1]
	}
}

func (s *Store) checkDays(ctx context.Context, c *Contents) error {
	problems, err := s.checkHealth(ctx)
	c.Problems = append(c.Problems, problems...)
	return err
}
