package store

import (
	"context"
	"database/sql"
	"time"
)

// Pulse is a number that rises with every audit event, so with everything that
// a count on a page could show. It reads one row. Renewals of a claim and the
// running out of one are no events: see Claims.
func (s *Store) Pulse(ctx context.Context) (seq int64, err error) {
	defer wrap(&err, "read the head of the audit chain")
	err = s.reader.QueryRowContext(ctx, `SELECT seq FROM audit_head WHERE id = 1`).Scan(&seq)
	return seq, err
}

// ClaimState is how an item stands for one person.
type ClaimState string

// Claim states.
const (
	ClaimFree         ClaimState = "free"         // nobody holds it
	ClaimAdjudication ClaimState = "adjudication" // nobody holds it, and a lead has to settle it
	ClaimYours        ClaimState = "yours"
	ClaimLapsed       ClaimState = "lapsed" // theirs, run out, and nobody has taken it
	ClaimTaken        ClaimState = "taken"  // somebody else's
	ClaimDecided      ClaimState = "decided"
	ClaimClosed       ClaimState = "closed"
)

// Claim is who holds an item, as the queue shows it to everybody: no word of
// what a judge or a person said of it.
type Claim struct {
	HolderID   string // empty: nobody's
	HolderName string
	Until      time.Time // zero: nobody's
	lapsed     bool      // by the store's clock, when it was read
	resting    ClaimState
}

// For tells how the item stands for an actor.
func (c Claim) For(a Actor) ClaimState {
	switch {
	case c.HolderID == "":
		return c.resting
	case c.HolderID == a.UserID && c.lapsed:
		return ClaimLapsed
	case c.HolderID == a.UserID:
		return ClaimYours
	case c.lapsed:
		return c.resting
	}
	return ClaimTaken
}

// Claim is who holds the item.
func (q QueueItem) Claim(now time.Time) Claim {
	return claimOf(q.State, q.Adjudicating, q.HolderID, q.HolderName, q.LeaseExpiresAt, now)
}

func claimOf(state string, adjudicating bool, holderID, holderName string, lease *time.Time, now time.Time) Claim {
	switch {
	case state == stateDecided:
		return Claim{resting: ClaimDecided}
	case state == stateClosed:
		return Claim{resting: ClaimClosed}
	}
	c := Claim{resting: ClaimFree}
	if adjudicating {
		c.resting = ClaimAdjudication
	}
	if state == stateClaimed && lease != nil {
		c.HolderID, c.HolderName, c.Until, c.lapsed = holderID, holderName, lease.UTC(), lapsed(lease, now)
	}
	return c
}

// Claims reads who holds the items with these ids; what is not there is left
// out. It asks once for every 500 ids. Roles: all.
func (s *Store) Claims(ctx context.Context, a Actor, reviewIDs []string) (_ map[string]Claim, err error) {
	defer wrap(&err, "read %d claims", len(reviewIDs))
	if err := s.authorise(ctx, a, everyone, "review.read", "queue"); err != nil {
		return nil, err
	}
	claims := make(map[string]Claim, len(reviewIDs))
	now := s.clock()
	type row struct {
		id string
		Claim
	}
	err = inBatches(reviewIDs, func(ids []string) error {
		rows, err := collect(ctx, s.reader, func(r *sql.Rows, v *row) error {
			var state, holderID, holderName string
			var adjudicating bool
			var lease sql.NullTime
			if err := r.Scan(&v.id, &state, &adjudicating, &holderID, &holderName, &lease); err != nil {
				return err
			}
			v.Claim = claimOf(state, adjudicating, holderID, holderName, optional(lease), now)
			return nil
		}, `
SELECT r.id, r.state, r.adjudicating, COALESCE(r.holder_id, ''), COALESCE(h.name, ''), r.lease_expires_at
FROM reviews r LEFT JOIN users h ON h.id = r.holder_id WHERE r.id IN (`+placeholders(len(ids))+`)`, anys(ids)...)
		for _, v := range rows {
			claims[v.id] = v.Claim
		}
		return err
	})
	return claims, err
}

// UsersByID finds users by their ids; who is not there is left out. It asks
// once for every 500 ids.
func (s *Store) UsersByID(ctx context.Context, ids []string) (_ map[string]User, err error) {
	defer wrap(&err, "read %d users", len(ids))
	users := make(map[string]User, len(ids))
	err = inBatches(ids, func(ids []string) error {
		found, err := collect(ctx, s.reader, func(r *sql.Rows, u *User) error { return scanUser(r.Scan, u) },
			`SELECT `+userColumns+` FROM users WHERE id IN (`+placeholders(len(ids))+`)`, anys(ids)...)
		for _, u := range found {
			users[u.ID] = u
		}
		return err
	})
	return users, err
}
