package store

import (
	"context"
	"database/sql"
)

// RunJudgeRow counts what one judge said in a run. Pass, Borderline and Fail
// count results, so what is sealed is in Waiting only.
type RunJudgeRow struct {
	Judge      string `json:"judge"`
	Pass       int    `json:"-"`
	Borderline int    `json:"-"`
	Fail       int    `json:"-"`
	NoVerdict  int    `json:"no_verdict"` // settled without a verdict
	Pending    int    `json:"pending"`    // queued or being judged
	Waiting    int    `json:"waiting"`    // for a person, but for those in Failed
	Refused    int    `json:"refused"`
	Failed     int    `json:"failed"` // wait for a person because the judge failed for good
}

// Expected is how many evaluations the judge has in the run: each is in exactly
// one of the counts.
func (r RunJudgeRow) Expected() int {
	return r.Pending + r.Refused + r.Waiting + r.Failed + r.Pass + r.Borderline + r.Fail + r.NoVerdict
}

// RunJudges counts a run's evaluations by judge. Roles: all.
func (s *Store) RunJudges(ctx context.Context, a Actor, project, name string) (_ []RunJudgeRow, err error) {
	defer wrap(&err, "count run %q of project %q by judge", name, project)
	if err := s.authorise(ctx, a, everyone, "run.read", "project:"+project); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	judges, err := collect(ctx, s.reader, func(rows *sql.Rows, r *RunJudgeRow) error {
		return rows.Scan(&r.Judge, &r.Pending, &r.Refused, &r.Waiting, &r.Failed, &r.Pass, &r.Borderline, &r.Fail, &r.NoVerdict)
	}, `
SELECT c.judge, `+standings+`
FROM runs r JOIN run_counts c ON c.run_id = r.id
WHERE r.project_id = ? AND r.name = ? AND c.judge <> '' GROUP BY c.judge HAVING sum(c.n) > 0 ORDER BY c.judge`, p.ID, name)
	if err != nil {
		return nil, err
	}
	drawn, err := s.drawnWaiting(ctx, a, p.ID, []string{name})
	for _, d := range drawn {
		for i := range judges {
			if r := &judges[i]; r.Judge == d.judge {
				d.before(&r.Waiting, &r.Pass, &r.Borderline, &r.Fail)
			}
		}
	}
	return judges, err
}

// RunNames lists the names of the newest runs, for filters.
func (s *Store) RunNames(ctx context.Context, project string, limit int) (_ []string, err error) {
	defer wrap(&err, "list the names of the runs of project %q", project)
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, err
	}
	return collect(ctx, s.reader, func(rows *sql.Rows, name *string) error { return rows.Scan(name) },
		`SELECT name FROM runs WHERE project_id = ? ORDER BY created_at DESC, id DESC LIMIT ?`, p.ID, limit)
}
