package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Answered is an answer that was given to a request with an idempotency key.
type Answered struct {
	Status int
	Body   []byte
}

// keptFor is how long an answer is given again.
const keptFor = 24 * time.Hour

// KeptAnswer finds the answer that this user's earlier request with the same
// key got. The same key with another request is a conflict.
func (s *Store) KeptAnswer(ctx context.Context, a Actor, key, request string) (_ Answered, found bool, err error) {
	defer wrap(&err, "look up the idempotency key")
	if len(key) > 200 {
		return Answered{}, false, invalid("Idempotency-Key", "is longer than 200 characters")
	}
	var had, body string
	var status int
	err = s.reader.QueryRowContext(ctx, `
SELECT request, status, body FROM idempotent_answers WHERE user_id = ? AND key = ? AND created_at > ?`,
		a.UserID, key, s.clock().Add(-keptFor)).Scan(&had, &status, &body)
	if errors.Is(err, sql.ErrNoRows) {
		return Answered{}, false, nil
	}
	if err != nil {
		return Answered{}, false, err
	}
	if had != request {
		return Answered{}, false, fmt.Errorf("this key was used for another request: %w", ErrConflict)
	}
	return Answered{Status: status, Body: []byte(body)}, true, nil
}

// KeepAnswer keeps an answer for requests that repeat the key, and drops the
// ones that are too old.
func (s *Store) KeepAnswer(ctx context.Context, a Actor, key, request string, answer Answered) error {
	return s.write(ctx, func(t *tx) error {
		if _, err := t.exec(ctx, `DELETE FROM idempotent_answers WHERE created_at <= ?`, t.now.Add(-keptFor)); err != nil {
			return err
		}
		_, err := t.exec(ctx, `
INSERT INTO idempotent_answers (user_id, key, request, status, body, created_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (user_id, key) DO UPDATE SET request = excluded.request, status = excluded.status,
    body = excluded.body, created_at = excluded.created_at`,
			a.UserID, key, request, answer.Status, string(answer.Body), t.now)
		return err
	})
}
