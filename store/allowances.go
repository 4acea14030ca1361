package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/countersign/countersign/judge"
)

// The store shares the budgets of model endpoints among the processes that
// work on its database.
var _ judge.Allowance = (*Store)(nil)

// errNotYet ends the transaction of a take that is granted nothing, so that a
// process which only waits writes nothing.
var errNotYet = errors.New("nothing can be granted yet")

// TakeAllowance implements judge.Allowance. It is the workers' own and takes no
// actor. One row for each endpoint is locked for two statements; nothing is
// locked when the endpoint has no limit and only its pause is asked for.
func (s *Store) TakeAllowance(ctx context.Context, r judge.BudgetRequest) (granted judge.Budget, wait time.Duration, err error) {
	defer wrap(&err, "take of the budget of a model endpoint")
	if r.PerMinute.Requests <= 0 && r.PerMinute.Tokens <= 0 {
		wait, err = s.endpointPause(ctx, r.Endpoint)
		return judge.Budget{}, wait, err
	}
	err = s.write(ctx, func(t *tx) error {
		granted, wait = judge.Budget{}, 0
		var paused int64
		requests, tokens := bucket{perMinute: r.PerMinute.Requests}, bucket{perMinute: r.PerMinute.Tokens}
		// The update changes nothing: it makes the row when it is absent, and
		// locks it, so that of two takes at once the later one reads what the
		// earlier one wrote (also at READ COMMITTED).
		if err := t.scan(ctx, `
INSERT INTO rate_limits (endpoint) VALUES (?)
ON CONFLICT (endpoint) DO UPDATE SET paused_until = rate_limits.paused_until
RETURNING requests_due, tokens_due, paused_until`, []any{r.Endpoint}, []any{&requests.due, &tokens.due, &paused}); err != nil {
			return err
		}
		now := t.now.UnixMicro()
		if wait = pauseLeft(paused, now); wait > 0 {
			return errNotYet
		}
		var waitRequests, waitTokens int64
		granted.Requests, requests, waitRequests = requests.grant(now, r.Least.Requests, r.Most.Requests)
		granted.Tokens, tokens, waitTokens = tokens.grant(now, r.Least.Tokens, r.Most.Tokens)
		if wait = microseconds(max(waitRequests, waitTokens)); wait > 0 {
			return errNotYet
		}
		_, err := t.exec(ctx, `UPDATE rate_limits SET requests_due = ?, tokens_due = ? WHERE endpoint = ?`,
			requests.due, tokens.due, r.Endpoint)
		return err
	})
	switch {
	case errors.Is(err, errNotYet):
		return judge.Budget{}, wait, nil
	case err != nil:
		return judge.Budget{}, 0, err
	}
	return granted, 0, nil
}

// PauseEndpoint implements judge.Allowance.
func (s *Store) PauseEndpoint(ctx context.Context, endpoint string, d time.Duration) (err error) {
	defer wrap(&err, "pause a model endpoint for %s", d)
	if d <= 0 {
		return nil
	}
	return s.write(ctx, func(t *tx) error {
		// A stored pause beyond the longest is one from before the clock was
		// set back; it is replaced and not kept.
		_, err := t.exec(ctx, `
INSERT INTO rate_limits (endpoint, paused_until) VALUES (?, ?)
ON CONFLICT (endpoint) DO UPDATE SET paused_until = CASE
    WHEN rate_limits.paused_until > excluded.paused_until AND rate_limits.paused_until <= ? THEN rate_limits.paused_until
    ELSE excluded.paused_until END`,
			endpoint, t.now.Add(min(d, judge.MaxPause)).UnixMicro(), t.now.Add(judge.MaxPause).UnixMicro())
		return err
	})
}

// endpointPause is how long nobody may call the endpoint yet.
func (s *Store) endpointPause(ctx context.Context, endpoint string) (time.Duration, error) {
	var paused int64
	err := s.reader.QueryRowContext(ctx, `SELECT paused_until FROM rate_limits WHERE endpoint = ?`, endpoint).Scan(&paused)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	return pauseLeft(paused, s.clock().UnixMicro()), err
}

// pauseLeft of a stored pause; one that is longer than any can be is from
// before the clock was set back, and over.
func pauseLeft(until, now int64) time.Duration {
	left := microseconds(until - now)
	if left <= 0 || left > judge.MaxPause {
		return 0
	}
	return left
}

func microseconds(n int64) time.Duration { return time.Duration(n) * time.Microsecond }
