package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"github.com/countersign/countersign/judge"
)

var _ judge.ReplyLedger = (*Store)(nil)

// KeptReply finds a reply that was stored before its evaluation was cut off.
func (s *Store) KeptReply(ctx context.Context, evaluation, call string) (r judge.KeptReply, ok bool, err error) {
	defer wrap(&err, "read a kept reply of evaluation %s", evaluation)
	var body string
	err = s.reader.QueryRowContext(ctx, `SELECT reply FROM kept_replies WHERE evaluation = ? AND call = ?`, evaluation, call).Scan(&body)
	if errors.Is(err, sql.ErrNoRows) {
		return r, false, nil
	}
	if err != nil {
		return r, false, err
	}
	return r, true, json.Unmarshal([]byte(body), &r)
}

// KeepReply stores a reply as soon as it came. A second one to the same call is
// dropped: the first is what the evaluation goes on from.
func (s *Store) KeepReply(ctx context.Context, evaluation, call string, r judge.KeptReply) (err error) {
	defer wrap(&err, "keep a reply of evaluation %s", evaluation)
	body, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		_, err := t.exec(ctx, `
INSERT INTO kept_replies (evaluation, call, reply, kept_at) VALUES (?, ?, ?, ?) ON CONFLICT (evaluation, call) DO NOTHING`,
			evaluation, call, string(body), t.now)
		return err
	})
}

// dropReplies forgets replies whose attempts are stored now.
func (t *tx) dropReplies(ctx context.Context, evaluation string) error {
	_, err := t.exec(ctx, `DELETE FROM kept_replies WHERE evaluation = ?`, evaluation)
	return err
}
