package store

import (
	"context"
	"errors"

	"github.com/countersign/countersign/judge/calibration"
)

// Agreement gives a judge's counts as they are kept and as they are when every
// row is counted, of one moment and for an actor of any role.
func (s *Store) Agreement(ctx context.Context, a Actor, project, judgeName string) (kept, counted []calibration.Counts, err error) {
	p, err := projectNamed(ctx, s.reader, project)
	if err != nil {
		return nil, nil, err
	}
	read, err := s.reader.snapshot(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, ignoreDone(read.Rollback())) }()
	k, err := keptAgreement(ctx, read, a, p.ID, judgeName)
	if err != nil {
		return nil, nil, err
	}
	c, err := recountAgreement(ctx, read, a, p.ID, judgeName)
	scale := judgeScale{name: judgeName}
	return k.counts(scale, nil), c.counts(scale, nil), err
}
