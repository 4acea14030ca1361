package store

import (
	"context"
	"database/sql"

	"github.com/countersign/countersign/judge"
)

// WorkHolders lists the workers that hold evaluations now.
func (s *Store) WorkHolders(ctx context.Context) (_ []string, err error) {
	defer wrap(&err, "list who holds work")
	return collect(ctx, s.reader, func(r *sql.Rows, name *string) error { return r.Scan(name) },
		`SELECT DISTINCT lease_holder FROM evaluations WHERE status = 'judging'`)
}

// TakeOver puts the work of a worker that is known to be gone back in the queue
// at once, instead of when its lease runs out. A result that it still brings
// has a stale fence.
func (s *Store) TakeOver(ctx context.Context, holder string) (n int, err error) {
	defer wrap(&err, "take over the work of %s", holder)
	err = s.writeAlone(ctx, func(t *tx) error {
		n = 0
		// What the statement itself moved: another server may take over the same.
		projects, err := collect(ctx, t, scanID, `
UPDATE evaluations SET status = 'queued', fence = fence + 1, lease_holder = '', lease_expires_at = NULL,
    on_hold = `+onHold+`
WHERE status = 'judging' AND lease_holder = ? RETURNING project_id`, holder)
		if err != nil {
			return err
		}
		for _, id := range projects {
			t.tally(id, tallyStatus, string(judge.Judging), -1)
			t.tally(id, tallyStatus, string(judge.Queued), 1)
		}
		n = len(projects)
		return nil
	})
	return n, err
}
