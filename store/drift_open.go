package store

import "context"

// openDrift counts the open drift alarms of a judge, model and prompt version, for
// the gate that says whether it is trusted.
func openDrift(ctx context.Context, q querier, projectID, judgeName, model, version string) (n int, err error) {
	err = q.QueryRowContext(ctx, `
SELECT count(*) FROM drift_alarms WHERE project_id = ? AND judge = ? AND model = ? AND prompt_version = ? AND closed_at IS NULL`,
		projectID, judgeName, model, version).Scan(&n)
	return n, err
}

// driftWatched says whether a baseline is frozen that a judge, model and prompt version
// is held against: without one, no alarms are not taken for no drift.
func driftWatched(ctx context.Context, q querier, projectID, judgeName, model, version string) (is bool, err error) {
	err = q.QueryRowContext(ctx, `
SELECT EXISTS (SELECT 1 FROM drift_baselines WHERE project_id = ? AND judge = ? AND model = ? AND prompt_version = ?)`,
		projectID, judgeName, model, version).Scan(&is)
	return is, err
}

// OpenDrift counts the open drift alarms of a judge, model and prompt version, whose
// model is named as calibration tells raters apart.
func (s *Store) OpenDrift(ctx context.Context, project, judgeName, model, version string) (n int, err error) {
	defer wrap(&err, "count the drift alarms of judge %q of project %q", judgeName, project)
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return 0, err
	}
	return openDrift(ctx, s.reader, p.ID, judgeName, model, version)
}

// OpenDriftByJudge counts the open drift alarms of a project by judge; judges without
// one are left out. Roles: lead, auditor, admin.
func (s *Store) OpenDriftByJudge(ctx context.Context, a Actor, project string) (_ map[string]int, err error) {
	defer wrap(&err, "count the drift alarms of project %q", project)
	if err := s.authorise(ctx, a, readers, "calibration.read", "project:"+project); err != nil {
		return nil, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return nil, err
	}
	rows, err := s.reader.QueryContext(ctx, `SELECT judge, count(*) FROM drift_alarms WHERE project_id = ? AND closed_at IS NULL GROUP BY judge`, p.ID)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	open := map[string]int{}
	for rows.Next() {
		var name string
		var n int
		if err := rows.Scan(&name, &n); err != nil {
			return nil, err
		}
		open[name] = n
	}
	return open, rows.Err()
}
