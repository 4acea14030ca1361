package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
)

// CalibrationCounts counts what a calibration report is computed from: one
// element per judge, model and prompt version that gave verdicts, ordered so.
// An empty judge name means: every judge of the project. ErrNotFound: the
// project has no such judge. Roles: lead, auditor, admin.
//
// The human side is the consensus (see recomputeConsensus), so every
// evaluation gives one pair at most; labels that tie count as an abstention,
// because people as a whole gave no answer. Human pairs are the newest labels
// of two reviewers on one trace, before any reveal and never adjudicated;
// abstentions are left out of them.
func (s *Store) CalibrationCounts(ctx context.Context, a Actor, project, judgeName string) (counts []calibration.Counts, err error) {
	defer wrap(&err, "count agreement of judge %q", judgeName)
	p, scales, err := s.calibrated(ctx, a, project, judgeName)
	if err != nil {
		return nil, err
	}
	// One moment: what is taken from a sum must be in it.
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	names, err := reviewerNames(ctx, read)
	if err != nil {
		return nil, err
	}
	for _, scale := range scales {
		found, err := keptAgreement(ctx, read, a, p.ID, scale.name)
		if err != nil {
			return nil, err
		}
		counts = append(counts, found.counts(scale, names)...)
	}
	return counts, nil
}

// judgeScale is the label set of a judge as it is now.
type judgeScale struct {
	name    string
	ordinal bool
	labels  []judge.Label
}

func judgeScales(ctx context.Context, q querier, projectID, judgeName string) ([]judgeScale, error) {
	scales, err := collect(ctx, q, func(r *sql.Rows, s *judgeScale) error { return r.Scan(&s.name, &s.ordinal) }, `
SELECT name, ordinal FROM judges WHERE project_id = ? AND current AND (? = '' OR name = ?) ORDER BY name`,
		projectID, judgeName, judgeName)
	if err != nil {
		return nil, err
	}
	for i := range scales {
		if scales[i].labels, err = judgeLabels(ctx, q, projectID, scales[i].name, ""); err != nil {
			return nil, err
		}
	}
	return scales, nil
}

// calibrated is a project that the actor may read calibration of, with the scales of
// the judge, or of all its judges. ErrNotFound: it has no such judge.
func (s *Store) calibrated(ctx context.Context, a Actor, project, judgeName string) (Project, []judgeScale, error) {
	if err := s.authorise(ctx, a, readers, "calibration.read", "judge:"+judgeName); err != nil {
		return Project{}, nil, err
	}
	p, err := projectNamed(ctx, s.reader, orDefaultProject(project))
	if err != nil {
		return Project{}, nil, err
	}
	scales, err := judgeScales(ctx, s.reader, p.ID, judgeName)
	if err == nil && len(scales) == 0 && judgeName != "" {
		err = fmt.Errorf("project %s has no judge %q: %w", p.Name, judgeName, ErrNotFound)
	}
	return p, scales, err
}
