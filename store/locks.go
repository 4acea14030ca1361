package store

import (
	"context"
	"database/sql"
	"slices"
)

// Where several processes write at once, a transaction first locks what it
// reads before it changes it: traces in the order of their ids, then the item
// in the queue, then evaluations; kept counts, tallies and the head of the audit
// chain come last, just before the commit, in this order. SQLite has one writer, so there every lock is
// taken already.

// lockTraces holds traces, so that labels, verdicts and decisions on one trace
// come one after another and each sees the one before.
func (t *tx) lockTraces(ctx context.Context, ids []string) error {
	lock := t.engine.forUpdate("tr")
	if lock == "" {
		return nil
	}
	ids = slices.DeleteFunc(distinct(ids), func(id string) bool { return t.held[id] })
	slices.Sort(ids)
	return inBatches(ids, func(batch []string) error {
		return t.lockTraceRows(ctx, `
SELECT tr.id FROM traces tr WHERE tr.id IN (`+placeholders(len(batch))+`) ORDER BY tr.id`+lock, anys(batch)...)
	})
}

// lockTraceOfReview is lockTraces for the trace that a review is about.
func (t *tx) lockTraceOfReview(ctx context.Context, reviewID string) error {
	return t.lockTrace(ctx, `SELECT tr.id FROM traces tr JOIN reviews r ON r.trace_id = tr.id WHERE r.id = ?`, reviewID)
}

// lockTraceOfEvaluation is lockTraces for the trace that was evaluated.
func (t *tx) lockTraceOfEvaluation(ctx context.Context, evaluationID string) error {
	return t.lockTrace(ctx, `SELECT tr.id FROM traces tr JOIN evaluations e ON e.trace_id = tr.id WHERE e.id = ?`, evaluationID)
}

// lockTrace is lockTraces for the trace that a query finds.
func (t *tx) lockTrace(ctx context.Context, query string, args ...any) error {
	lock := t.engine.forUpdate("tr")
	if lock == "" {
		return nil
	}
	return t.lockTraceRows(ctx, query+lock, args...)
}

// lockTraceRows runs a query that locks traces, and notes them.
func (t *tx) lockTraceRows(ctx context.Context, query string, args ...any) error {
	ids, err := collect(ctx, t, scanID, query, args...)
	for _, id := range ids {
		t.held[id] = true
	}
	return err
}

// lockUser holds a user's row.
func (t *tx) lockUser(ctx context.Context, userID string) error {
	return t.lockRow(ctx, "u", `SELECT u.id FROM users u WHERE u.id = ?`, userID)
}

// lockProject holds a project's row: its policy and its judges.
func (t *tx) lockProject(ctx context.Context, projectID string) error {
	return t.lockRow(ctx, "p", `SELECT p.id FROM projects p WHERE p.id = ?`, projectID)
}

// lockRow locks the rows that a query finds; none is no error.
func (t *tx) lockRow(ctx context.Context, alias, query string, args ...any) error {
	lock := t.engine.forUpdate(alias)
	if lock == "" {
		return nil
	}
	_, err := collect(ctx, t, scanID, query+lock, args...)
	return err
}

func scanID(r *sql.Rows, id *string) error { return r.Scan(id) }
