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
	err = s.write(ctx, func(t *tx) error {
		n = 0
		byProject, err := collect(ctx, t, func(r *sql.Rows, p *struct {
			id string
			n  int
		}) error {
			return r.Scan(&p.id, &p.n)
		}, `SELECT project_id, count(*) FROM evaluations WHERE status = 'judging' AND lease_holder = ? GROUP BY project_id`, holder)
		if err != nil {
			return err
		}
		if _, err := t.exec(ctx, `
UPDATE evaluations SET status = 'queued', fence = fence + 1, lease_holder = '', lease_expires_at = NULL
WHERE status = 'judging' AND lease_holder = ?`, holder); err != nil {
			return err
		}
		for _, p := range byProject {
			n += p.n
			t.tally(p.id, tallyStatus, string(judge.Judging), -p.n)
			t.tally(p.id, tallyStatus, string(judge.Queued), p.n)
		}
		return nil
	})
	return n, err
}
