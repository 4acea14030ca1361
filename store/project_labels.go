package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign/countersign/judge"
	"github.com/countersign/countersign/judge/calibration"
)

// DrawnLabel counts human answers beside a judge's on the same trace, of which all
// that follows is equal, with how they were drawn.
type DrawnLabel struct {
	Model, PromptVersion string
	Human, Judge         calibration.Answer
	Stratum              string
	// InclusionProbability in (0,1]; 0: not known.
	InclusionProbability float64
	N                    int
}

// DrawnLabels are the pairs behind CalibrationCounts that were made without the
// judge's verdict in sight, with the design by which each was drawn. ErrNotFound: the
// project has no such judge. Roles: lead, auditor, admin.
func (s *Store) DrawnLabels(ctx context.Context, a Actor, project, judgeName string) (labels []DrawnLabel, err error) {
	defer wrap(&err, "count the labels of judge %q", judgeName)
	p, scales, err := s.calibrated(ctx, a, project, judgeName)
	if err != nil {
		return nil, err
	}
	if len(scales) != 1 {
		return nil, fmt.Errorf("project %s has no judge %q: %w", p.Name, judgeName, ErrNotFound)
	}
	verdicts := map[string]judge.Verdict{}
	for _, l := range scales[0].labels {
		verdicts[l.Name] = l.Verdict
	}
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	found, err := keptAgreement(ctx, read, a, p.ID, judgeName)
	if err != nil {
		return nil, err
	}
	for _, g := range found.groups {
		if !g.labelled || g.cell.Visible {
			continue
		}
		if g.cell.Human.Verdict == "" {
			g.cell.Human.Verdict = verdicts[g.cell.Human.Label]
		}
		labels = append(labels, DrawnLabel{
			Model: g.model, PromptVersion: g.version, Human: g.cell.Human, Judge: g.cell.Judge,
			Stratum: g.stratum, InclusionProbability: g.probability.Float64, N: g.cell.N,
		})
	}
	return labels, nil
}
