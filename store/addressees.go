package store

import (
	"context"
	"database/sql"
)

// Addressee is somebody whom an item can be escalated to.
type Addressee struct {
	UserID string
	Name   string
	Role   Role
}

// mostAddressees bounds a list that a person chooses from.
const mostAddressees = 500

// Addressees are the people who could settle an item in the actor's place: all
// who decide, without the actor and those whose account is disabled, by name.
// Whether one of them has answered it already is told only when they are chosen.
// Roles: who decides.
func (s *Store) Addressees(ctx context.Context, a Actor) (_ []Addressee, err error) {
	defer wrap(&err, "list whom an item can be sent to")
	if err := s.authoriseDecider(ctx, a, "user.list", "users"); err != nil {
		return nil, err
	}
	return collect(ctx, s.reader, func(rows *sql.Rows, x *Addressee) error { return rows.Scan(&x.UserID, &x.Name, &x.Role) }, `
SELECT u.id, u.name, u.role FROM users u
WHERE u.disabled_at IS NULL AND u.role IN ('reviewer', 'lead', 'admin') AND u.id <> ? ORDER BY u.name, u.id LIMIT ?`, a.UserID, mostAddressees)
}
