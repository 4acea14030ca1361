package store

import (
	"context"
	"database/sql"

	"github.com/countersign/countersign/judge"
)

// drawnCount is how many items of a judge's verdict in a run a draw sent to people.
type drawnCount struct {
	run, judge string
	verdict    judge.Verdict
	n          int
}

// drawnWaiting counts, by run, what a draw of labels took and waits blind. To who may
// decide it counts where it stood before: a verdict that has one less than a minute ago
// would tell what the judge said of the item that came to the queue. Who decides nothing
// gets none.
func (s *Store) drawnWaiting(ctx context.Context, a Actor, projectID string, runs []string) ([]drawnCount, error) {
	if !a.MayDecide() || len(runs) == 0 {
		return nil, nil
	}
	return collect(ctx, s.reader, func(rows *sql.Rows, d *drawnCount) error { return rows.Scan(&d.run, &d.judge, &d.verdict, &d.n) }, `
SELECT n.name, e.judge, e.verdict, count(DISTINCT e.id)
FROM drawn_labels x JOIN reviews r ON r.evaluation_id = x.evaluation_id JOIN evaluations e ON e.id = x.evaluation_id
JOIN run_traces rt ON rt.trace_id = e.trace_id JOIN runs n ON n.id = rt.run_id
WHERE r.project_id = ? AND r.blind AND `+waiting+` AND e.status = 'in_review' AND n.project_id = ? AND n.name IN (`+placeholders(len(runs))+`)
GROUP BY n.name, e.judge, e.verdict`, append([]any{projectID, projectID}, anys(runs)...)...)
}

// before moves n items from those that wait to those of a verdict.
func (d drawnCount) before(wait, pass, borderline, fail *int) {
	to := map[judge.Verdict]*int{judge.Pass: pass, judge.Borderline: borderline, judge.Fail: fail}[d.verdict]
	if n := min(d.n, *wait); to != nil {
		*wait, *to = *wait-n, *to+n
	}
}

// asBefore counts what was drawn, in runs that were read, where it stood before.
func (s *Store) asBefore(ctx context.Context, a Actor, projectID string, runs []RunRow) error {
	at := map[string]*RunRow{}
	var names []string
	for i := range runs {
		r := &runs[i]
		at[r.Name], names = r, append(names, r.Name)
	}
	drawn, err := s.drawnWaiting(ctx, a, projectID, names)
	for _, d := range drawn {
		if r := at[d.run]; r != nil {
			d.before(&r.Waiting, &r.Pass, &r.Borderline, &r.Fail)
		}
	}
	return err
}
