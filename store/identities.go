package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/countersign/countersign/judge"
)

// identitiesMissing is the setting that migration 3 leaves when it found
// evaluations: SQL alone can't compute what tells them apart.
const identitiesMissing = "identities_missing"

// fillIdentities computes the identities of evaluations that are older than
// that column, so that the same file imported again queues nothing twice.
func (s *Store) fillIdentities(ctx context.Context) error {
	var missing string
	err := s.reader.QueryRowContext(ctx, `SELECT value FROM settings WHERE name = ?`, identitiesMissing).Scan(&missing)
	if noRow(err) {
		return nil
	}
	if err != nil {
		return err
	}
	type row struct {
		id, judgment string
		planned      judge.Planned
	}
	for after := ""; ; {
		rows, err := collect(ctx, s.reader, func(r *sql.Rows, v *row) error {
			return r.Scan(&v.id, &v.planned.Judge, &v.planned.PromptVersion, &v.planned.Engine, &v.planned.Model, (*digest)(&v.judgment))
		}, `SELECT id, judge, prompt_version, engine, model, judgment_body FROM evaluations WHERE id > ? ORDER BY id LIMIT 5000`, after)
		if err != nil {
			return err
		}
		err = s.write(ctx, func(t *tx) error {
			for _, v := range rows {
				if _, err := t.exec(ctx, `UPDATE evaluations SET identity = ? WHERE id = ?`, identity(v.planned, v.judgment), v.id); err != nil {
					return err
				}
			}
			if len(rows) > 0 {
				return nil
			}
			_, err := t.exec(ctx, `DELETE FROM settings WHERE name = ?`, identitiesMissing)
			return err
		})
		if err != nil || len(rows) == 0 {
			return err
		}
		after = rows[len(rows)-1].id
	}
}

// readied brings rows in step with a schema that was just migrated.
func (s *Store) readied(ctx context.Context) error {
	if err := s.fillIdentities(ctx); err != nil {
		return fmt.Errorf("compute the identities of evaluations: %w", err)
	}
	if err := s.fillPolicies(ctx); err != nil {
		return fmt.Errorf("list the policies of projects: %w", err)
	}
	if err := s.fillVersionLabels(ctx); err != nil {
		return fmt.Errorf("read the labels of older versions of judges: %w", err)
	}
	if err := s.fillHealth(ctx); err != nil {
		return fmt.Errorf("count what judges did: %w", err)
	}
	// Both forms of ids sort by time, but a UUID before every ULID.
	if err := s.reader.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM evaluations WHERE id < '01A')`).Scan(&s.oldIDs); err != nil {
		return fmt.Errorf("look for ids of an older program: %w", err)
	}
	return nil
}
