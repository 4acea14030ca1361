package store

import (
	"context"
	"fmt"
)

// Upgrade is how far a change to a database of an older program is that takes
// long: it is made once, when the database is opened.
type Upgrade struct {
	What        string // is being done, as in "counting what judges did"
	Done, Total int64  // evaluations
}

// upgrading tells whoever opens the database how far a change is.
type upgrading struct {
	tell func(Upgrade) // nil: nobody asked
	now  Upgrade
	at   string // the last evaluation that is done
}

// beginUpgrade counts what there is to do, after the evaluation at.
func (s *Store) beginUpgrade(ctx context.Context, what, at string) (*upgrading, error) {
	u := &upgrading{tell: s.upgraded, now: Upgrade{What: what}, at: at}
	if u.tell == nil {
		return u, nil
	}
	err := s.reader.QueryRowContext(ctx, `SELECT count(*), count(*) FILTER (WHERE id <= ?) FROM evaluations`, at).Scan(&u.now.Total, &u.now.Done)
	if err != nil {
		return nil, fmt.Errorf("count the evaluations: %w", err)
	}
	u.say()
	return u, nil
}

// upTo notes that all evaluations up to this one are done.
func (u *upgrading) upTo(ctx context.Context, q querier, at string) error {
	if u.tell == nil {
		return nil
	}
	var n int64
	if err := q.QueryRowContext(ctx, `SELECT count(*) FROM evaluations WHERE id > ? AND id <= ?`, u.at, at).Scan(&n); err != nil {
		return fmt.Errorf("count the evaluations: %w", err)
	}
	u.at, u.now.Done = at, u.now.Done+n
	u.say()
	return nil
}

func (u *upgrading) say() {
	if u.now.Total > 0 {
		u.tell(u.now)
	}
}
