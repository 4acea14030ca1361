package store

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign/countersign/judge"
)

// ExtendWork makes claims last until lease from now on, by the database's
// clock, and gives back those that were lost. A claim whose lease ran out, and
// that nobody took over, is held again.
func (s *Store) ExtendWork(ctx context.Context, work []judge.Work, lease time.Duration) (lost []judge.Work, err error) {
	defer wrap(&err, "extend the claims of %d evaluations", len(work))
	if lease <= 0 {
		return nil, fmt.Errorf("a lease of %s: it must be above zero", lease)
	}
	if len(work) == 0 {
		return nil, nil
	}
	err = s.write(ctx, func(t *tx) error {
		lost = nil
		for _, w := range work {
			n, err := t.changed(ctx, `
UPDATE evaluations SET lease_expires_at = ? WHERE id = ? AND fence = ? AND status = 'judging'`,
				t.now.Add(lease), w.EvaluationID, w.Fence)
			if err != nil {
				return err
			}
			if n == 0 {
				lost = append(lost, w)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return lost, nil
}
