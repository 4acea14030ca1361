package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/countersign/countersign/judge"
)

var _ judge.StepCache = (*Store)(nil)

// CutSteps finds a reference that was cut into steps before.
func (s *Store) CutSteps(ctx context.Context, key string) (c judge.CutSteps, ok bool, err error) {
	defer wrap(&err, "look for the steps of a reference")
	var steps string
	err = s.reader.QueryRowContext(ctx, `SELECT steps, evaluation FROM reference_steps WHERE hash = ?`, key).Scan(&steps, &c.Evaluation)
	if errors.Is(err, sql.ErrNoRows) {
		return c, false, nil
	}
	if err != nil {
		return c, false, err
	}
	return c, true, json.Unmarshal([]byte(steps), &c.Steps)
}

// KeepCutSteps keeps what became of cutting a reference, also that it could not
// be used. The first that is kept stays.
func (s *Store) KeepCutSteps(ctx context.Context, key string, c judge.CutSteps) (err error) {
	defer wrap(&err, "keep the steps of a reference")
	steps, err := json.Marshal(c.Steps)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `
INSERT INTO reference_steps (hash, steps, evaluation, kept_at) VALUES (?, ?, ?, ?) ON CONFLICT (hash) DO NOTHING`,
			key, string(steps), c.Evaluation, t.now)
		return err
	})
}
