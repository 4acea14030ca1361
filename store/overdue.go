package store

import "context"

// OverdueAtMost bounds Overdue: beyond it the exact number helps nobody.
const OverdueAtMost = 1000

// Overdue counts the items that wait past their due time, up to OverdueAtMost.
func (s *Store) Overdue(ctx context.Context, project string) (n int, err error) {
	defer wrap(&err, "count what is overdue in project %q", project)
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return 0, err
	}
	err = s.reader.QueryRowContext(ctx, `
SELECT count(*) FROM (
    SELECT 1 FROM reviews WHERE project_id = ? AND state IN ('open', 'claimed', 'adjudication') AND due_at < ? LIMIT ?
) AS late`, p.ID, s.clock(), OverdueAtMost).Scan(&n)
	return n, err
}
