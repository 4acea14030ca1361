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

// dropReplies forgets replies whose attempts are stored now. The key names the
// trace, not its project: while another project has the same trace judged by the
// same judge, they stay, and that one's end drops them.
func (t *tx) dropReplies(ctx context.Context, s subject, key string) error {
	_, err := t.exec(ctx, `
DELETE FROM kept_replies WHERE evaluation = ? AND NOT EXISTS (
    SELECT 1 FROM projects p CROSS JOIN traces tr CROSS JOIN evaluations e
    WHERE p.id <> ? AND tr.project_id = p.id AND tr.external_id = ? AND e.trace_id = tr.id AND e.judge = ? AND e.status = 'judging')`,
		key, s.projectID, s.externalID, s.judge)
	return err
}
